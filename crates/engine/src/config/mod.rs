//! The configuration of a conversation, grouped by what each part is about.

pub(crate) mod instruction_setup;
pub(crate) mod memory_setup;
pub(crate) mod model_setup;
pub(crate) mod result_rules;
pub(crate) mod services;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use dormouse_base::{Dir, Environment, Project, Redactor, SessionId};
use dormouse_checkpoint::Checkpoints;
use dormouse_conversation::RequestOptions;
use dormouse_conversation::metrics::SessionMetrics;
use dormouse_extensions::skills::Skills;
use dormouse_hooks::{BackgroundHooks, Hooks};
use dormouse_mcp_client::McpHub;
use dormouse_model::RetryPolicy;
use dormouse_permissions::PermissionGate;
use dormouse_sandbox::SandboxPolicy;
use dormouse_tools::{CommandLimits, Confirmer, EditorTools, ReadCache, Reaper, Shells, ToolSet};

use crate::announcements::Announcer;
use crate::background_task::{BackgroundTask, SavedNotes};
use crate::compact::CompactionRules;
use crate::conversation::{Conversation, ConversationCopy};
use crate::jobs::Jobs;
use crate::layers::LayerRules;
use crate::prompt::PromptOverrides;
use crate::recall::SmallModel;
use crate::session_messages::IncomingMessageSource;
use crate::spending::SharedCost;
use crate::stored_results::ResultStore;
use crate::subagent_session::SubagentSession;
use crate::surroundings::Surroundings;

use instruction_setup::InstructionSetup;
use memory_setup::MemorySetup;
use model_setup::{CostRules, ModelSetup};
use result_rules::ResultRules;
use services::Services;

/// The configuration of a conversation.
#[derive(Clone)]
pub struct EngineConfig {
    /// The model and its server.
    pub model: ModelSetup,
    /// A cheaper model for small requests.
    pub small: Option<SmallModel>,
    /// When and how often failed requests are retried.
    pub retry: RetryPolicy,
    /// Tools, permissions, and what running them needs.
    pub tools: ToolSetup,
    /// The project the conversation works in.
    pub project: Project,
    /// Clock, ids and the log of figures.
    pub services: Services,
    /// Changes to the system prompt from the command line.
    pub overrides: PromptOverrides,
    /// Instruction files; none in a bare run.
    pub instructions: Option<InstructionSetup>,
    /// Prices and the cost limit.
    pub cost: CostRules,
    /// Hooks, skills and everything else that plugs into the conversation.
    pub extensions: Extensions,
    /// How the context window is kept small.
    pub window: WindowRules,
    /// Memory; none where it is off.
    pub memory: Option<MemorySetup>,
    /// Which subagent this is; none for the main conversation.
    pub subagent: Option<SubagentSession>,
}

/// The tools of a conversation, and what running them needs.
#[derive(Clone)]
pub struct ToolSetup {
    /// The tools the model may call.
    pub set: Arc<ToolSet>,
    /// Whether the same call, made again and again with the same result, ends the turn.
    pub ends_repetition: bool,
    /// The folder for temporary files, once the session has begun; writing there needs no confirmation.
    pub scratch: Option<PathBuf>,
    /// Tools that are offered in a small window although they are meant for larger ones.
    pub small_window: Vec<String>,
    /// The permission gate.
    pub gate: PermissionGate,
    /// Asks the user for permission; none in a headless run.
    pub confirmer: Option<Arc<dyn Confirmer>>,
    /// The environment of commands.
    pub environment: Environment,
    /// Removes secrets from tool results.
    pub redactor: Redactor,
    /// Ends commands together with the program.
    pub reaper: Reaper,
    /// How long commands may run.
    pub commands: CommandLimits,
    /// The commands in the background of the session. Subagents and forks have their own.
    pub shells: Arc<Shells>,
    /// How commands are restricted; none if they are not.
    pub sandbox: Option<Arc<SandboxPolicy>>,
    /// The folders whose files are listed around commands, for checkpoints; none where checkpoints are off.
    pub checkpoint_folders: Vec<PathBuf>,
    /// Records what files were before a turn changes them, once the session has begun. Subagents share their session's.
    pub checkpoints: Option<Arc<Checkpoints>>,
    /// What goes through the user's editor.
    pub editor: EditorTools,
}

/// What plugs into a conversation.
#[derive(Clone, Default)]
pub struct Extensions {
    /// The user's hooks, and those of the project where it is trusted.
    pub hooks: Arc<Hooks>,
    /// The hooks that run in the background, of the session and its subagents.
    pub background_hooks: BackgroundHooks,
    /// The user's skills, and the project's where it is trusted; none in a bare run.
    pub skills: Arc<Skills>,
    /// Facts that the model is told at the start and again when they change.
    pub announcers: Vec<Arc<dyn Announcer>>,
    /// The servers whose resources and prompts a prompt can name; none in a conversation without them.
    pub servers: Option<Arc<McpHub>>,
    /// Where messages from outside come from while the conversation runs.
    pub message_sources: Vec<Arc<dyn IncomingMessageSource>>,
    /// Tasks that run in the background.
    pub background_tasks: Vec<Arc<dyn BackgroundTask>>,
    /// Where subagents fork off; none in a conversation without subagents.
    pub fork_points: Option<ForkPoints>,
}

/// The newest fork point of a conversation, if its last response started subagents. Clones share it.
#[derive(Clone)]
pub struct ForkPoints {
    pub(crate) tool: &'static str,
    pub(crate) newest: Arc<Mutex<Option<Arc<ForkPoint>>>>,
}

/// A conversation at a response whose calls are about to run.
pub struct ForkPoint {
    pub(crate) config: EngineConfig,
    pub(crate) conversation: ConversationCopy,
    pub(crate) surroundings: Surroundings,
    pub(crate) read_cache: ReadCache,
    pub(crate) session: SessionId,
    pub(crate) session_folder: Dir,
    pub(crate) jobs: Jobs,
    pub(crate) shared_cost: SharedCost,
    pub(crate) left_usd: Option<f64>,
}

impl Extensions {
    /// The saved notes of this session, if a background task keeps any.
    pub(crate) fn saved_notes(&self, session: &Dir) -> Option<SavedNotes> {
        self.background_tasks.iter().find_map(|task| task.session_notes(session))
    }
}

/// How the context window is kept small.
#[derive(Clone, Default)]
pub struct WindowRules {
    /// Rules for long tool results.
    pub results: Arc<ResultRules>,
    /// Rules of the cheap layers.
    pub layers: LayerRules,
    /// Rules of compaction.
    pub compaction: CompactionRules,
}

impl EngineConfig {
    /// The request fields in front of the prefix.
    pub(crate) fn request_options(&self) -> RequestOptions {
        let max_tokens = self.model.origin.max_tokens.unwrap_or(self.model.budget.max_output);
        let options = RequestOptions::new(&self.model.name, max_tokens);
        RequestOptions { effort: self.model.effort, ..options }
    }

    /// Where long tool results of this conversation are stored.
    pub(crate) fn result_store(
        &self,
        conversation: &Conversation,
        figures: &SessionMetrics,
    ) -> ResultStore {
        let session = conversation.transcript.session_folder().clone();
        ResultStore::new(session, &self.model.budget, &self.window.results, figures.clone())
    }

    pub(crate) fn is_subagent(&self) -> bool {
        self.subagent.is_some()
    }
}
