//! A long `MEMORY.md` that gets a line at its end, as fast as a short one: what has to be known of it is kept from one save
//! to the next. Only where somebody else has changed it since, it is read once more.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::time::SystemTime;

use dormouse_base::{Dir, FileAction, FileError};

use super::content::Splice;
use super::disk_file::MAX_BYTES;
use super::error::ChangeError;
use super::fixed_path::name;
use super::growing_hash::GrowingHash;
use super::journal::IndexChange;
use super::known_end::KnownEnd;
use crate::index::{IndexEnd, IndexLink};
use crate::names::INDEX;

/// A longer index is not replaced for a line at its end.
const LONG_INDEX: u64 = 64 * 1024;

/// The change of a long index that adds a line at its end.
#[derive(Debug)]
pub(super) struct ExtendedIndex {
    change: IndexChange,
    /// When the index was last changed before.
    seen: SystemTime,
    /// What is known of the index after the change.
    end: KnownEnd,
}

impl ExtendedIndex {
    /// The change as the journal records it.
    pub(super) fn change(&self) -> &IndexChange {
        &self.change
    }

    pub(super) fn line(&self) -> &str {
        &self.change.splice.inserted
    }

    pub(super) fn seen(&self) -> SystemTime {
        self.seen
    }

    /// Number of bytes before the change.
    pub(super) fn length(&self) -> u64 {
        self.change.splice.at as u64
    }

    /// Number of bytes after it.
    pub(super) fn new_length(&self) -> u64 {
        self.length() + self.line().len() as u64
    }

    /// Keeps for the next save what is known of the index, which got this time.
    pub(super) fn keep(&self, state: &Dir, modified: SystemTime) -> Result<(), FileError> {
        self.end.keep(state, self.new_length(), modified)
    }
}

/// The long index with a line for this memory at its end; `None` if it is short, or each line has to be looked at.
pub(super) fn extended(
    memory: &Dir,
    state: &Dir,
    link: &IndexLink,
) -> Result<Option<ExtendedIndex>, ChangeError> {
    // What cannot be opened or is no plain file is reported by whoever reads it whole.
    let Ok(file) = memory.open_file(&name(INDEX)) else { return Ok(None) };
    let Ok(metadata) = file.metadata() else { return Ok(None) };
    let Ok(seen) = metadata.modified() else { return Ok(None) };
    if !metadata.is_file() || !(LONG_INDEX..=MAX_BYTES).contains(&metadata.len()) {
        return Ok(None);
    }
    let fail = |error| FileError::new(FileAction::Read, memory.path().join(INDEX), error);
    let known = match KnownEnd::read(state, metadata.len(), seen) {
        Some(end) => read_rest(&file, metadata.len(), &end).map(|rest| rest.map(|it| (end, it))),
        None => survey(&file, metadata.len()),
    };
    let Some((end, rest)) = known.map_err(fail)? else { return Ok(None) };
    Ok(extend(metadata.len(), seen, end, rest, link))
}

/// `rest` are the bytes behind the hashed ones.
fn extend(
    length: u64,
    seen: SystemTime,
    mut end: KnownEnd,
    mut rest: Vec<u8>,
    link: &IndexLink,
) -> Option<ExtendedIndex> {
    let line = end.lines.add(link)?;
    let before = Some(end.hash.with_end(&rest));
    rest.extend_from_slice(line.as_bytes());
    let taken = end.hash.take(&rest);
    let after = Some(end.hash.with_end(rest.get(taken..)?));
    let at = usize::try_from(length).ok()?;
    let splice = Splice { at, removed: String::new(), inserted: line };
    Some(ExtendedIndex { change: IndexChange { before, after, splice }, seen, end })
}

/// The bytes behind the hashed ones; `None` if the index has become shorter.
fn read_rest(file: &File, length: u64, end: &KnownEnd) -> io::Result<Option<Vec<u8>>> {
    let from = end.hash.hashed();
    let missing = usize::try_from(length.saturating_sub(from)).map_err(io::Error::other)?;
    let mut rest = vec![0; missing];
    match file.read_exact_at(&mut rest, from) {
        Ok(()) => Ok(Some(rest)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads the whole index; `None` if a line cannot simply be added at its end, or it has another length by now.
fn survey(mut file: &File, length: u64) -> io::Result<Option<(KnownEnd, Vec<u8>)>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let lines = std::str::from_utf8(&bytes).ok().and_then(IndexEnd::of);
    let Some(lines) = lines.filter(|_| bytes.len() as u64 == length) else { return Ok(None) };
    let mut hash = GrowingHash::default();
    let taken = hash.take(&bytes);
    Ok(Some((KnownEnd { lines, hash, is_kept: false }, bytes.split_off(taken))))
}
