//! Why a request of another agent failed.

use dormouse_base::FileError;
use dormouse_memory::{ChangeError, LookupError};
use thiserror::Error;

/// Why a request of another agent failed. The agent's model reads it.
#[derive(Debug, Error)]
pub enum MemoryRequestError {
    /// The store refused the change.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// A directory cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// No such memory or scope.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The client has made no change that can be undone.
    #[error("there is no change of yours to undo; only the user can undo the changes of others")]
    NothingToUndo,
}
