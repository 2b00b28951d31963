//! A request to compact a conversation.

use dormouse_base::MessageId;
use dormouse_conversation::transcript::CompactionTrigger;

/// The part of the conversation to compact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionScope {
    /// All of it.
    Whole,
    /// From this user message on. The messages before it stay, in the server's cache too.
    From(MessageId),
    /// Up to this user message, which stays.
    UpTo(MessageId),
}

/// A request to compact the conversation.
#[derive(Debug, Clone)]
pub struct CompactionRequest {
    /// The user, or the engine itself.
    pub trigger: CompactionTrigger,
    /// The user's instructions for the summary.
    pub instructions: Option<String>,
    /// The part to compact.
    pub scope: CompactionScope,
}

impl CompactionRequest {
    /// The engine compacts by itself.
    pub(crate) fn auto() -> Self {
        Self { trigger: CompactionTrigger::Auto, instructions: None, scope: CompactionScope::Whole }
    }
}
