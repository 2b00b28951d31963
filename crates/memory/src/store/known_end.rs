//! What a store keeps of a long index from one save to the next: two small files in the state folder.
//!
//! They are a cache, trusted only if the index has the length and the time that our last addition gave it: to the
//! nanosecond, so that a change by another program in the same moment gives another time.

use std::fs::Metadata;

use dormouse_base::{Dir, FileError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::fixed_path::name;
use super::growing_hash::GrowingHash;
use crate::index::{IndexEnd, LineEnd, LinkHash};
use crate::names::INDEX;

const KNOWN: &str = "index.known.json";
/// A hash for each line with a link.
const LINKS: &str = "index.links";

/// The lines of a long index and its hash, without the index.
#[derive(Debug)]
pub(super) struct KnownEnd {
    pub(super) lines: IndexEnd,
    pub(super) hash: GrowingHash,
    /// Whether the state folder has all links but the last.
    pub(super) is_kept: bool,
}

/// The file beside the links.
#[derive(Debug, Serialize, Deserialize)]
struct Known {
    length: u64,
    modified: Timestamp,
    line_end: LineEnd,
    /// Sum of the links: after a power failure a part of them may be missing.
    links_sum: u64,
    hash: GrowingHash,
}

/// The file is filled up with blanks to this length, so that it can be written in place: the numbers in it vary.
const KNOWN_LENGTH: usize = 2048;

impl KnownEnd {
    /// What is kept of the index with this length and time.
    pub(super) fn read(state: &Dir, index: &Metadata) -> Option<Self> {
        // Unreadable files count as missing: then the index is read.
        let known: Known = serde_json::from_slice(&state.read(&name(KNOWN)).ok()?).ok()?;
        let modified = Timestamp::try_from(index.modified().ok()?).ok()?;
        if (known.length, known.modified) != (index.len(), modified) {
            return None;
        }
        let bytes = state.read(&name(LINKS)).ok()?;
        let (links, []) = bytes.as_chunks() else { return None };
        let links: Vec<LinkHash> = links.iter().copied().map(LinkHash::from_bytes).collect();
        let lines = IndexEnd { line_end: known.line_end, links };
        (sum(&lines.links) == known.links_sum).then_some(Self {
            lines,
            hash: known.hash,
            is_kept: true,
        })
    }

    /// Keeps it for the next save, if the index on disk has this length and time.
    pub(super) fn keep(
        &self,
        memory: &Dir,
        state: &Dir,
        length: u64,
        modified: Timestamp,
    ) -> Result<(), FileError> {
        let index = memory.entry(&name(INDEX))?;
        let on_disk = Timestamp::try_from(index.modified).ok();
        if (index.size, on_disk) != (length, Some(modified)) {
            return Ok(());
        }
        self.keep_links(state)?;
        let links_sum = sum(&self.lines.links);
        let line_end = self.lines.line_end;
        let known = Known { length, modified, line_end, links_sum, hash: self.hash.clone() };
        // Numbers always serialize.
        let mut bytes = serde_json::to_vec(&known).unwrap_or_default();
        bytes.resize(bytes.len().max(KNOWN_LENGTH), b' ');
        state.write_cache(&name(KNOWN), &bytes)
    }

    fn keep_links(&self, state: &Dir) -> Result<(), FileError> {
        let links = &self.lines.links;
        let bytes: Vec<u8> = links.iter().flat_map(|link| link.to_bytes()).collect();
        let known = bytes.len().saturating_sub(LinkHash::LENGTH);
        let last = bytes.get(known..).unwrap_or_default();
        if self.is_kept && state.extend_cache(&name(LINKS), known as u64, last)? {
            return Ok(());
        }
        state.write_cache(&name(LINKS), &bytes)
    }
}

fn sum(links: &[LinkHash]) -> u64 {
    links.iter().map(|link| u64::from(u32::from_le_bytes(link.to_bytes()))).sum()
}
