//! Who may write a file, and through what: a question that Write and Edit ask before they look at it.
//!
//! Invariant: the answer is asked for the path as the model named it and for the place it really leads
//! to, so that a link is no way around.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// How a file is written.
#[derive(Debug, Clone)]
pub enum FileRoute {
    /// As any other.
    Plain,
    /// Not at all; why, for the model to read.
    Refused(String),
    /// Through a door of its own.
    Through(Arc<dyn FileWriter>),
}

/// What became of a write through a door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileWriteOutcome {
    /// It is done. The file may say more than was written.
    Written,
    /// It waits for the person; what the model is told.
    Waits(String),
}

/// Writes one file in its own way.
pub trait FileWriter: Send + Sync {
    /// Puts `after` in the place of `before` (none: a new file), or says why not, for the model to read.
    fn write(&self, before: Option<&[u8]>, after: &[u8]) -> Result<FileWriteOutcome, String>;
}

impl fmt::Debug for dyn FileWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileDoor")
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
