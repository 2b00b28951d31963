//! `MEMORY.md` as a session gets it, ranked by usage (M-6).

use std::collections::BTreeMap;

use dormouse_base::FileError;
use jiff::{SignedDuration, Timestamp};

use super::error::ChangeError;
use super::store::Store;
use super::usage_counts::MemoryUsage;
use crate::index::{self, IndexLimits, LoadPriority, LoadedIndex};
use crate::scan::{Scan, Scanned};

/// Memories written or recalled within this time are loaded first.
const RECENT: SignedDuration = SignedDuration::from_hours(30 * 24);

impl Store {
    /// The index as a session gets it: pinned, recently written and recently recalled memories first. Memories are
    /// scanned only if not all of it fits, so that a session starts without a scan.
    pub fn loaded_index(
        &self,
        limits: IndexLimits,
        scan: impl FnOnce() -> Result<Scan, FileError>,
    ) -> Result<LoadedIndex, ChangeError> {
        let text = self.index_text()?;
        if !index::fill(&text).is_over(limits) {
            return Ok(index::load(&text, limits, |_| LoadPriority::Rest));
        }
        let scan = scan()?;
        let since =
            self.context.options.clock.now().saturating_sub(RECENT).unwrap_or(Timestamp::MIN);
        let memories: BTreeMap<&str, &Scanned> =
            scan.memories.iter().map(|memory| (memory.file.as_str(), memory.as_ref())).collect();
        let is_used = |uses: MemoryUsage| uses.last >= Some(since) && !uses.never_helped();
        Ok(index::load(&text, limits, |file| {
            let Some(memory) = memories.get(file) else { return LoadPriority::Rest };
            if memory.header.pinned {
                LoadPriority::Pinned
            } else if self.is_written_since(memory, since) {
                LoadPriority::Written
            } else if self.usage().of(file).is_some_and(is_used) {
                LoadPriority::Recalled
            } else {
                LoadPriority::Rest
            }
        }))
    }

    /// A file with an old modification time was not written since: most need no lookup in the history.
    fn is_written_since(&self, memory: &Scanned, since: Timestamp) -> bool {
        let stated = memory.header.modified.is_some_and(|modified| modified >= since);
        (stated || memory.modified >= since) && self.changed_at(memory) >= since
    }
}
