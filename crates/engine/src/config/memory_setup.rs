//! The memory of a session: its stores, the rules for the model, and recall.

use std::sync::Arc;

use dormouse_memory::MemoryRules;

use crate::memory::SessionMemory;
use crate::recall::RecallSetup;

/// Memory for a session.
#[derive(Debug, Clone)]
pub struct MemorySetup {
    /// The stores, shared with the memory tools.
    pub access: Arc<SessionMemory>,
    /// The memory rules of the prompt; none where the prompt has them already.
    pub rules: Option<MemoryRules>,
    /// How memories are recalled for a prompt; none where they are not.
    pub recall: Option<RecallSetup>,
}
