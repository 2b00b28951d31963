//! How often a memory was recalled and when last: small files in the state folder, and the loaded index,
//! which ranks by them (M-6).

use std::collections::BTreeMap;

use dormouse_base::{Durability, FileError, Lock, RelPath, Replacement};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{ChangeError, Store, WAIT, name};
use crate::index::{self, Loaded, Rank};
use crate::{MemoryFile, Scan, Scanned};

/// What was written or recalled within this time ranks higher.
const RECENT: SignedDuration = SignedDuration::from_hours(30 * 24);

/// How a memory has been used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uses {
    /// How often it was recalled.
    pub recalled: u64,
    /// When last.
    pub last: Timestamp,
}

fn path_of(file: &str) -> RelPath {
    let key: String = blake3::hash(file.as_bytes()).to_hex().chars().take(32).collect();
    name(&format!("uses/{key}"))
}

impl Store {
    /// Counts memories that were recalled just now.
    pub fn note_recalled(&self, files: &[MemoryFile]) -> Result<(), ChangeError> {
        let _lock = Lock::take_within(&self.state, &name("uses.lock"), WAIT)?;
        let last = self.options.clock.now();
        for file in files {
            let recalled = self.uses(file.as_str()).map_or(0, |uses| uses.recalled) + 1;
            // A struct of two numbers has no way to fail to serialise.
            let text = serde_json::to_vec(&Uses { recalled, last }).unwrap_or_default();
            let hasty = Replacement { durability: Durability::Later, ..Replacement::of(&text) };
            self.state.replace_with(&path_of(file.as_str()), &hasty)?;
        }
        Ok(())
    }

    /// How a memory has been used; none if it never was.
    pub fn uses(&self, file: &str) -> Option<Uses> {
        // Counts that can not be read are as good as none.
        serde_json::from_slice(&self.state.read(&path_of(file)).ok()?).ok()
    }

    /// The index as a session gets it: pinned, recently written and recently recalled memories first.
    /// The memories are scanned only where not all of it fits: a session begins without that.
    pub fn loaded_index(
        &self,
        scan: impl FnOnce() -> Result<Scan, FileError>,
    ) -> Result<Loaded, ChangeError> {
        let text = self.index_text()?;
        if !index::fill(&text).is_over() {
            return Ok(index::load(&text, |_| Rank::Rest));
        }
        let scan = scan()?;
        let since = self.options.clock.now().saturating_sub(RECENT).unwrap_or(Timestamp::MIN);
        let memories: BTreeMap<&str, &Scanned> =
            scan.memories.iter().map(|memory| (memory.file.as_str(), memory.as_ref())).collect();
        Ok(index::load(&text, |file| {
            let Some(memory) = memories.get(file) else { return Rank::Rest };
            if memory.header.pinned {
                Rank::Pinned
            } else if self.is_written_since(memory, since) {
                Rank::Written
            } else if self.uses(file).is_some_and(|uses| uses.last >= since) {
                Rank::Recalled
            } else {
                Rank::Rest
            }
        }))
    }

    /// A file that was not touched since was not written either: most need no look into the history.
    fn is_written_since(&self, memory: &Scanned, since: Timestamp) -> bool {
        let stated = memory.header.modified.is_some_and(|modified| modified >= since);
        (stated || memory.modified >= since) && self.changed_at(memory) >= since
    }
}
