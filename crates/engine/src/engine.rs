//! The engine connects the parts of a session: conversation, spending, compaction, hooks, memory, messages.
//!
//! It holds no logic of its own: each part guards its own invariants, and `turn_runner` and `driver` call them in order.

use std::sync::Arc;

use dormouse_base::{SessionId, names};
use dormouse_checkpoint::Checkpoints;
use dormouse_conversation::metrics::SessionMetrics;
use dormouse_conversation::transcript::Transcript;
use dormouse_conversation::{EnvironmentFacts, MessageHistory, Prefix};
use dormouse_hooks::SessionSource;
use dormouse_instructions::{InstructionFile, LoadOccasion};

use crate::background_task::{SavedNotes, TaskOccasion, TurnSnapshot};
use crate::compact::CompactionState;
use crate::config::EngineConfig;
use crate::config::model_setup::ModelSetup;
use crate::conversation::Conversation;
use crate::error::EngineError;
use crate::fork::cached;
use crate::hook_wiring::hook_runner;
use crate::jobs::Jobs;
use crate::prompt::configured_prefix;
use crate::recall::SmallModel;
use crate::session::SessionFolder;
use crate::session_hooks::SessionHooks;
use crate::session_messages::IncomingQueue;
use crate::session_tools::SessionTools;
use crate::spending::Spending;
use crate::startup_context::StartupContext;
use crate::subagent_session::SubagentSession;
use crate::surroundings::Surroundings;
use crate::tool_state::ToolState;
use crate::turn_memory::TurnMemory;
use crate::wire_state::WireState;

/// A session: a conversation and everything that belongs to it.
pub struct Engine {
    pub(crate) config: EngineConfig,
    pub(crate) conversation: Conversation,
    pub(crate) spending: Spending,
    pub(crate) compaction: CompactionState,
    pub(crate) tool_state: ToolState,
    /// What the prefix was built from.
    pub(crate) startup: StartupContext,
    /// The surroundings at the last prompt.
    pub(crate) surroundings: Surroundings,
    pub(crate) hooks: SessionHooks,
    pub(crate) memory: TurnMemory,
    pub(crate) session_tools: SessionTools,
    pub(crate) messages: IncomingQueue,
    pub(crate) jobs: Jobs,
    pub(crate) figures: SessionMetrics,
}

/// What a session starts from.
pub(crate) struct SessionStart {
    pub(crate) config: EngineConfig,
    pub(crate) conversation: Conversation,
    pub(crate) startup: StartupContext,
    pub(crate) surroundings: Surroundings,
    pub(crate) compaction: CompactionState,
    pub(crate) session_tools: SessionTools,
}

impl SessionStart {
    /// A conversation without messages in this transcript, with a prefix that is built now.
    fn empty(
        mut config: EngineConfig,
        mut transcript: Transcript,
        surroundings: &Surroundings,
    ) -> Result<Self, EngineError> {
        let session_tools = SessionTools::add_to(&mut config, &transcript);
        config.tools.set = config.tools_now();
        let startup = StartupContext::load(&config, LoadOccasion::Start);
        let prefix = configured_prefix(&config, surroundings, &startup);
        transcript.record_prefix(&prefix, &config.model.origin)?;
        let conversation =
            open_conversation(&config, transcript, prefix, MessageHistory::default(), None);
        Ok(Self {
            config,
            conversation,
            startup,
            surroundings: surroundings.clone(),
            compaction: CompactionState::default(),
            session_tools,
        })
    }

    /// Connects the parts.
    pub(crate) fn into_engine(self) -> Engine {
        let Self { mut config, conversation, startup, surroundings, compaction, session_tools } =
            self;
        let transcript = &conversation.transcript;
        if config.subagent.is_none() {
            config.tools.checkpoints = checkpoints(&config, transcript);
        }
        // The memory belongs to the session: messages of its subagents only add to that.
        if let (Some(memory), None) = (&config.memory, &config.subagent) {
            memory.access.begin(transcript.session());
            memory
                .access
                .provenance()
                .record_history(conversation.messages().iter().map(AsRef::as_ref));
            if let Some(confirmer) = &config.tools.confirmer {
                memory.access.set_confirmer(Arc::clone(confirmer));
            }
        }
        let is_new = conversation.history().last().is_none();
        let source = if is_new { SessionSource::Startup } else { SessionSource::Resume };
        // A subagent's figures count among those of its session.
        let project = match &config.subagent {
            None => folder_name(transcript.path()),
            Some(subagent) => folder_name(subagent.session_folder.path()),
        };
        let figures = config.services.figures.for_session(transcript.session(), project);
        let spending = Spending::new(&config.cost, &config.model, config.is_subagent());
        let hooks = hook_runner(&config, transcript, &figures, spending.shared());
        let runner = hooks.as_ref().map(|(runner, _)| runner);
        if let Some(memory) = &config.memory {
            memory.access.set_hooks(runner);
        }
        if let Some(runner) = runner {
            session_tools.skills.set_hooks(runner);
        }
        let jobs = Jobs::new(Arc::clone(&config.services.clock), figures.clone());
        let tool_state = ToolState::new(&config);
        let engine = Engine {
            hooks: SessionHooks::new(hooks, source),
            config,
            conversation,
            spending,
            compaction,
            tool_state,
            startup,
            surroundings,
            memory: TurnMemory::default(),
            session_tools,
            messages: IncomingQueue::default(),
            jobs,
            figures,
        };
        engine.connect_hook_model();
        engine
    }
}

