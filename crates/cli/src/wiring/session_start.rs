//! Starts a session for `dormouse` and `dormouse -p`: settings, model connection, memory, engine.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_agents::SubagentRegistry;
use dormouse_background::DreamTask;
use dormouse_base::{Environment, Project, SessionId, Settings, Switches, TrustState};
use dormouse_conversation::PairingRepair;
use dormouse_engine::{
    Announcer, BackgroundTask, Engine, EngineConfig, EngineEvent, Extensions,
    IncomingMessageSource, InstructionSetup, MemorySetup, OpenedSession, RecallSetup, ResumeReport,
    Saving, SessionFolder, SessionMemory, Surroundings,
};
use dormouse_extensions::skills::Skills;
use dormouse_hooks::{BackgroundHooks, Hooks};
use dormouse_mcp_client::{McpHub, ServerSpec};
use dormouse_permissions::PermissionGate;

use crate::args::Arguments;
use crate::message_catalog::msg;
use crate::wiring::agents::{self, AgentLibrary, SubagentContext};
use crate::wiring::background_tasks::{self, RunKind};
use crate::wiring::connect::ModelConnection;
use crate::wiring::dream;
use crate::wiring::editor_servers::EditorServers;
use crate::wiring::engine_config;
use crate::wiring::exit::Failure;
use crate::wiring::hooks;
use crate::wiring::instructions;
use crate::wiring::mcp_servers;
use crate::wiring::memory_session;
use crate::wiring::permissions;
use crate::wiring::plugins;
use crate::wiring::print;
use crate::wiring::sandbox::{SandboxStatus, SessionPermissions};
use crate::wiring::session_commands::SessionCommands;
use crate::wiring::session_lookup::{find_session, most_recent_session};
use crate::wiring::session_messages;
use crate::wiring::session_messages::NamedSession;
use crate::wiring::session_parts::SessionParts;
use crate::wiring::settings::{self, EffectiveSettings};
use crate::wiring::trust::Untrusted;
use crate::wiring::user_access::UserAccess;
use crate::wiring::world::{World, current_project, environment_for_children, is_bare};

/// Everything a session needs before it is opened.
pub(crate) struct PreparedSession {
    pub(crate) connection: ModelConnection,
    settings: Settings,
    switches: Switches,
    agents: AgentLibrary,
    hooks: Hooks,
    instructions: Option<InstructionSetup>,
    skills: Skills,
    memory: Option<MemorySetup>,
    project: Project,
    environment: Environment,
    permissions: SessionPermissions,
    surroundings: Surroundings,
    folder: SessionFolder,
    opened: Option<OpenedSession>,
    servers: Arc<McpHub>,
}

/// The source of the API key, for error messages.
pub(crate) struct KeyOrigin {
    /// Where it was read from; none if no key is sent.
    pub(crate) source: Option<String>,
    /// The environment variable for the key.
    pub(crate) variable: String,
}

/// An open session: the engine and what commands need beside it.
pub(crate) struct ActiveSession {
    pub(crate) engine: Engine,
    /// The state of the working directory at the start.
    pub(crate) surroundings: Surroundings,
    pub(crate) project: Project,
    /// The environment of child processes, without API keys.
    pub(crate) environment: Environment,
    pub(crate) settings: Settings,
    pub(crate) switches: Switches,
    pub(crate) folder: SessionFolder,
    /// Shared with the engine: changes apply from the next call on.
    pub(crate) gate: PermissionGate,
    /// None where memory is off.
    pub(crate) memory: Option<Arc<SessionMemory>>,
    /// The dream task; none where memory is off.
    pub(crate) dreamer: Option<Arc<DreamTask>>,
    /// Agent definitions and running subagents.
    pub(crate) subagents: Arc<SubagentRegistry>,
    pub(crate) key: KeyOrigin,
    /// The mailbox of a session with `--name`.
    pub(crate) named: Option<NamedSession>,
    /// The MCP servers. The caller closes them.
    pub(crate) servers: Arc<McpHub>,
    /// The user's own commands, and those in the background.
    pub(crate) commands: Arc<SessionCommands>,
}

impl ActiveSession {
    /// Runs the `Setup` hooks, if `--init` or `--maintenance` was given.
    pub(crate) async fn set_up(
        &mut self,
        arguments: &Arguments,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) {
        if let Some(trigger) = arguments.setup_trigger() {
            self.engine.set_up(trigger, sink).await;
        }
    }
}

