//! The prefix of a compacted conversation, and how full the window was before.

use std::sync::Arc;

use dormouse_conversation::Prefix;
use dormouse_instructions::LoadOccasion;
use dormouse_tools::ToolSet;

use super::policy::WindowPolicy;
use super::request::{CompactionRequest, CompactionScope};
use super::window_share::{WindowShare, window_shares};
use crate::config::EngineConfig;
use crate::conversation::Conversation;
use crate::prompt::configured_prefix;
use crate::startup_context::StartupContext;
use crate::surroundings::Surroundings;

/// The prefix of the compacted conversation, built again where that is possible.
pub(super) struct CompactionBase {
    pub(super) prefix: Arc<Prefix>,
    /// The tools in its list.
    pub(super) tools: Arc<ToolSet>,
    /// What it was built from; none where the prefix stays.
    pub(super) startup: Option<StartupContext>,
    /// Whether the user chose a part of the conversation: the rest stays, however large.
    pub(super) is_part: bool,
}

impl CompactionBase {
    /// A prefix from the current surroundings. Messages in front that stay keep their prefix to the byte.
    pub(super) fn new(
        request: &CompactionRequest,
        config: &EngineConfig,
        conversation: &Conversation,
        surroundings: &Surroundings,
    ) -> Self {
        if matches!(request.scope, CompactionScope::From(_)) {
            let prefix = Arc::clone(conversation.prefix());
            let tools = Arc::clone(&config.tools.set);
            return Self { prefix, tools, startup: None, is_part: true };
        }
        let mut config = config.clone();
        // A subagent keeps the tools that it was given.
        if !config.is_subagent() {
            config.tools.set = config.tools_now();
        }
        let mut startup = StartupContext::load(&config, LoadOccasion::Compaction);
        // The user has seen the warnings when the session began.
        drop(startup.take_warnings());
        let prefix = configured_prefix(&config, surroundings, &startup);
        let is_part = request.scope != CompactionScope::Whole;
        Self { prefix, tools: config.tools.set, startup: Some(startup), is_part }
    }

    /// The tokens that a prompt without a response may take to stay as it is: half of the room beside the prefix, or as
    /// much as a kept tail, as long as a summary still fits.
    pub(super) fn room_for_newest(&self, policy: &WindowPolicy) -> u64 {
        let budget = policy.budget_ahead();
        let prefix = self.prefix.tokens();
        let half = u64::from(budget.auto_compact).saturating_sub(prefix) / 2;
        let beside = prefix
            + 2 * u64::from(budget.compaction.summary_tokens + budget.compaction.user_words_tokens);
        let sendable = u64::from(budget.blocking).saturating_sub(beside);
        half.max(u64::from(budget.compaction.tail_max_tokens).min(sendable))
    }
}

/// How full the window is, and of what.
pub(super) struct WindowUsage {
    /// By the server's count, as far as there is one.
    pub(super) tokens: u64,
    /// By this program's estimate.
    estimated: u64,
    pub(super) shares: Vec<WindowShare>,
}

impl WindowUsage {
    pub(super) fn of(conversation: &Conversation) -> Self {
        Self {
            tokens: conversation.tokens_used(),
            estimated: conversation.estimated_tokens(),
            shares: window_shares(conversation.prefix(), conversation.messages()),
        }
    }

    /// Scales an estimate to the server's count, so that both can be compared.
    pub(super) fn counted(&self, estimated: u64) -> u64 {
        estimated.saturating_mul(self.tokens) / self.estimated.max(1)
    }
}
