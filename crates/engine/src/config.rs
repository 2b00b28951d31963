//! What a conversation needs from outside.

use std::sync::Arc;

use dormouse_base::{Clock, Environment, IdSource, Project, Redactor};
use dormouse_conversation::metrics::MetricsLog;
use dormouse_conversation::{Budget, Effort, PrefixOrigin, RequestOptions};
use dormouse_model::{Dialect, Model, PriceTable, RetryPolicy};
use dormouse_permissions::PermissionGate;
use dormouse_tools::{CommandLimits, Confirmer, Reaper, ToolSet};

use crate::prompt::PromptOverrides;
use crate::results::ResultRules;
use crate::startup_context::{InstructionSetup, MemorySetup};
use crate::{
    Announcer, BackgroundTask, CompactionRules, ForkPoints, LayerRules, MessageSource, SmallModel,
    SubagentSession,
};
use dormouse_extensions::skills::Skills;
use dormouse_hooks::Hooks;

/// What a conversation needs from outside.
#[derive(Clone)]
pub struct EngineConfig {
    /// Who answers.
    pub model: Arc<Model>,
    /// What it is called.
    pub model_name: String,
    /// What it was asked for as, and where: kept with the session.
    pub origin: PrefixOrigin,
    /// How its server speaks.
    pub dialect: Dialect,
    /// The numbers of its window.
    pub budget: Budget,
    /// A cheaper model, for small questions.
    pub small: Option<SmallModel>,
    /// How failed requests are tried again.
    pub retry: RetryPolicy,
    /// What it may call.
    pub tools: Arc<ToolSet>,
    /// What of that is allowed.
    pub gate: PermissionGate,
    /// Who is asked where that is not enough; nobody in a headless run.
    pub confirmer: Option<Arc<dyn Confirmer>>,
    /// Where it works.
    pub project: Project,
    /// The environment for tools.
    pub environment: Environment,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// New ids.
    pub ids: Arc<dyn IdSource>,
    /// How hard the model is to think, where its server knows that.
    pub effort: Option<Effort>,
    /// What the command line says about the prompt.
    pub overrides: PromptOverrides,
    /// Secrets that no result may carry.
    pub redactor: Redactor,
    /// What is done about long results.
    pub results: Arc<ResultRules>,
    /// The person's hooks.
    pub hooks: Arc<Hooks>,
    /// Where figures are written down.
    pub figures: MetricsLog,
    /// What tokens cost.
    pub prices: PriceTable,
    /// The most to spend, in dollars, as far as prices are known.
    pub max_cost_usd: Option<f64>,
    /// Who sees to it that commands end with the program.
    pub reaper: Reaper,
    /// How long commands may take.
    pub commands: CommandLimits,
    /// Instruction files; none in a bare run.
    pub instructions: Option<InstructionSetup>,
    /// The person's skills, and the project's where it is trusted; none in a bare run.
    pub skills: Arc<Skills>,
    /// Memory; none where it is off.
    pub memory: Option<MemorySetup>,
    /// What the cheap layers do.
    pub layers: LayerRules,
    /// What is compacted, and when.
    pub compaction: CompactionRules,
    /// Who works beside the conversation.
    pub background_tasks: Vec<Arc<dyn BackgroundTask>>,
    /// What the model is told at the start, and again when it changes.
    pub announcers: Vec<Arc<dyn Announcer>>,
    /// What comes from outside while the conversation goes on.
    pub message_sources: Vec<Arc<dyn MessageSource>>,
    /// Where agents branch off; nowhere in a conversation that has none.
    pub fork_points: Option<ForkPoints>,
    /// Whose side chain it is; none for the conversation itself.
    pub subagent: Option<SubagentSession>,
}

impl EngineConfig {
    /// What stands in front of every request beside the prefix.
    pub(crate) fn request_options(&self) -> RequestOptions {
        let max_tokens = self.origin.max_tokens.unwrap_or(self.budget.max_output);
        let options = RequestOptions::new(&self.model_name, max_tokens);
        RequestOptions { effort: self.effort, ..options }
    }
}