/// Reads the settings, finds the session to resume, and connects to the model.
pub(crate) async fn prepare(
    arguments: &Arguments,
    choice: &SessionChoice,
    world: &World,
    untrusted: Untrusted,
) -> Result<PreparedSession, Failure> {
    prepare_for(arguments, choice, world, untrusted, None).await
}

/// Like [`prepare`], for an editor: the project need not be the current one.
pub(crate) async fn prepare_in(
    project: Project,
    arguments: &Arguments,
    choice: &SessionChoice,
    world: &World,
    servers: &EditorServers,
) -> Result<PreparedSession, Failure> {
    let options = (Untrusted::Tell, None, servers);
    prepare_project(project, arguments, choice, world, options).await
}

/// Like [`prepare`]; with `saving`, for a background run without MCP servers.
pub(crate) async fn prepare_for(
    arguments: &Arguments,
    choice: &SessionChoice,
    world: &World,
    untrusted: Untrusted,
    saving: Option<Saving>,
) -> Result<PreparedSession, Failure> {
    let servers = EditorServers::default();
    let options = (untrusted, saving, &servers);
    prepare_project(current_project()?, arguments, choice, world, options).await
}

async fn prepare_project(
    project: Project,
    arguments: &Arguments,
    choice: &SessionChoice,
    world: &World,
    (untrusted, saving, editor_servers): (Untrusted, Option<Saving>, &EditorServers),
) -> Result<PreparedSession, Failure> {
    let in_force = settings::load(world, arguments.settings.as_deref(), &project, untrusted)?;
    let hooks = hooks::in_force(&in_force, world)?;
    let instructions = instructions::setup(world, &project, untrusted)?;
    let skills = skills(&in_force, world, &project)?;
    let agents = AgentLibrary::of(&in_force, world)?;
    let mut configured = match saving {
        None => mcp_servers::configured(arguments, &in_force, world)?.servers,
        // A background run does not use MCP servers.
        Some(_) => Vec::new(),
    };
    let held = editor_servers.join(&mut configured);
    let (settings, switches) = (in_force.settings, in_force.switches);
    let gate = permissions::gate(arguments, &settings.permissions)?;
    let home = world.home()?;
    let session = choice.find(&home, &project)?;
    let environment = environment_for_children(&world.environment, &settings);
    let secrets: Vec<_> = configured.iter().flat_map(ServerSpec::secrets).collect();
    let tokens = mcp_servers::tokens(&home, &world.clock);
    let servers = mcp_servers::start(
        configured,
        &held,
        (&settings, world.deadlines),
        &project,
        &environment,
        tokens,
    );
    let set = (&settings, &switches);
    let waiting = SessionParts::wait_for(&project, session, arguments, world, set);
    let waited = Box::pin(waiting).await?;
    let SessionParts { folder, surroundings, opened, mut connection, memory } = waited;
    connection.redactor = connection.redactor.with(secrets);
    let saving = saving.unwrap_or_else(|| {
        let dialect = &connection.dialect;
        memory_session::saving_in_session(&settings, &switches, dialect, opened.as_ref())
    });
    let memory = memory.and_then(|memory| memory.for_session(world, &switches, saving));
    let memories = memory.iter().map(|memory| memory.access.memories());
    let memories = memories.flat_map(|reachable| {
        reachable.folders().into_iter().map(PathBuf::from).chain(reachable.draft_folders())
    });
    let scope = permissions::reading_scope(&project, world, memories)?;
    let gate = gate.with_reading(scope);
    let added = gate.added_folders().to_vec();
    let sandbox = SandboxStatus::look(&settings.sandbox, &project, &world.environment, &added);
    if matches!(sandbox, SandboxStatus::Unsupported) {
        print::note(&msg!("sandbox-missing"));
    }
    let permissions = sandbox.apply(gate, &settings.sandbox)?;
    if let Some(report) = opened.as_ref().and_then(OpenedSession::finished_rewind) {
        print::note(&msg!("rewind-finished", count = report.restored.len()));
    }
    if arguments.verbose {
        describe(&connection, saving);
    }
    mcp_servers::wait_for_start(&servers, &settings, &world.deadlines).await;
    Ok(PreparedSession {
        connection,
        settings,
        switches,
        agents,
        hooks,
        instructions,
        skills,
        memory,
        project,
        environment,
        permissions,
        surroundings,
        folder,
        opened,
        servers,
    })
}

