//! The subagents of a session: loading agent definitions, trust in the project's definitions, and the models and memories
//! that subagents use.

use std::path::PathBuf;
use std::sync::Arc;

use dormouse_agents::{
    AgentDefinition, AgentDefinitions, AgentListPosition, AgentMemories, AgentOrigin, AgentProblem,
    MessageRouting, ModelResolver, ModelUnavailableError, SubagentRegistry, SubagentSetup,
    builtin_agents, parse_settings_agent,
};
use dormouse_base::{
    Dir, LayerSwitch, Project, Settings, SettingsLayer, SettingsSource, Switches, TrustState, names,
};
use dormouse_engine::{ModelSetup, SmallModel};
use dormouse_hooks::{HookLayer, HookOrigin, Hooks};
use dormouse_mcp_client::{ServerOrigin, Variables, read_servers};
use dormouse_memory::{IndexUpkeep, Scope, StoreOptions};
use futures_util::future::BoxFuture;
use serde_json::Value;

use crate::message_catalog::msg;
use crate::wiring::connect::{ModelChoice, ServerLayers, connect};
use crate::wiring::exit::Failure;
use crate::wiring::memory_policy::policy;
use crate::wiring::plugins;
use crate::wiring::print;
use crate::wiring::project_agents::ProjectAgents;
use crate::wiring::settings::EffectiveSettings;
use crate::wiring::world::World;
use crate::wiring::world::is_bare;

/// Loads agent definitions; again whenever files change.
struct DefinitionLoader {
    project: ProjectAgents,
    trust: TrustState,
    /// Definitions from settings and plugins, which do not change while the program runs.
    fixed: Vec<AgentDefinition>,
    problems: Vec<AgentProblem>,
    is_bare: bool,
}

impl DefinitionLoader {
    fn of(in_force: &EffectiveSettings, is_bare: bool) -> Self {
        let mut fixed = Vec::new();
        let mut problems = Vec::new();
        fixed.extend(plugins::agents(&in_force.plugins, &mut problems));
        for layer in in_force.stack.layers() {
            of_layer(layer, &mut fixed, &mut problems);
        }
        Self {
            project: in_force.project_agents.clone(),
            trust: in_force.trust,
            fixed,
            problems,
            is_bare,
        }
    }

    fn read(&self) -> AgentDefinitions {
        let mut agents = builtin_agents();
        if self.is_bare {
            return AgentDefinitions::of(agents, Vec::new());
        }
        let mut problems = self.problems.clone();
        agents.extend(self.project.folders.load_user_agents(&mut problems));
        let of_project = self.project.folders.load_project_agents(&mut problems);
        // Definitions that changed since they were trusted are restricted until the user trusts them again.
        let requests = AgentDefinitions::trust_requests(&of_project, &agents);
        let as_trusted = self.trust == TrustState::Trusted && requests == self.project.wishes;
        agents.extend(self.fixed.iter().cloned());
        let of_project =
            if as_trusted { of_project } else { AgentDefinitions::restricted(of_project, &agents) };
        agents.extend(of_project);
        problems.extend(agents.iter().flat_map(problems_within));
        AgentDefinitions::of(agents, problems)
    }
}

/// Problems of the hooks and MCP servers in a definition.
fn problems_within(agent: &AgentDefinition) -> Vec<AgentProblem> {
    let file = agent.source.file.clone().unwrap_or_default();
    let problem = |problem: String| AgentProblem {
        place: format!("{}: agent {}", file.display(), agent.name),
        line: None,
        problem,
        loaded: true,
    };
    let mut all = Vec::new();
    if !agent.extensions.hooks.is_null() {
        let origin = HookOrigin::Agent(agent.name.clone());
        let layer = HookLayer::of_value(origin, &file, agent.extensions.hooks.clone(), None);
        let (_, problems) = Hooks::read([layer]);
        all.extend(problems.iter().map(|each| problem(format!("a hook will not run: {each}"))));
    }
    if agent.extensions.mcp_servers.is_object() {
        let origin = ServerOrigin::new(format!("agent {}", agent.name), &file);
        let read =
            read_servers(&agent.extensions.mcp_servers, &origin, &Variables::as_written(), &|_| {
                None
            });
        all.extend(read.problems.iter().map(|each| problem(each.reason.clone())));
    }
    all
}

/// The agents in a settings file.
fn of_layer(
    layer: &SettingsLayer,
    agents: &mut Vec<AgentDefinition>,
    problems: &mut Vec<AgentProblem>,
) {
    let Some(Value::Object(named)) = layer.value.get("agents") else { return };
    let origin = match layer.source {
        SettingsSource::User => AgentOrigin::User,
        SettingsSource::Project | SettingsSource::Local => AgentOrigin::Project,
        SettingsSource::CommandLine => AgentOrigin::CommandLine,
        SettingsSource::Managed => AgentOrigin::Managed,
    };
    for (name, object) in named {
        agents.extend(parse_settings_agent(&layer.path, name, object, origin.clone(), problems));
    }
}

