//! The settings in force: every layer read, the project's trust looked up, what is ignored told.

use std::path::PathBuf;

use dormouse_base::{
    Project, Settings, SettingsError, SettingsFiles, SettingsLayer, SettingsSource, SettingsStack,
    Switches, TrustState, TrustStore, names,
};
use dormouse_extensions::plugins::Plugin;
use dormouse_extensions::skills::{SkillFolders, Skills};

use crate::wiring::exit::Failure;
use crate::wiring::mcp_project_file::{self, ProjectFile};
use crate::wiring::plugins;
use crate::wiring::print;
use crate::wiring::project_agents::ProjectAgents;
use crate::wiring::trust::{self, AGENTS, SKILLS, Untrusted};
use crate::wiring::world::World;

/// Settings, and how they came about.
pub(crate) struct InForce {
    pub(crate) stack: SettingsStack,
    pub(crate) settings: Settings,
    pub(crate) switches: Switches,
    pub(crate) places: SettingsFiles,
    pub(crate) trust: TrustState,
    /// The project's agents: what they want beyond their prompts is of no use where it is not trusted.
    pub(crate) project_agents: ProjectAgents,
    /// The plugins in use.
    pub(crate) plugins: Vec<Plugin>,
    /// The project's skills: of no use where it is not trusted.
    pub(crate) project_skills: Skills,
    /// The project's `.mcp.json`: of no use where it is not trusted.
    pub(crate) mcp_file: ProjectFile,
}

/// Reads all layers. `given` is what `--settings` says.
pub(crate) fn load(
    world: &World,
    given: Option<&str>,
    project: &Project,
    untrusted: Untrusted,
) -> Result<InForce, Failure> {
    let home = world.home()?;
    let places = SettingsFiles::new(&world.environment, &home, Some(project));
    let mut layers = places.read().map_err(unreadable)?;
    layers.extend(given.map(command_line).transpose()?);
    let project_skills = skill_folders(world, project)?.project_skills();
    let project_agents = ProjectAgents::look(world, project)?;
    let mcp_file = ProjectFile::of(project);
    let mut stack = stack(layers, &project_skills, &project_agents, &mcp_file);
    tell_problems(&stack);
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
    let switches = Switches::resolve(&stack, &world.environment).map_err(Failure::usage)?;
    let settings = stack.settings();
    let trust = standing;
    Ok(InForce {
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

/// The layers, and what of the project waits for trust beside them.
pub(crate) fn stack(
    layers: Vec<SettingsLayer>,
    skills: &Skills,
    agents: &ProjectAgents,
    mcp_file: &ProjectFile,
) -> SettingsStack {
    SettingsStack::new(layers)
        .with_trust_request(SKILLS, skills.trust_requests())
        .with_trust_request(AGENTS, agents.wishes())
        .with_trust_request(mcp_project_file::FILE, mcp_file.wishes())
}

/// Where skills are looked for.
pub(crate) fn skill_folders(world: &World, project: &Project) -> Result<SkillFolders, Failure> {
    let user_home = world.environment.path(names::USER_HOME);
    Ok(SkillFolders::new(&world.home()?, user_home.as_deref(), project))
}

fn command_line(given: &str) -> Result<SettingsLayer, Failure> {
    if given.trim_start().starts_with('{') {
        return SettingsLayer::parse(SettingsSource::CommandLine, "--settings", given.as_bytes())
            .map_err(|error| Failure::usage(error).hint("mend the JSON given to --settings"));
    }
    let bytes = std::fs::read(given).map_err(|error| {
        Failure::usage(anyhow::anyhow!("can not read the settings file {given}: {error}"))
    })?;
    SettingsLayer::parse(SettingsSource::CommandLine, PathBuf::from(given), &bytes)
        .map_err(unreadable)
}

fn unreadable(error: SettingsError) -> Failure {
    Failure::usage(error).hint("mend the file, or move it away to go on with the defaults")
}

/// More of one file are counted, not listed.
const MOST_WARNINGS: usize = 20;

/// What has no effect wherever it stands.
fn tell_problems(stack: &SettingsStack) {
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
            print::note(&format!("warning: {place}: `{key}` can not be set by a project, ignored"));
        }
    }
}