impl PreparedSession {
    /// Uses another session folder, for a background run.
    pub(crate) fn in_folder(self, folder: SessionFolder) -> Self {
        Self { folder, opened: None, ..self }
    }

    /// Starts or resumes the session.
    pub(crate) fn open(
        self,
        arguments: &Arguments,
        world: &World,
        user: UserAccess,
    ) -> Result<ActiveSession, Failure> {
        let run = match &user.confirmer {
            Some(_) => RunKind::Interactive,
            None => RunKind::Headless { wait: arguments.wait },
        };
        self.open_for(run, arguments, world, user)
    }

    /// Like [`Self::open`], for a given kind of run.
    pub(crate) fn open_for(
        self,
        run: RunKind,
        arguments: &Arguments,
        world: &World,
        user: UserAccess,
    ) -> Result<ActiveSession, Failure> {
        let Self { connection, settings, switches, project, environment, folder, .. } = self;
        let SessionPermissions { gate, sandbox } = self.permissions;
        let definitions = SubagentContext {
            project: &project,
            settings: &settings,
            switches: &switches,
            small: connection.small.clone(),
            max_turns: arguments.max_turns,
        };
        let routing = session_messages::routing(world, &folder)?;
        let subagents = agents::registry(world, self.agents, definitions, routing)?;
        let mut memory = self.memory;
        if let Some(recall) = memory.as_mut().and_then(|memory| memory.recall.as_mut()) {
            let (small, agents) = (connection.small.clone(), Some(Arc::clone(&subagents) as _));
            *recall = RecallSetup { may_be_only_request: run.is_headless(), small, agents };
        }
        let access = memory.as_ref().map(|memory| Arc::clone(&memory.access));
        let named = NamedSession::from_arguments(arguments, world, &folder, self.opened.as_ref())?;
        let dreamer = dream::dreamer(world, access.as_ref(), &folder, &switches)?;
        let mut background_tasks =
            background_tasks::background_tasks(world, &settings, &switches, &project, run)?;
        // A headless run ends with its response: no dreams.
        let dreaming = dreamer.clone().filter(|_| user.confirmer.is_some());
        background_tasks.extend(dreaming.map(|dreamer| dreamer as Arc<dyn BackgroundTask>));
        let commands =
            Arc::new(SessionCommands::new(connection.redactor.clone(), Arc::clone(&world.ids)));
        let extensions = Extensions {
            hooks: Arc::new(self.hooks),
            background_hooks: BackgroundHooks::default(),
            skills: Arc::new(self.skills),
            announcers: vec![Arc::clone(&self.servers) as Arc<dyn Announcer>],
            servers: Some(Arc::clone(&self.servers)),
            message_sources: message_sources(named.as_ref(), &commands),
            background_tasks,
            fork_points: None,
        };
        let config = EngineConfig {
            model: engine_config::model_setup(&connection, arguments, &settings),
            tools: engine_config::tool_setup(
                &connection,
                (&settings.tools, &switches),
                memory.as_ref(),
                &gate,
                &environment,
                (sandbox, engine_config::checkpoint_folders(&switches, &project, &gate)),
                (user, Arc::clone(&commands.shells)),
            ),
            small: connection.small,
            retry: connection.retry,
            project: project.clone(),
            services: engine_config::services(world)?,
            overrides: engine_config::prompt_overrides(arguments, &settings, world, &project)?,
            instructions: self.instructions,
            cost: engine_config::cost_rules(arguments, &settings),
            extensions,
            window: engine_config::window_rules(&settings, &switches, &world.environment)?,
            memory,
            subagent: None,
        };
        let start = EngineStart { config, opened: self.opened, named: named.as_ref() };
        let engine = start.run(arguments, &subagents, &folder, &self.surroundings)?;
        Ok(ActiveSession {
            engine,
            surroundings: self.surroundings,
            project,
            environment,
            settings,
            switches,
            folder,
            gate,
            memory: access,
            dreamer,
            subagents,
            key: KeyOrigin { source: connection.key_source, variable: connection.key_variable },
            named,
            servers: self.servers,
            commands,
        })
    }
}

