//! Reading a memory as it is on disk, and nothing that only looks like one.

use std::io::Read;

use dormouse_base::{Dir, EntryKind, FileAction, FileError, RelPath};
use jiff::Timestamp;

use super::{ChangeError, ContentHash};

/// Beyond this a file is not a memory that could be kept in the history.
const LONGEST: u64 = 16 * 1024 * 1024;

/// A file as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Current {
    pub(super) bytes: Vec<u8>,
    pub(super) hash: ContentHash,
    pub(super) modified: Timestamp,
}

/// Reads a file; none if there is none.
pub(super) fn read(dir: &Dir, path: &RelPath) -> Result<Option<Current>, ChangeError> {
    let entry = match dir.entry(path) {
        Ok(entry) => entry,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    if entry.kind != EntryKind::File {
        return Err(ChangeError::NotPlain(path.to_string()));
    }
    let fail = |error| FileError::new(FileAction::Read, dir.path().join(path.as_path()), error);
    if entry.size > LONGEST {
        return Err(
            fail(std::io::Error::other("it is too long for a memory; remove it by hand")).into()
        );
    }
    let file = match dir.open_file(path) {
        Ok(file) => file,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    // Between the look and the opening it may have become something else.
    if !file.metadata().map_err(fail)?.is_file() {
        return Err(ChangeError::NotPlain(path.to_string()));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(fail)?;
    let hash = ContentHash::of(&bytes);
    let modified = Timestamp::try_from(entry.modified).unwrap_or_default();
    Ok(Some(Current { bytes, hash, modified }))
}
