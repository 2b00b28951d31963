//! Write and Edit on a file in a memory directory are memory writes (M-13).

use std::path::Path;
use std::sync::Arc;

use dormouse_memory::{ContentHash, INDEX, MemoryFile, Saving, Store};
use dormouse_tools::{FileGuard, FileRoute, FileWriteError, FileWriteOutcome, FileWriter};

use super::session_memory::SessionMemory;
use super::switch::OFF;
use super::tool_run::proposal_text;
use super::writing::MemoryWriteResult;

/// Routes writes into a memory directory through its store.
pub(crate) struct MemoryFileGuard(pub(crate) Arc<SessionMemory>);

impl FileGuard for MemoryFileGuard {
    fn route(&self, path: &Path) -> FileRoute {
        let Some((store, rest)) = self.0.memories().store_of(path) else { return FileRoute::Plain };
        if !self.0.switch.is_on() {
            return FileRoute::Refused(OFF.to_owned());
        }
        if self.0.saving() == Saving::DailyLog {
            return FileRoute::Refused(
                "memories are saved as a daily log here; add to it with MemoryLog".to_owned(),
            );
        }
        let Some(name) = rest.to_str().filter(|name| !name.is_empty()) else {
            return FileRoute::Refused("the file name of a memory must be UTF-8 text".to_owned());
        };
        let target = if name == INDEX {
            WriteTarget::Index
        } else {
            match MemoryFile::new(name) {
                Ok(file) => WriteTarget::Memory(file),
                Err(error) => return FileRoute::Refused(error.to_string()),
            }
        };
        let memory = Arc::clone(&self.0);
        let store = Arc::clone(store);
        FileRoute::Through(Arc::new(MemoryFileRoute { memory, store, target }))
    }
}

enum WriteTarget {
    Index,
    Memory(MemoryFile),
}

struct MemoryFileRoute {
    memory: Arc<SessionMemory>,
    store: Arc<Store>,
    target: WriteTarget,
}

impl FileWriter for MemoryFileRoute {
    fn write(
        &self,
        before: Option<&[u8]>,
        after: &[u8],
    ) -> Result<FileWriteOutcome, FileWriteError> {
        let before = before.map(ContentHash::of);
        let written = match &self.target {
            WriteTarget::Index => {
                let text =
                    std::str::from_utf8(after).map_err(|_| FileWriteError::NotText("the index"))?;
                self.memory.write_index(&self.store, before, text)
            }
            WriteTarget::Memory(file) => self.memory.write_file(&self.store, file, before, after),
        };
        match written.map_err(|error| FileWriteError::Store(Box::new(error)))? {
            MemoryWriteResult::Written(_) => Ok(FileWriteOutcome::Written),
            MemoryWriteResult::Proposed(id) => Ok(FileWriteOutcome::Waits(proposal_text(id))),
        }
    }
}
