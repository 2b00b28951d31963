//! Whoever says what a memory rests on that is written beside a conversation (M-17, B-9): the program looks,
//! and does not take the writer's word for it.

use dormouse_memory::{Author, MemoryFile, MessageSource, NewMemory, Scope};

/// A memory that somebody wants to save.
#[derive(Debug, Clone)]
pub struct Wanted<'a> {
    /// Where.
    pub scope: Scope,
    /// What it is to say.
    pub memory: &'a NewMemory,
    /// The file that is to say it, where there is one already.
    pub file: Option<&'a MemoryFile>,
    /// The memories that it takes the place of.
    pub supersedes: &'a [MemoryFile],
    /// The words that it is said to rest on.
    pub quotes: &'a [String],
}

/// Vouches for what is written, or does not.
pub trait Witness: Send + Sync {
    /// Who writes.
    fn author(&self) -> Author;

    /// The messages that a memory comes from; or why it is not saved, for the model to read.
    fn sources(&self, wanted: &Wanted<'_>) -> Result<Vec<MessageSource>, String>;

    /// A memory was saved, or waits for the person's word.
    fn saved(&self, _wanted: &Wanted<'_>) {}

    /// Whether a memory may go, for this reason; or why not.
    fn may_remove(
        &self,
        scope: Scope,
        file: &MemoryFile,
        reason: Option<&str>,
    ) -> Result<(), String>;

    /// A memory was not saved in a draft, or not removed from it.
    fn has_refused(&self, _name: &str, _why: &str) {}

    /// A memory of a draft was saved or removed.
    fn has_changed(&self, _scope: Scope, _file: &MemoryFile) {}
}
