//! Hooks are notified of memories that the model and background tasks write.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use dormouse_memory::{ChangeAuthor, ChangeKind, MemoryFile, ProposalId, Store};

use dormouse_hooks::{HookRunner, MemorySavedEvent, SavedMemory};

/// The hooks of the session that memory belongs to, as long as it lasts.
#[derive(Debug, Default)]
pub(super) struct MemoryHooks(Mutex<Weak<HookRunner>>);

impl MemoryHooks {
    fn runner(&self) -> Option<Arc<HookRunner>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }

    /// Notifies these hooks from now on. A subagent's hooks do not replace those of the session it shares memory with.
    pub(super) fn set(&self, hooks: Option<&Arc<HookRunner>>) {
        let of_session = self.runner().is_some_and(|hooks| !hooks.is_subagent());
        if of_session && hooks.is_some_and(|hooks| hooks.is_subagent()) {
            return;
        }
        let hooks = hooks.map(Arc::downgrade).unwrap_or_default();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = hooks;
    }

    /// A change was made.
    pub(super) fn notify_change(
        &self,
        store: &Store,
        author: &ChangeAuthor,
        files: &[(MemoryFile, ChangeKind)],
    ) {
        let memory = |(file, effect): &(MemoryFile, ChangeKind)| {
            let effect = match effect {
                ChangeKind::Added => "added",
                ChangeKind::Changed => "changed",
                ChangeKind::Removed => "removed",
            };
            SavedMemory { memory: file.to_string(), file_path: path(store, file), effect }
        };
        let memories: Vec<SavedMemory> = files.iter().map(memory).collect();
        self.notify(store, author, &memories, None);
    }

    /// A change waits in the inbox.
    pub(super) fn notify_proposal(&self, store: &Store, author: &ChangeAuthor, id: ProposalId) {
        if self.runner().is_none() {
            return;
        }
        // Without a readable inbox, the hooks get the proposal without its files.
        let waiting = store.inbox().list().unwrap_or_default();
        let proposed = waiting.iter().filter(|(of, ..)| *of == id);
        let memories: Vec<SavedMemory> = proposed
            .flat_map(|(_, _, proposal)| &proposal.files)
            .map(|proposed| SavedMemory {
                memory: proposed.file.to_string(),
                file_path: path(store, &proposed.file),
                effect: "proposed",
            })
            .collect();
        self.notify(store, author, &memories, Some(&id.to_string()));
    }

    fn notify(
        &self,
        store: &Store,
        author: &ChangeAuthor,
        memories: &[SavedMemory],
        proposal: Option<&str>,
    ) {
        let Some(hooks) = self.runner() else { return };
        let scope = store.scope().to_string();
        let author = author.to_string();
        hooks.memory_saved(&MemorySavedEvent {
            scope: &scope,
            author: &author,
            memories,
            proposal,
        });
    }
}

fn path(store: &Store, file: &MemoryFile) -> PathBuf {
    store.dir().path().join(file.as_str())
}
