//! The files of settings: readable, valid, without keys that mean nothing; and whether the project is
//! trusted with its own.

use std::path::Path;

use dormouse_base::{
    Project, Settings, SettingsFiles, SettingsLayer, SettingsSource, SettingsStack, Switches,
    TrustState, TrustStore, names,
};
use dormouse_engine::SkillPlaces;

use super::finding::Finding;
use crate::wiring::mcp_project_file::ProjectFile;
use crate::wiring::project_agents::ProjectAgents;
use crate::wiring::settings;
use crate::wiring::world::World;

const AREA: &str = "settings";

/// What was found, and the settings as far as they can be used.
pub(super) fn check(world: &World, home: &Path, project: &Project) -> (Vec<Finding>, Settings) {
    let places = SettingsFiles::new(&world.environment, home, Some(project));
    let (mut findings, mut layers) = (Vec::new(), Vec::new());
    for source in SettingsSource::ALL {
        match places.read_one(source) {
            Ok(None) => {}
            Ok(Some(layer)) => {
                findings.extend(of_layer(&layer));
                layers.push(layer);
            }
            Err(error) => {
                let mend = "mend the file, or move it away to go on with the defaults";
                findings.push(Finding::problem(AREA, error.to_string(), mend));
            }
        }
    }
    if findings.is_empty() {
        let place = places.file(SettingsSource::User).unwrap_or_default();
        findings.push(Finding::well(AREA, format!("none; yours would be {}", place.display())));
    }
    let user_home = world.environment.path(names::USER_HOME);
    let skills = SkillPlaces::new(home, user_home.as_deref(), project).of_project();
    let mut stack = match ProjectAgents::look(world, project) {
        Ok(agents) => settings::stack(layers, &skills, &agents, &ProjectFile::of(project)),
        // Without a home of its own the program has told so already.
        Err(_) => SettingsStack::new(layers),
    };
    findings.extend(trust(&mut stack, home, project));
    if let Err(error) = Switches::resolve(&stack, &world.environment) {
        findings.push(Finding::problem(AREA, error.to_string(), "correct it, or take it out"));
    }
    (findings, stack.settings())
}

fn of_layer(layer: &SettingsLayer) -> Vec<Finding> {
    let place = layer.path.display();
    let mut findings = vec![Finding::well(AREA, format!("{place} ({})", layer.source))];
    findings.extend(layer.warnings.iter().map(|warning| {
        Finding::warning(
            AREA,
            warning.to_string(),
            format!("correct it in {place}, or take it out"),
        )
    }));
    findings.extend(layer.withheld.forbidden.iter().map(|key| {
        let what = format!("`{key}` can not be set by a project and has no effect");
        Finding::warning(AREA, what, format!("take it out of {place}"))
    }));
    findings
}

/// What waits for trust has no effect yet.
fn trust(stack: &mut SettingsStack, home: &Path, project: &Project) -> Option<Finding> {
    match TrustStore::new(home).state(project, stack) {
        TrustState::NotNeeded => None,
        TrustState::Trusted => {
            stack.trust_project();
            None
        }
        TrustState::Undecided | TrustState::Changed => Some(Finding::warning(
            AREA,
            "some of what this project sets waits until you trust it",
            "dormouse permissions trust shows it and asks",
        )),
    }
}
