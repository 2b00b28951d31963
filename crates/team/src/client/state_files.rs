//! Names of files in the folder of a membership.

use dormouse_base::RelPath;

/// The state of the sync.
pub(super) const SYNC_STATE: &str = "sync.json";

/// A fixed name is always a path.
pub(super) fn path(name: &str) -> Option<RelPath> {
    RelPath::new(name).ok()
}
