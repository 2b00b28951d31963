//! A copy of the memories, as they are at one moment.

use std::collections::BTreeMap;

use dormouse_base::{Dir, Durability, Replacement};

use super::{ChangeError, ContentHash, Store, StoreOptions, disk, name};
use crate::{INDEX, MemoryFile, ScanCache};

impl Store {
    /// The state folder.
    pub(crate) fn state_dir(&self) -> &Dir {
        &self.state
    }

    pub(crate) fn options(&self) -> &StoreOptions {
        &self.options
    }

    /// Copies all memories that can be read, but for those in quarantine, and the index; says what each is. Nobody
    /// changes anything meanwhile.
    pub(crate) fn copy_to(
        &self,
        folder: &Dir,
    ) -> Result<BTreeMap<MemoryFile, ContentHash>, ChangeError> {
        let _unchanged = self.lock()?;
        let mut copied = BTreeMap::new();
        let scan = self.scan(&mut ScanCache::default())?;
        for memory in scan.memories.iter().filter(|memory| !memory.header.quarantined) {
            let path = memory.file.path();
            let Ok(Some(current)) = disk::read(&self.memory, path) else { continue };
            let copy = Replacement {
                content: &current.bytes,
                modified: Some(current.modified.into()),
                durability: Durability::Unsynced,
            };
            folder.replace_with(path, &copy)?;
            copied.insert(memory.file.clone(), current.hash);
        }
        if let Some(index) = disk::read(&self.memory, &name(INDEX))? {
            let copy =
                Replacement { durability: Durability::Unsynced, ..Replacement::new(&index.bytes) };
            folder.replace_with(&name(INDEX), &copy)?;
        }
        Ok(copied)
    }
}
