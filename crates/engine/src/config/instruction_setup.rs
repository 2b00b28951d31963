//! Where the instruction files of a session are.

use dormouse_instructions::{ApprovedPaths, InstructionRoots};

/// Where instruction files are found.
#[derive(Debug, Clone)]
pub struct InstructionSetup {
    /// The folders to search.
    pub roots: InstructionRoots,
    /// Files outside the project that the user has approved.
    pub approved: ApprovedPaths,
}
