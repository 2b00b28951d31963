//! Write and Edit on a file in a memory directory are memory writes (M-13).

use std::path::Path;
use std::sync::Arc;

use dormouse_memory::{ContentHash, INDEX, MemoryFile, Saving, Store};
use dormouse_tools::{FileDoor, FileGuard, Passed, Route};

use super::session_memory::{MemoryWriteResult, SessionMemory};

/// Sends what leads into a memory directory through its door.
pub(crate) struct MemoryFileGuard(pub(crate) Arc<SessionMemory>);

impl FileGuard for MemoryFileGuard {
    fn route(&self, path: &Path) -> Route {
        let Some((store, rest)) = self.0.store_of(path) else { return Route::Plain };
        if self.0.saving() == Saving::DailyLog {
            return Route::Refused(
                "memory is kept as a daily log, of which entries are made later; add to it with MemoryLog"
                    .to_owned(),
            );
        }
        let Some(name) = rest.to_str().filter(|name| !name.is_empty()) else {
            return Route::Refused("a memory's file name is UTF-8 text".to_owned());
        };
        let to = if name == INDEX {
            To::Index
        } else {
            match MemoryFile::new(name) {
                Ok(file) => To::Memory(file),
                Err(error) => return Route::Refused(error.to_string()),
            }
        };
        let (access, store) = (Arc::clone(&self.0), Arc::clone(store));
        Route::Through(Arc::new(MemoryFileRoute { access, store, to }))
    }
}

enum To {
    Index,
    Memory(MemoryFile),
}

struct MemoryFileRoute {
    access: Arc<SessionMemory>,
    store: Arc<Store>,
    to: To,
}

impl FileDoor for MemoryFileRoute {
    fn write(&self, before: Option<&[u8]>, after: &[u8]) -> Result<Passed, String> {
        let before = before.map(ContentHash::of);
        let done = match &self.to {
            To::Index => {
                let text = std::str::from_utf8(after).map_err(|_| "the index is UTF-8 text")?;
                self.access.write_index(&self.store, before, text)?
            }
            To::Memory(file) => {
                self.access.write(&self.store, file, before, after, "written as a file")?
            }
        };
        Ok(match done {
            MemoryWriteResult::Written(_) => Passed::Written,
            MemoryWriteResult::Proposed(id) => Passed::Waits(super::tools::proposed(id)),
        })
    }
}
