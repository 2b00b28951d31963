//! Who may write a file: a question that Write and Edit ask before they look at it.
//!
//! Invariant: the answer is asked for the path as the model named it and for the place it really leads
//! to, so that a link is no way around.

use std::fmt;
use std::path::Path;

/// Decides whether a file may be written.
pub trait FileGuard: Send + Sync {
    /// Whether this absolute path may be written; if not, why, for the model to read.
    fn may_write(&self, path: &Path) -> Result<(), String>;
}

impl fmt::Debug for dyn FileGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileGuard")
    }
}
