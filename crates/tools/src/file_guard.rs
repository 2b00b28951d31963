//! Which files Write and Edit may change, and how. They ask before they look at a file.
//!
//! Invariant: the guard is asked about the path as the model named it and about where it really leads, so that a link
//! does not get around it.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use thiserror::Error;

/// How a file is written.
#[derive(Debug, Clone)]
pub enum FileRoute {
    /// Like any other file.
    Plain,
    /// Not at all; the reason is for the model.
    Refused(String),
    /// By a writer of its own, as memories are.
    Through(Arc<dyn FileWriter>),
}

/// The outcome of a write by a [`FileWriter`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileWriteOutcome {
    /// Written. The file may contain more than was written.
    Written,
    /// Waits for the user's confirmation; the text is for the model.
    Waits(String),
}

/// Why a [`FileWriter`] did not write. The text is for the model.
#[derive(Debug, Error)]
pub enum FileWriteError {
    /// The content has to be text.
    #[error("{0} must be UTF-8 text")]
    NotText(&'static str),
    /// The store behind the file refused it.
    #[error(transparent)]
    Store(Box<dyn std::error::Error + Send + Sync>),
}

/// Writes one file in its own way.
pub trait FileWriter: Send + Sync {
    /// Replaces `before` (none: a new file) by `after`.
    fn write(
        &self,
        before: Option<&[u8]>,
        after: &[u8],
    ) -> Result<FileWriteOutcome, FileWriteError>;
}

impl fmt::Debug for dyn FileWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileWriter")
    }
}

/// Decides how a file may be written.
pub trait FileGuard: Send + Sync {
    /// How this absolute path is written.
    fn route(&self, path: &Path) -> FileRoute;
}

impl fmt::Debug for dyn FileGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileGuard")
    }
}
