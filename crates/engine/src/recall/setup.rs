//! The recall settings of a session.

use std::sync::Arc;
use std::time::Duration;

use super::selector::SmallModel;
use crate::memory::SessionMemory;

/// The longest that a request waits for the local ranking.
const RECALL_TIMEOUT: Duration = Duration::from_millis(20);

/// The recall settings of a session.
#[derive(Debug, Clone)]
pub struct RecallSetup {
    /// The longest that a request waits for the local ranking.
    pub patience: Duration,
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

impl Default for RecallSetup {
    fn default() -> Self {
        Self { patience: RECALL_TIMEOUT, small: None, agents: None }
    }
}
