//! Which memories agents have changed since the last turn was counted, and which memory a path is.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_memory::{Author, Effect, MemoryFile, Proposal, ProposalId, Receipt, Store};

use super::SessionMemory;

/// The files of memories that were changed. The conversation and the work beside it share it.
#[derive(Debug, Default)]
pub(super) struct ChangedMemories(Mutex<HashSet<PathBuf>>);

impl ChangedMemories {
    fn add(&self, path: PathBuf) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(path);
    }

    pub(super) fn take(&self) -> HashSet<PathBuf> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl SessionMemory {
    /// A memory has been changed because of what was said, or is to be: by the model or by the extraction behind it.
    /// Whoever tidies up corrects nobody.
    fn note_update(&self, store: &Store, file: &MemoryFile) {
        let author = self.witness.as_ref().map_or(Author::Model, |witness| witness.author());
        if matches!(author, Author::Model | Author::Extraction) {
            self.updates.add(store.dir().path().join(file.as_str()));
        }
    }

    /// A change was made.
    pub(super) fn note_receipt(&self, store: &Store, receipt: &Receipt) {
        for (file, _) in receipt.files.iter().filter(|(_, effect)| *effect == Effect::Changed) {
            self.note_update(store, file);
        }
    }

    /// What a change that waits would do.
    fn note_proposal(&self, store: &Store, proposal: &Proposal) {
        let changes = proposal.files.iter().filter(|file| file.before.is_some());
        for proposed in changes.filter(|file| file.after.is_some()) {
            self.note_update(store, &proposed.file);
        }
    }

    /// The same for one that is in the inbox.
    pub(super) fn note_waiting(&self, store: &Store, id: ProposalId) {
        // An inbox that can not be read costs a count.
        let waiting = store.inbox().unwrap_or_default();
        for (_, _, proposal) in waiting.iter().filter(|(of, ..)| *of == id) {
            self.note_proposal(store, proposal);
        }
    }

    /// The files of the memories that were changed since this was last asked.
    pub(crate) fn take_updates(&self) -> HashSet<PathBuf> {
        self.updates.take()
    }

    /// The memory that a path is the file of.
    pub(crate) fn memory_at(&self, path: &Path) -> Option<(Arc<Store>, MemoryFile)> {
        let within = |store: &Arc<Store>| {
            let rest = path.strip_prefix(store.dir().path()).ok()?.to_str()?;
            Some((Arc::clone(store), MemoryFile::existing(rest).ok()?))
        };
        // The team's directory is inside the project's: the longest counts.
        let found = self.stores().iter().filter_map(within);
        found.min_by_key(|(_, file)| file.as_str().len())
    }
}
