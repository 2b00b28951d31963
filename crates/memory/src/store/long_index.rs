//! A long `MEMORY.md` that gets a line at its end, as fast as a short one: what has to be known of it is kept from one save
//! to the next. Only where somebody else has changed it since, it is read once more.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;

use dormouse_base::{Dir, FileAction, FileError};
use jiff::Timestamp;

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

    /// Number of bytes before the change.
    pub(super) fn length(&self) -> u64 {
        self.change.splice.at as u64
    }

    /// Number of bytes after it.
    pub(super) fn new_length(&self) -> u64 {
        self.length() + self.line().len() as u64
    }

    /// Keeps for the next save what is known of the index, which was written at this time.
    pub(super) fn keep(
        &self,
        memory: &Dir,
        state: &Dir,
        modified: Timestamp,
    ) -> Result<(), FileError> {
        self.end.keep(memory, state, self.new_length(), modified)
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
    if !metadata.is_file() || !(LONG_INDEX..=MAX_BYTES).contains(&metadata.len()) {
        return Ok(None);
    }
    let fail = |error| FileError::new(FileAction::Read, memory.path().join(INDEX), error);
    let end = match KnownEnd::read(state, &metadata) {
        Some(end) => Some(end),
        None => survey(&file).map_err(fail)?,
    };
    match end {
        Some(end) => Ok(extend(&file, metadata.len(), end, link).map_err(fail)?),
        None => Ok(None),
    }
}

fn extend(
    file: &File,
    length: u64,
    mut end: KnownEnd,
    link: &IndexLink,
) -> io::Result<Option<ExtendedIndex>> {
    let Some(line) = end.lines.add(link) else { return Ok(None) };
    let from = end.hash.hashed();
    let at = usize::try_from(length).map_err(io::Error::other)?;
    let mut rest = vec![0; at.saturating_sub(usize::try_from(from).map_err(io::Error::other)?)];
    match file.read_exact_at(&mut rest, from) {
        Ok(()) => {}
        // It has become shorter: it is not the one that is known.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error),
    }
    let before = Some(end.hash.with_end(&rest));
    rest.extend_from_slice(line.as_bytes());
    let taken = end.hash.take(&rest);
    let after = Some(end.hash.with_end(rest.get(taken..).unwrap_or_default()));
    let splice = Splice { at, removed: String::new(), inserted: line };
    Ok(Some(ExtendedIndex { change: IndexChange { before, after, splice }, end }))
}

/// Reads the whole index; `None` if a line cannot simply be added at its end.
fn survey(mut file: &File) -> io::Result<Option<KnownEnd>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let Some(lines) = std::str::from_utf8(&bytes).ok().and_then(IndexEnd::of) else {
        return Ok(None);
    };
    let mut hash = GrowingHash::default();
    hash.take(&bytes);
    Ok(Some(KnownEnd { lines, hash, is_kept: false }))
}