/// What brings messages from outside: other sessions, and the user's own commands.
fn message_sources(
    named: Option<&NamedSession>,
    commands: &Arc<SessionCommands>,
) -> Vec<Arc<dyn IncomingMessageSource>> {
    let commands = Arc::clone(commands) as Arc<dyn IncomingMessageSource>;
    named.map(NamedSession::incoming).into_iter().chain([commands]).collect()
}

/// A configured engine that is not running yet.
struct EngineStart<'a> {
    config: EngineConfig,
    /// The session to resume.
    opened: Option<OpenedSession>,
    named: Option<&'a NamedSession>,
}

impl EngineStart<'_> {
    /// Starts a new session or resumes one, and takes over its mailbox.
    fn run(
        mut self,
        arguments: &Arguments,
        subagents: &Arc<SubagentRegistry>,
        folder: &SessionFolder,
        surroundings: &Surroundings,
    ) -> Result<Engine, Failure> {
        session_messages::spawner(subagents, self.named)?.configure(&mut self.config);
        engine_config::warn_without_price(&self.config);
        let engine = match self.opened {
            None => Engine::begin(self.config, folder, surroundings)?,
            Some(opened) => {
                let engine = resume(arguments, self.config, opened, surroundings)?;
                agents::report_interrupted(subagents, engine.conversation().session_folder());
                engine
            }
        };
        self.named.map_or(Ok(()), |named| named.hold(engine.conversation().session()))?;
        Ok(engine)
    }
}

/// The user's skills, then the project's if it is trusted, then those of plugins.
fn skills(
    in_force: &EffectiveSettings,
    world: &World,
    project: &Project,
) -> Result<Skills, Failure> {
    if is_bare(&world.environment)? {
        return Ok(Skills::default());
    }
    let own = settings::skill_folders(world, project)?.user_skills();
    let own = match in_force.trust {
        TrustState::Trusted => own.with(in_force.project_skills.clone()),
        TrustState::NotNeeded | TrustState::Undecided | TrustState::Changed => own,
    };
    Ok(own.with(plugins::skills(&in_force.plugins)))
}

/// Which session is opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SessionChoice {
    New,
    /// `--continue`.
    MostRecent,
    /// `--resume`: an id, or the start of one.
    Named(String),
}

impl SessionChoice {
    /// What the command line says.
    pub(crate) fn of(arguments: &Arguments) -> Self {
        match (&arguments.resume, arguments.r#continue) {
            (Some(name), _) => Self::Named(name.clone()),
            (None, true) => Self::MostRecent,
            (None, false) => Self::New,
        }
    }

    /// The session; none for a new one.
    pub(crate) fn find(
        &self,
        home: &Path,
        project: &Project,
    ) -> Result<Option<SessionId>, Failure> {
        let folder = || SessionFolder::existing(home, project);
        match self {
            Self::New => Ok(None),
            Self::MostRecent => most_recent_session(folder()?.as_ref()).map(Some),
            Self::Named(name) => find_session(folder()?.as_ref(), name).map(Some),
        }
    }
}

/// Prints model, server and key source, for `--verbose`.
fn describe(connection: &ModelConnection, saving: Saving) {
    let key = connection
        .key_source
        .as_deref()
        .map_or("no key".to_owned(), |source| format!("key from {source}"));
    print::note(&format!(
        "· {} at {}, {key}, window {} tokens{}",
        connection.model_name,
        connection.origin.server,
        connection.budget.window,
        if saving == Saving::Files { ", Anthropic's memory tool" } else { "" }
    ));
}

fn resume(
    arguments: &Arguments,
    config: EngineConfig,
    opened: OpenedSession,
    surroundings: &Surroundings,
) -> Result<Engine, Failure> {
    if arguments.system_prompt.is_some() || arguments.append_system_prompt.is_some() {
        print::note(
            "note: --system-prompt and --append-system-prompt have no effect on a resumed session",
        );
    }
    let (engine, report) = Engine::resume(config, opened, surroundings)?;
    print_resume_report(&report, engine.conversation().transcript_path());
    Ok(engine)
}

fn print_resume_report(report: &ResumeReport, transcript: &Path) {
    for warning in &report.warnings {
        print::note(&format!("warning: {}: {warning}", transcript.display()));
    }
    let closed = report
        .repairs
        .iter()
        .filter(|repair| matches!(repair, PairingRepair::ClosedCall(_)))
        .count();
    if closed > 0 {
        print::note(&format!("note: unfinished tool calls were closed as interrupted: {closed}"));
    }
}
