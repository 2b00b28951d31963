//! The effective settings: reads every layer, checks project trust, and reports what is ignored.

use std::path::PathBuf;

use dormouse_base::{
    Project, Settings, SettingsError, SettingsFiles, SettingsLayer, SettingsSource, SettingsStack,
    Switches, TrustState, TrustStore, UiLanguage, names,
};
use dormouse_extensions::plugins::Plugin;
use dormouse_extensions::skills::{SkillFolders, Skills};

use crate::message_catalog::Locale;
use crate::wiring::exit::Failure;
use crate::wiring::mcp_project_file::{self, McpProjectFile};
use crate::wiring::plugins;
use crate::wiring::print;
use crate::wiring::project_agents::ProjectAgents;
use crate::wiring::team_membership::known_membership;
use crate::wiring::trust::{self, AGENTS, SKILLS, Untrusted};
use crate::wiring::world::World;

/// Settings with their layers.
pub(crate) struct EffectiveSettings {
    pub(crate) stack: SettingsStack,
    pub(crate) settings: Settings,
    pub(crate) switches: Switches,
    pub(crate) places: SettingsFiles,
    pub(crate) trust: TrustState,
    /// The project's agents; restricted to their prompts where it is not trusted.
    pub(crate) project_agents: ProjectAgents,
    /// The plugins in use.
    pub(crate) plugins: Vec<Plugin>,
    /// The project's skills; unused where it is not trusted.
    pub(crate) project_skills: Skills,
    /// The project's `.mcp.json`; unused where it is not trusted.
    pub(crate) mcp_file: McpProjectFile,
}

/// Reads all layers. `given` is the value of `--settings`.
pub(crate) fn load(
    world: &World,
    given: Option<&str>,
    project: &Project,
    untrusted: Untrusted,
) -> Result<EffectiveSettings, Failure> {
    let home = world.home()?;
    let places = SettingsFiles::new(&world.environment, &home, Some(project));
    let mut layers = places.read().map_err(unreadable)?;
    layers.extend(given.map(command_line).transpose()?);
    let project_skills = skill_folders(world, project)?.project_skills();
    let project_agents = ProjectAgents::look(world, project)?;
    let mcp_file = McpProjectFile::of(project);
    let mut stack = stack(layers, &project_skills, &project_agents, &mcp_file);
    match stack.settings().language {
        Some(UiLanguage::En) => Locale::English.apply(),
        Some(UiLanguage::Zh) => Locale::Chinese.apply(),
        None => {}
    }
    print_problems(&stack);
    let store = TrustStore::new(&home);
    let mut standing = store.state(project, &stack);
    if matches!(standing, TrustState::Undecided | TrustState::Changed) {
        match untrusted {
            Untrusted::Ask => standing = trust::ask(&store, project, &stack, standing, world)?,
            Untrusted::Tell => trust::tell(&stack, standing),
            Untrusted::Pass => {}
        }
    }
    if standing == TrustState::Trusted {
        stack.trust_project();
    }
    let mut switches = Switches::resolve(&stack, &world.environment).map_err(Failure::usage)?;
    let settings = stack.settings();
    if let Some(joined) = known_membership(project, world, &settings)? {
        let origin = format!("team: {}", joined.server);
        switches.turn_off_for_team(&joined.switched_off, &origin);
    }
    let trust = standing;
    Ok(EffectiveSettings {
        stack,
        settings,
        switches,
        places,
        trust,
        plugins: plugins::in_use(world, untrusted)?,
        project_agents,
        project_skills,
        mcp_file,
    })
}

/// The layers, with what else in the project needs trust.
pub(crate) fn stack(
    layers: Vec<SettingsLayer>,
    skills: &Skills,
    agents: &ProjectAgents,
    mcp_file: &McpProjectFile,
) -> SettingsStack {
    SettingsStack::new(layers)
        .with_trust_request(SKILLS, skills.trust_requests())
        .with_trust_request(AGENTS, agents.wishes())
        .with_trust_request(mcp_project_file::FILE, mcp_file.wishes())
}

/// The folders of skills.
pub(crate) fn skill_folders(world: &World, project: &Project) -> Result<SkillFolders, Failure> {
    let user_home = world.environment.path(names::USER_HOME);
    Ok(SkillFolders::new(&world.home()?, user_home.as_deref(), project))
}

fn command_line(given: &str) -> Result<SettingsLayer, Failure> {
    if given.trim_start().starts_with('{') {
        return SettingsLayer::parse(SettingsSource::CommandLine, "--settings", given.as_bytes())
            .map_err(|error| Failure::usage(error).hint("fix the JSON given to --settings"));
    }
    let bytes = std::fs::read(given).map_err(|error| {
        Failure::usage(anyhow::anyhow!("cannot read the settings file {given}: {error}"))
    })?;
    SettingsLayer::parse(SettingsSource::CommandLine, PathBuf::from(given), &bytes)
        .map_err(unreadable)
}

fn unreadable(error: SettingsError) -> Failure {
    Failure::usage(error).hint("fix the file, or move it away to use the defaults")
}

/// Further warnings about a file are only counted.
const MOST_WARNINGS: usize = 20;

/// Prints what has no effect.
fn print_problems(stack: &SettingsStack) {
    for layer in stack.layers() {
        let place = layer.path.display();
        for warning in layer.warnings.iter().take(MOST_WARNINGS) {
            print::note(&format!("warning: {place}: {warning}"));
        }
        if layer.warnings.len() > MOST_WARNINGS {
            let more = layer.warnings.len() - MOST_WARNINGS;
            print::note(&format!("warning: {place}: {more} more unknown settings"));
        }
        for key in &layer.withheld.forbidden {
            print::note(&format!("warning: {place}: `{key}` cannot be set by a project; ignored"));
        }
    }
}
