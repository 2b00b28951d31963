//! What the user is to be told about memory, and which changes were made.

use std::sync::{Mutex, PoisonError};

use dormouse_memory::{ChangeKind, MemoryFile, ProposalId, Scope};

/// A change that was made, or waits in the inbox.
#[derive(Debug, Clone)]
pub struct WrittenChange {
    /// The scope of the memory directory.
    pub scope: Scope,
    /// The files, with what happened to each; none where the change waits.
    pub files: Vec<(MemoryFile, ChangeKind)>,
    /// Its number in the inbox.
    pub proposal: Option<ProposalId>,
}

/// Notices and changes since they were last taken.
#[derive(Debug, Default)]
pub struct MemoryNotices(Mutex<Pending>);

#[derive(Debug, Default)]
struct Pending {
    notices: Vec<String>,
    written: Vec<WrittenChange>,
}

impl MemoryNotices {
    fn with<T>(&self, run: impl FnOnce(&mut Pending) -> T) -> T {
        run(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds a notice for the user.
    pub fn add(&self, notice: String) {
        self.with(|pending| pending.notices.push(notice));
    }

    /// Takes the notices.
    pub fn take(&self) -> Vec<String> {
        self.with(|pending| std::mem::take(&mut pending.notices))
    }

    pub(super) fn add_written(&self, change: WrittenChange) {
        self.with(|pending| pending.written.push(change));
    }

    /// Takes the changes, oldest first.
    pub fn take_written(&self) -> Vec<WrittenChange> {
        self.with(|pending| std::mem::take(&mut pending.written))
    }

    pub(super) fn clear(&self) {
        self.with(|pending| *pending = Pending::default());
    }
}
