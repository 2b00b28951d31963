//! Why a memory was not written in a session.

use dormouse_base::FileError;
use dormouse_frontmatter::FrontmatterEditError;
use dormouse_memory::{ChangeError, LookupError};
use dormouse_provenance::ProvenanceError;
use thiserror::Error;

/// Why a memory was not written or found. The model reads it.
#[derive(Debug, Error)]
pub enum SessionMemoryError {
    /// The store refused the change.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// A file could not be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// No such memory or scope.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// A memory that is to be replaced was not found.
    #[error("`supersedes`: {0}; leave out `supersedes` if nothing is replaced")]
    Superseded(#[source] LookupError),
    /// The memory's words have no acceptable source.
    #[error(transparent)]
    Provenance(#[from] ProvenanceError),
    /// The frontmatter of the memory cannot be edited.
    #[error(transparent)]
    Frontmatter(#[from] FrontmatterEditError),
    /// The user was asked.
    #[error("the user does not want this change of memory{}", reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default())]
    Rejected {
        /// What the user said about it.
        reason: Option<String>,
    },
}