/// All agent definitions of the user and the project, as they are now.
pub(crate) fn all(
    in_force: &EffectiveSettings,
    world: &World,
) -> Result<AgentDefinitions, Failure> {
    Ok(DefinitionLoader::of(in_force, is_bare(&world.environment)?).read())
}

/// What subagents need besides their definitions.
pub(crate) struct SubagentContext<'a> {
    pub(crate) project: &'a Project,
    pub(crate) settings: &'a Settings,
    pub(crate) switches: &'a Switches,
    pub(crate) small: Option<SmallModel>,
    /// `--max-turns`.
    pub(crate) max_turns: Option<u32>,
}

/// Creates the subagent registry of a session.
pub(crate) fn registry(
    world: &World,
    AgentLibrary(loader): AgentLibrary,
    context: SubagentContext<'_>,
    routing: MessageRouting,
) -> Result<Arc<SubagentRegistry>, Failure> {
    let SubagentContext { project, settings, switches, small, max_turns } = context;
    let folders = (!loader.is_bare).then(|| loader.project.folders.clone());
    let models = ServerModels {
        settings: settings.clone(),
        world: world.clone(),
        folder: project.folder.clone(),
        by_server: ServerLayers::of(switches),
    };
    let list_in = if switches.is_on(LayerSwitch::AgentListMessage) {
        AgentListPosition::Message
    } else {
        AgentListPosition::Description
    };
    let memories = memories(world, project, settings, switches)?;
    let memories = Some(memories).filter(|_| switches.is_on(LayerSwitch::Memory));
    let registry = SubagentRegistry::new(SubagentSetup {
        load: Box::new(move || loader.read()),
        folders,
        models: Arc::new(models),
        memories,
        small,
        progress_every: switches
            .is_on(LayerSwitch::ProgressSummaries)
            .then_some(world.deadlines.subagent_progress),
        max_turns,
        home: world.home()?,
        clock: Arc::clone(&world.clock),
        ids: Arc::clone(&world.ids),
        list_in,
        routing,
    });
    for problem in registry.agents().problems() {
        let problem_text = problem.to_string();
        print::note(&if problem.loaded {
            msg!("agent-problem", problem = problem_text)
        } else {
            msg!("agent-not-loaded", problem = problem_text)
        });
    }
    Ok(registry)
}

/// The agent definitions for a session that is being prepared.
pub(crate) struct AgentLibrary(DefinitionLoader);

impl AgentLibrary {
    pub(crate) fn of(in_force: &EffectiveSettings, world: &World) -> Result<Self, Failure> {
        Ok(Self(DefinitionLoader::of(in_force, is_bare(&world.environment)?)))
    }
}

/// The memories of agents, whether memory is on or off.
pub(crate) fn memories(
    world: &World,
    project: &Project,
    settings: &Settings,
    switches: &Switches,
) -> Result<AgentMemories, Failure> {
    let home = world.home()?;
    let mut options =
        StoreOptions::new(Scope::Agent, dormouse_secrets::scan, Arc::clone(&world.clock));
    options.policy = policy(&settings.memory);
    options.index =
        if switches.is_on(LayerSwitch::Index) { IndexUpkeep::Keep } else { IndexUpkeep::Leave };
    let remote = world.environment.path(names::REMOTE_MEMORY_DIR);
    let slug = project.slug();
    Ok(AgentMemories {
        root: project.root.clone(),
        remote: remote.map(|folder| folder.join("projects").join(slug.as_str())),
        state: home.join("state"),
        home,
        options,
        clock: Arc::clone(&world.clock),
    })
}

/// Finds the subagents that the end of the program has interrupted in a resumed session, and names them.
pub(crate) fn report_interrupted(subagents: &SubagentRegistry, session: &Dir) {
    let found = subagents.find_interrupted(session);
    if !found.is_empty() {
        let names: Vec<String> =
            found.iter().map(|run| format!("{} ({})", run.name, run.description)).collect();
        print::note(&msg!("agents-interrupted", count = found.len(), names = names.join(", ")));
    }
}

/// Resolves other models of the same server.
struct ServerModels {
    settings: Settings,
    world: World,
    folder: PathBuf,
    by_server: ServerLayers,
}

impl ModelResolver for ServerModels {
    fn resolve<'a>(
        &'a self,
        name: &'a str,
    ) -> BoxFuture<'a, Result<ModelSetup, ModelUnavailableError>> {
        Box::pin(async move {
            let wanted = ModelChoice { model: Some(name), origin: None, by_server: self.by_server };
            let other = connect(&self.settings, &self.world, wanted, &self.folder).await;
            let other = other.map_err(|failure| ModelUnavailableError {
                name: name.to_owned(),
                reason: failure.message(),
            })?;
            Ok(other.into_setup(None))
        })
    }
}
