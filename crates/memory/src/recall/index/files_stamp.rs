//! Modification times and sizes of the index files: tells whether another process has written them.

use std::time::SystemTime;

use dormouse_base::{Dir, RelPath};

/// Name of the file of the base segment.
pub(super) const BASE: &str = "base";
/// Name of the file of the delta.
pub(super) const DELTA: &str = "delta";

/// Modification time and size of both segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct IndexFilesStamp {
    base: (SystemTime, u64),
    delta: (SystemTime, u64),
}

impl IndexFilesStamp {
    pub(super) fn of(cache: &Dir) -> Option<Self> {
        let of = |name| {
            let entry = cache.entry(&RelPath::new(name).ok()?).ok()?;
            Some((entry.modified, entry.size))
        };
        Some(Self { base: of(BASE)?, delta: of(DELTA)? })
    }
}
