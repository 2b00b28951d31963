//! A long `MEMORY.md` that gets a line at its end: read once, block by block, and never held: the only part of a save that
//! takes longer the more memories there are.

use std::fs::File;
use std::io::{self, Read};

use dormouse_base::{Dir, FileAction, FileError};

use super::content::{ContentHasher, Splice};
use super::disk_file::MAX_BYTES;
use super::error::ChangeError;
use super::fixed_path::name;
use super::journal::IndexChange;
use crate::index::{IndexLink, LineAtEnd};
use crate::names::INDEX;

/// A longer index is not replaced for a line at its end.
const LONG_INDEX: u64 = 64 * 1024;
/// Fits into the processor's cache together with what is looked up in it.
const BLOCK: usize = 128 * 1024;

/// The change of a long index that adds a line at its end.
#[derive(Debug)]
pub(super) struct ExtendedIndex(IndexChange);

impl ExtendedIndex {
    /// The change as the journal records it.
    pub(super) fn change(&self) -> &IndexChange {
        &self.0
    }

    pub(super) fn line(&self) -> &str {
        &self.0.splice.inserted
    }

    /// Number of bytes before the change.
    pub(super) fn length(&self) -> u64 {
        self.0.splice.at as u64
    }

    /// Number of bytes after it.
    pub(super) fn new_length(&self) -> u64 {
        self.length() + self.line().len() as u64
    }
}

/// The long index with a line for this memory at its end; `None` if it is short, or each line has to be looked at.
pub(super) fn extended(
    memory: &Dir,
    link: &IndexLink,
) -> Result<Option<ExtendedIndex>, ChangeError> {
    // What cannot be opened or is no plain file is reported by whoever reads it whole.
    let Ok(file) = memory.open_file(&name(INDEX)) else { return Ok(None) };
    let is_long = file.metadata().is_ok_and(|metadata| {
        metadata.is_file() && (LONG_INDEX..=MAX_BYTES).contains(&metadata.len())
    });
    if !is_long {
        return Ok(None);
    }
    let fail = |error| FileError::new(FileAction::Read, memory.path().join(INDEX), error);
    Ok(survey(file, link).map_err(fail)?)
}

fn survey(mut file: File, link: &IndexLink) -> io::Result<Option<ExtendedIndex>> {
    let mut hasher = ContentHasher::default();
    let mut search = LineAtEnd::new(link);
    let mut length = 0;
    let mut block = vec![0; BLOCK];
    // Bytes at the beginning of the block: the first part of a line.
    let mut kept = 0;
    loop {
        if kept == block.len() {
            block.resize(block.len() * 2, 0);
        }
        let read = match file.read(block.get_mut(kept..).unwrap_or_default()) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let filled = block.get(..kept + read).unwrap_or_default();
        let whole = match memchr::memrchr(b'\n', filled) {
            _ if read == 0 => filled.len(),
            Some(at) => at + 1,
            None => 0,
        };
        let lines = filled.get(..whole).unwrap_or_default();
        let Ok(text) = std::str::from_utf8(lines) else { return Ok(None) };
        hasher.add(lines);
        search.see(text);
        length += whole;
        kept = filled.len() - whole;
        if read == 0 {
            break;
        }
        block.copy_within(whole..whole + kept, 0);
    }
    let Some(line) = search.line() else { return Ok(None) };
    let before = Some(hasher.hash());
    hasher.add(line.as_bytes());
    let splice = Splice { at: length, removed: String::new(), inserted: line };
    Ok(Some(ExtendedIndex(IndexChange { before, after: Some(hasher.hash()), splice })))
}
