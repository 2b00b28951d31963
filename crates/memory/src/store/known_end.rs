//! What a store keeps of a long index from one save to the next: two small files in the state folder.
//!
//! They are a cache, trusted only if the index has the length and the time that our last addition gave it. That time is
//! between two ticks of the file system's clock: a later change by another program gives another one.

use std::time::SystemTime;

use dormouse_base::{Dir, FileError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::fixed_path::name;
use super::growing_hash::GrowingHash;
use crate::index::{IndexEnd, LineEnd, LinkHash};

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
    /// Sum of the links and of the hash: after a power failure a part of them may be missing.
    sum: u64,
    hash: GrowingHash,
}

/// The file is filled up with blanks to this length, so that it can be written in place: the numbers in it vary.
const KNOWN_LENGTH: usize = 2048;

impl KnownEnd {
    /// What is kept of the index with this length and time.
    pub(super) fn read(state: &Dir, length: u64, modified: SystemTime) -> Option<Self> {
        // Unreadable files count as missing: then the index is read.
        let known: Known = serde_json::from_slice(&state.read(&name(KNOWN)).ok()?).ok()?;
        if (known.length, SystemTime::from(known.modified)) != (length, modified) {
            return None;
        }
        let bytes = state.read(&name(LINKS)).ok()?;
        let (links, []) = bytes.as_chunks() else { return None };
        let links: Vec<LinkHash> = links.iter().copied().map(LinkHash::from_bytes).collect();
        let lines = IndexEnd { line_end: known.line_end, links };
        let end = Self { lines, hash: known.hash, is_kept: true };
        (end.sum() == known.sum && end.hash.fits(length)).then_some(end)
    }

    /// Keeps it for the next save: the index has this length, and got this time.
    pub(super) fn keep(
        &self,
        state: &Dir,
        length: u64,
        modified: SystemTime,
    ) -> Result<(), FileError> {
        // No file is from a year that has no timestamp.
        let Ok(modified) = Timestamp::try_from(modified) else { return Ok(()) };
        self.keep_links(state)?;
        let line_end = self.lines.line_end;
        let known = Known { length, modified, line_end, sum: self.sum(), hash: self.hash.clone() };
        // Numbers always serialize.
        let mut bytes = serde_json::to_vec(&known).unwrap_or_default();
        bytes.resize(bytes.len().max(KNOWN_LENGTH), b' ');
        state.write_cache(&name(KNOWN), &bytes)
    }

    fn keep_links(&self, state: &Dir) -> Result<(), FileError> {
        let links = &self.lines.links;
        if let (true, Some((last, others))) = (self.is_kept, links.split_last())
            && state.extend_cache(&name(LINKS), length_of(others), &last.to_bytes())
        {
            return Ok(());
        }
        let bytes: Vec<u8> = links.iter().flat_map(|link| link.to_bytes()).collect();
        state.write_cache(&name(LINKS), &bytes)
    }

    fn sum(&self) -> u64 {
        let links = self.lines.links.iter();
        let links = links.map(|link| u64::from(u32::from_le_bytes(link.to_bytes())));
        links.sum::<u64>() + self.hash.sum()
    }
}

fn length_of(links: &[LinkHash]) -> u64 {
    (links.len() * LinkHash::LENGTH) as u64
}
