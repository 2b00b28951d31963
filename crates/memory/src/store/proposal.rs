//! A change that waits for the user's decision.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::change_origin::ChangeOrigin;
use super::content::ContentHash;
use crate::names::MemoryFile;

/// Number of a proposal in the inbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProposalId(pub u64);

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A change that has not been made yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Author, reason and source messages.
    pub by: ChangeOrigin,
    /// The files to change.
    pub files: Vec<ProposedFile>,
}

/// One file of a proposal: the two texts are its diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedFile {
    /// File of the memory.
    pub file: MemoryFile,
    /// Text at the time of the proposal; `None` if the file did not exist.
    pub before: Option<String>,
    /// Hash of that text.
    pub expected: Option<ContentHash>,
    /// Proposed text; `None` to remove the file.
    pub after: Option<String>,
}
