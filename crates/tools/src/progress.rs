//! Who is shown what a running command prints, before its result is there.

use std::fmt;

/// Is told what a call prints while it runs.
pub trait CommandProgress: Send + Sync {
    /// More text, without secrets: pieces of lines and several lines at once, as they come. What is
    /// slow here holds the command up.
    fn printed(&self, text: &str);

    /// The id of the call, if it has one.
    fn call(&self) -> Option<&str> {
        None
    }
}

impl fmt::Debug for dyn CommandProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Progress")
    }
}
