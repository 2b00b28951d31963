//! The memories that were changed since the last turn was counted.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use dormouse_memory::{ChangeKind, MemoryFile, ProposalId, Receipt, Store};

/// The files of changed memories. A session and its background tasks share it.
#[derive(Debug, Default)]
pub(super) struct ChangedMemories(Mutex<HashSet<PathBuf>>);

impl ChangedMemories {
    fn add(&self, store: &Store, file: &MemoryFile) {
        let path = store.dir().path().join(file.as_str());
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
    }

    /// Adds the memories that a change has altered.
    pub(super) fn add_receipt(&self, store: &Store, receipt: &Receipt) {
        for (file, _) in receipt.files.iter().filter(|(_, effect)| *effect == ChangeKind::Changed) {
            self.add(store, file);
        }
    }

    /// Adds the memories that a proposal in the inbox would alter.
    pub(super) fn add_proposal(&self, store: &Store, id: ProposalId) {
        // An inbox that cannot be read costs a count.
        let waiting = store.inbox().list().unwrap_or_default();
        let proposal = waiting.iter().filter(|(of, ..)| *of == id);
        for file in proposal.flat_map(|(_, _, proposal)| &proposal.files) {
            if file.before.is_some() && file.after.is_some() {
                self.add(store, &file.file);
            }
        }
    }

    pub(super) fn take(&self) -> HashSet<PathBuf> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
