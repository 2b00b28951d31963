//! The settings files: readable, valid, without unknown keys; and whether the project's settings are trusted.

use std::path::Path;

use dormouse_base::{
    Project, Settings, SettingsFiles, SettingsLayer, SettingsSource, SettingsStack, Switches,
    TrustState, TrustStore, names,
};
use dormouse_extensions::skills::SkillFolders;

use super::finding::DoctorFinding;
use crate::message_catalog::msg;
use crate::wiring::mcp_project_file::McpProjectFile;
use crate::wiring::project_agents::ProjectAgents;
use crate::wiring::settings;
use crate::wiring::token_variable::token_variable;
use crate::wiring::world::World;

const AREA: &str = "settings";

/// The findings, and the settings of all valid files.
pub(super) fn check(
    world: &World,
    home: &Path,
    project: &Project,
) -> (Vec<DoctorFinding>, Settings) {
    let places = SettingsFiles::new(&world.environment, home, Some(project));
    let mut findings = Vec::new();
    let mut layers = Vec::new();
    for source in SettingsSource::ALL {
        match places.read_one(source) {
            Ok(None) => {}
            Ok(Some(layer)) => {
                findings.extend(layer_findings(&layer));
                layers.push(layer);
            }
            Err(error) => {
                let fix = msg!("doctor-settings-fix-file");
                findings.push(DoctorFinding::problem(AREA, error.to_string(), fix));
            }
        }
    }
    if findings.is_empty() {
        let path = places.file(SettingsSource::User).unwrap_or_default().display().to_string();
        findings.push(DoctorFinding::ok(AREA, msg!("doctor-settings-none", path = path)));
    }
    let user_home = world.environment.path(names::USER_HOME);
    let skills = SkillFolders::new(home, user_home.as_deref(), project).project_skills();
    let mut stack = match ProjectAgents::look(world, project) {
        Ok(agents) => settings::stack(layers, &skills, &agents, &McpProjectFile::of(project)),
        // A missing home folder was reported before.
        Err(_) => SettingsStack::new(layers),
    };
    findings.extend(trust_finding(&mut stack, home, project));
    if let Err(error) = Switches::resolve(&stack, &world.environment) {
        findings.push(DoctorFinding::problem(AREA, error.to_string(), msg!("doctor-fix-value")));
    }
    for name in [names::CONTEXT_WINDOW, names::AUTO_COMPACT_WINDOW] {
        if let Err(failure) = token_variable(&world.environment, name) {
            let fix = failure.hints().concat();
            findings.push(DoctorFinding::problem(AREA, failure.message(), fix));
        }
    }
    (findings, stack.settings())
}

fn layer_findings(layer: &SettingsLayer) -> Vec<DoctorFinding> {
    let path = layer.path.display().to_string();
    let mut findings = vec![DoctorFinding::ok(AREA, format!("{path} ({})", layer.source))];
    findings.extend(layer.warnings.iter().map(|warning| {
        DoctorFinding::warning(
            AREA,
            warning.to_string(),
            msg!("doctor-settings-fix-key", path = path.as_str()),
        )
    }));
    findings.extend(layer.withheld.forbidden.iter().map(|key| {
        let text = msg!("doctor-settings-forbidden", key = key);
        DoctorFinding::warning(
            AREA,
            text,
            msg!("doctor-settings-fix-forbidden", path = path.as_str()),
        )
    }));
    findings
}

/// Settings that need trust have no effect until it is given.
fn trust_finding(
    stack: &mut SettingsStack,
    home: &Path,
    project: &Project,
) -> Option<DoctorFinding> {
    match TrustStore::new(home).state(project, stack) {
        TrustState::NotNeeded => None,
        TrustState::Trusted => {
            stack.trust_project();
            None
        }
        TrustState::Undecided | TrustState::Changed => Some(DoctorFinding::warning(
            AREA,
            msg!("doctor-settings-untrusted"),
            msg!("doctor-settings-fix-untrusted"),
        )),
    }
}
