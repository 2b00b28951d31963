//! Hooks hear of what is written to memory, by the model and by the work beside it.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use dormouse_memory::{Author, Effect, MemoryFile, ProposalId, Store};

use super::session_memory::MemoryWriteResult;
use super::{SessionMemory, Written};
use crate::hooks::{HookRunner, Saved, SavedMemory};

/// The hooks of the session that memory belongs to now, as long as that lasts.
#[derive(Debug, Default)]
pub(super) struct MemoryHooks(Mutex<Weak<HookRunner>>);

impl MemoryHooks {
    fn hooks(&self) -> Option<Arc<HookRunner>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }
}

impl SessionMemory {
    /// From now on these hooks hear of what is written. An agent's hear of its own memory, and leave the session's to
    /// the session.
    pub(crate) fn set_hooks(&self, hooks: Option<&Arc<HookRunner>>) {
        let of_session = self.ears.hooks().is_some_and(|hooks| !hooks.is_of_agent());
        if of_session && hooks.is_some_and(|hooks| hooks.is_of_agent()) {
            return;
        }
        let hooks = hooks.map(Arc::downgrade).unwrap_or_default();
        *self.ears.0.lock().unwrap_or_else(PoisonError::into_inner) = hooks;
    }

    /// A change was made.
    pub(super) fn tell_hooks(&self, store: &Store, files: &[(MemoryFile, Effect)]) {
        let memories: Vec<SavedMemory> = files
            .iter()
            .map(|(file, effect)| SavedMemory {
                memory: file.to_string(),
                file_path: path(store, file),
                effect: match effect {
                    Effect::Added => "added",
                    Effect::Changed => "changed",
                    Effect::Removed => "removed",
                },
            })
            .collect();
        self.ring(store, &memories, None);
    }

    /// A change waits for the person.
    pub(super) fn waits(&self, store: &Store, id: ProposalId) -> MemoryWriteResult {
        self.note_waiting(store, id);
        let waits = Written { scope: store.scope(), files: Vec::new(), waits: Some(id) };
        self.heard().written.push(waits);
        self.tell_hooks_of_proposal(store, id);
        MemoryWriteResult::Proposed(id)
    }

    fn tell_hooks_of_proposal(&self, store: &Store, id: ProposalId) {
        if self.ears.hooks().is_none() {
            return;
        }
        // An inbox that can not be read names no files; the proposal is told all the same.
        let waiting = store.inbox().unwrap_or_default();
        let proposed = waiting.iter().filter(|(of, ..)| *of == id);
        let memories: Vec<SavedMemory> = proposed
            .flat_map(|(_, _, proposal)| &proposal.files)
            .map(|proposed| SavedMemory {
                memory: proposed.file.to_string(),
                file_path: path(store, &proposed.file),
                effect: "proposed",
            })
            .collect();
        self.ring(store, &memories, Some(&id.to_string()));
    }

    fn ring(&self, store: &Store, memories: &[SavedMemory], proposal: Option<&str>) {
        let Some(hooks) = self.ears.hooks() else { return };
        let author = self.witness.as_ref().map_or(Author::Model, |witness| witness.author());
        let (scope, author) = (store.scope().to_string(), author.to_string());
        hooks.saved(Saved { scope: &scope, author: &author, memories, proposal });
    }
}

fn path(store: &Store, file: &MemoryFile) -> PathBuf {
    store.dir().path().join(file.as_str())
}
