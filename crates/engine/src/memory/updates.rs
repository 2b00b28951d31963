//! Which memories agents have changed since the last turn was counted, and which memory a path is.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_memory::{Effect, MemoryFile, Proposal, ProposalId, Receipt, Store};

use super::MemoryAccess;

impl MemoryAccess {
    /// An agent has changed a memory because of what was said, or would like to.
    pub fn note_update(&self, store: &Store, file: &MemoryFile) {
        self.heard().updates.insert(store.dir().path().join(file.as_str()));
    }

    /// A change was made.
    pub(super) fn note_receipt(&self, store: &Store, receipt: &Receipt) {
        for (file, _) in receipt.files.iter().filter(|(_, effect)| *effect == Effect::Changed) {
            self.note_update(store, file);
        }
    }

    /// A change waits for the person's word.
    pub(super) fn note_proposal(&self, store: &Store, proposal: &Proposal) {
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
        std::mem::take(&mut self.heard().updates)
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
