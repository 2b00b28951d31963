//! The list of memories that were recalled often and never helped: one file, so that a ranking reads all of them at once.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use dormouse_base::Dir;

use super::fixed_path::name;

/// Name of the list, one file name per line.
pub(super) const NEVER_HELPED: &str = "uses.never-helped";

/// The list as last read.
#[derive(Debug, Default)]
pub(super) struct NeverHelpedCache(Mutex<Option<KnownList>>);

#[derive(Debug)]
struct KnownList {
    modified: SystemTime,
    size: u64,
    files: Arc<BTreeSet<String>>,
}

impl NeverHelpedCache {
    /// The files of the memories that never helped; reads the list only if it has changed.
    pub(super) fn files(&self, state: &Dir) -> Arc<BTreeSet<String>> {
        let path = name(NEVER_HELPED);
        let Ok(entry) = state.entry(&path) else { return Arc::default() };
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same =
            |known: &&KnownList| known.modified == entry.modified && known.size == entry.size;
        if let Some(known) = known.as_ref().filter(same) {
            return Arc::clone(&known.files);
        }
        // An unreadable list counts as empty.
        let bytes = state.read(&path).unwrap_or_default();
        let lines = String::from_utf8_lossy(&bytes);
        let files: Arc<BTreeSet<String>> = Arc::new(lines.lines().map(str::to_owned).collect());
        let (modified, size) = (entry.modified, entry.size);
        *known = Some(KnownList { modified, size, files: Arc::clone(&files) });
        files
    }
}
