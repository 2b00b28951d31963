//! Where the instruction files and the memory of a session are.

use std::sync::Arc;

use dormouse_instructions::{ApprovedPaths, InstructionRoots};
use dormouse_memory::MemoryRules;

use crate::memory::SessionMemory;
use crate::recall::RecallSetup;

/// Where instruction files are found.
#[derive(Debug, Clone)]
pub struct InstructionSetup {
    /// The folders to search.
    pub roots: InstructionRoots,
    /// Files outside the project that the user has approved.
    pub approved: ApprovedPaths,
}

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