impl Engine {
    /// Begins a new session.
    pub fn begin(
        config: EngineConfig,
        folder: &SessionFolder,
        surroundings: &Surroundings,
    ) -> Result<Self, EngineError> {
        let services = &config.services;
        let transcript = Transcript::create(
            folder.dir(),
            SessionId::generate(&*services.ids),
            surroundings.line_envelope(),
            Arc::clone(&services.clock),
            Arc::clone(&services.ids),
        )?;
        Ok(SessionStart::empty(config, transcript, surroundings)?.into_engine())
    }

    /// Begins the conversation of a subagent, without messages.
    pub fn begin_subagent(
        mut config: EngineConfig,
        subagent: &SubagentSession,
        surroundings: &Surroundings,
    ) -> Result<Self, EngineError> {
        let transcript = subagent.create_transcript(&config.services, surroundings)?;
        config.subagent = Some(subagent.clone());
        // Its memory is its own, where it has any.
        if let Some(memory) = &config.memory {
            memory.access.begin(subagent.session);
        }
        Ok(SessionStart::empty(config, transcript, surroundings)?.into_engine())
    }

    /// The messages, bytes and transcript.
    pub fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// What the conversation costs.
    pub fn spending(&self) -> &Spending {
        &self.spending
    }

    /// The model, its server and its token budgets.
    pub fn model(&self) -> &ModelSetup {
        &self.config.model
    }

    /// The background jobs.
    pub fn jobs(&self) -> &Jobs {
        &self.jobs
    }

    /// The tools, skills and plan of this session.
    pub fn session_tools(&self) -> &SessionTools {
        &self.session_tools
    }

    /// The instruction files in force.
    pub fn instruction_files(&self) -> &[InstructionFile] {
        self.startup.loaded()
    }

    /// Changes to memory that the user should know of.
    pub fn take_memory_notices(&self) -> Vec<String> {
        let memory = self.config.memory.as_ref();
        memory.map(|memory| memory.access.notices().take()).unwrap_or_default()
    }

    /// Tells background tasks of an occasion between two turns.
    pub fn notify_tasks(&self, occasion: TaskOccasion) {
        let snapshot = self.snapshot(true);
        for task in &self.config.extensions.background_tasks {
            match occasion {
                TaskOccasion::Opened => task.on_open(&snapshot),
                TaskOccasion::Paused => task.on_pause(&snapshot),
            }
        }
    }

    pub(crate) fn snapshot(&self, turn_end: bool) -> TurnSnapshot<'_> {
        TurnSnapshot {
            turn_end,
            conversation: &self.conversation,
            model: &self.config.model,
            tools: &self.config.tools.set,
            memory: self
                .config
                .memory
                .as_ref()
                .map(|memory| &memory.access)
                .filter(|memory| memory.switch.is_on()),
            jobs: &self.jobs,
            has_room: self.spending.background_has_room(),
            is_cached: cached(&self.config, &self.conversation).is_cached,
            figures: &self.figures,
            fork: Box::new(|| self.fork_source()),
        }
    }

    /// Lets hooks ask the model of this conversation.
    pub(crate) fn connect_hook_model(&self) {
        let Some(hook_model) = self.hooks.model() else { return };
        let setup = &self.config.model;
        let main = SmallModel {
            model: Arc::clone(&setup.client),
            name: setup.name.clone(),
            dialect: setup.dialect.clone(),
        };
        hook_model.connect(main, self.fork_source().with_messages([]));
    }

    /// The saved session notes, if a background task keeps any.
    pub fn saved_notes(&self) -> Option<SavedNotes> {
        self.config.extensions.saved_notes(self.conversation.transcript.session_folder())
    }
}

/// The checkpoints of a session, unless they are off.
fn checkpoints(config: &EngineConfig, transcript: &Transcript) -> Option<Arc<Checkpoints>> {
    let tools = &config.tools;
    if tools.checkpoint_folders.is_empty() {
        return None;
    }
    let home = tools.environment.path(names::USER_HOME);
    let (session, clock) =
        (transcript.session_folder().clone(), Arc::clone(&config.services.clock));
    Some(Arc::new(Checkpoints::new(session, &tools.checkpoint_folders, home.as_deref(), clock)))
}

/// A conversation that continues after these messages.
pub(crate) fn open_conversation(
    config: &EngineConfig,
    transcript: Transcript,
    prefix: Arc<Prefix>,
    history: MessageHistory,
    announced: Option<EnvironmentFacts>,
) -> Conversation {
    let wire = WireState::new(prefix, config.model.dialect.clone(), config.request_options());
    Conversation::new(transcript, wire, history, announced, config.services.clone())
}

/// The name of the project's folder, in which this path is.
fn folder_name(inside: &std::path::Path) -> &str {
    let folder = inside.parent().and_then(std::path::Path::file_name);
    folder.and_then(std::ffi::OsStr::to_str).unwrap_or_default()
}
