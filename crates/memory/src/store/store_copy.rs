//! A consistent copy of the memories.

use std::collections::BTreeMap;

use dormouse_base::{Dir, Durability, Replacement};

use super::content::ContentHash;
use super::disk_file;
use super::error::ChangeError;
use super::fixed_path::name;
use super::locked::Locked;
use super::options::StoreOptions;
use super::store::Store;
use crate::names::{INDEX, MemoryFile};
use crate::scan::ScanCache;

impl Store {
    /// The state folder.
    pub(crate) fn state_dir(&self) -> &Dir {
        &self.context.state
    }

    pub(crate) fn options(&self) -> &StoreOptions {
        &self.context.options
    }

    /// Copies all readable memories that are not in quarantine, and the index, under the lock. Returns the content of
    /// each memory.
    pub(crate) fn copy_to(
        &self,
        folder: &Dir,
    ) -> Result<BTreeMap<MemoryFile, ContentHash>, ChangeError> {
        let _unchanged = Locked::acquire(&self.context)?;
        let mut copied = BTreeMap::new();
        let scan = self.scan(&mut ScanCache::default())?;
        for memory in scan.memories.iter().filter(|memory| !memory.header.quarantined) {
            let path = memory.file.path();
            let Ok(Some(current)) = disk_file::read(&self.context.memory, path) else {
                continue;
            };
            let copy = Replacement {
                content: &current.bytes,
                modified: Some(current.modified.into()),
                durability: Durability::Unsynced,
            };
            folder.replace_with(path, &copy)?;
            copied.insert(memory.file.clone(), current.hash);
        }
        if let Some(index) = disk_file::read(&self.context.memory, &name(INDEX))? {
            let copy =
                Replacement { durability: Durability::Unsynced, ..Replacement::new(&index.bytes) };
            folder.replace_with(&name(INDEX), &copy)?;
        }
        Ok(copied)
    }
}
