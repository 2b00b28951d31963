//! What can go wrong with checkpoints.

use std::io;
use std::path::{Path, PathBuf};

use dormouse_base::{AppendError, FileError};
use thiserror::Error;

use crate::content_id::ContentId;

/// Why a checkpoint could not be made or brought back.
#[derive(Debug, Error)]
pub enum CheckpointError {
    /// A file of the store failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The log could not be written.
    #[error("the log of checkpoints could not be written: {0}")]
    Append(#[from] AppendError),
    /// A file of the user's failed.
    #[error("{}: {source}", path.display())]
    Path {
        /// The file.
        path: PathBuf,
        /// What the system answered.
        source: io::Error,
    },
    /// A kept content is not what it was.
    #[error("the kept content {0} is damaged; the file it belongs to cannot be brought back")]
    Damaged(ContentId),
    /// A line of the log or the journal cannot be written or read.
    #[error("a record of checkpoints cannot be encoded: {0}")]
    Encode(#[from] serde_json::Error),
}

impl CheckpointError {
    pub(crate) fn at(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Path { path: path.to_owned(), source: source.into() }
    }
}
