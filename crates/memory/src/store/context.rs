//! Directories, options and caches that all parts of a store share.

use dormouse_base::Dir;

use super::last_known::LastKnownCache;
use super::never_helped::NeverHelpedCache;
use super::options::StoreOptions;

/// The memory directory, its state folder, and the options of a store.
pub(super) struct StoreContext {
    pub(super) memory: Dir,
    pub(super) state: Dir,
    pub(super) options: StoreOptions,
    pub(super) last_known: LastKnownCache,
    pub(super) never_helped: NeverHelpedCache,
}

impl StoreContext {
    /// Top-level folders that belong to other stores.
    pub(super) fn excluded_folders(&self) -> Vec<&str> {
        self.options.excluded_folders.iter().map(String::as_str).collect()
    }
}
