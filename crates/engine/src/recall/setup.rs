//! The recall settings of a session.

use std::sync::Arc;

use super::selector::SmallModel;
use crate::memory::SessionMemory;

/// The recall settings of a session.
#[derive(Debug, Clone, Default)]
pub struct RecallSetup {
    /// Whether the first request may be the only one: then it waits longer, because no later one brings what is late.
    pub may_be_only_request: bool,
    /// Chooses from the list of memories; without it there is only the local ranking.
    pub small: Option<SmallModel>,
    /// Finds the memory to search where a message mentions an agent.
    pub agents: Option<Arc<dyn MentionedAgentMemory>>,
}

/// The memories of agents.
pub trait MentionedAgentMemory: Send + Sync {
    /// The memory of the agent that a message mentions, if it has one.
    fn memory_of(&self, message: &str) -> Option<Arc<SessionMemory>>;
}

impl std::fmt::Debug for dyn MentionedAgentMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("MentionedAgentMemory")
    }
}
