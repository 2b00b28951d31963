//! How a session uses memory: what it has recalled, and how the memories in its context helped.

use crate::memory_usage::TurnUsage;
use crate::recall::RecallState;

/// How a session uses memory.
#[derive(Default)]
pub(crate) struct MemoryUse {
    pub(crate) recall: RecallState,
    /// What a turn shows about the memories in its context.
    pub(crate) usage: TurnUsage,
}
