//! Reading a memory as it is on disk, and nothing that only looks like one.

use std::io::Read;

use dormouse_base::{Dir, EntryKind, FileAction, FileError, RelPath};
use jiff::Timestamp;

use super::content::ContentHash;
use super::error::ChangeError;

/// Beyond this a file is not a memory that could be kept in the history.
const LONGEST: u64 = 16 * 1024 * 1024;

/// Content of `MEMORY.md` after a change.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexNow<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) hash: &'a ContentHash,
}

/// A file as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CurrentFile {
    pub(super) bytes: Vec<u8>,
    pub(super) hash: ContentHash,
    pub(super) modified: Timestamp,
}

impl CurrentFile {
    /// As heads take an index.
    pub(super) fn as_index(&self) -> IndexNow<'_> {
        IndexNow { bytes: &self.bytes, hash: &self.hash }
    }
}

/// Reads a file; none if there is none. It is opened once, without waiting for a pipe or following a link;
/// what was opened says what it is.
pub(super) fn read(dir: &Dir, path: &RelPath) -> Result<Option<CurrentFile>, ChangeError> {
    let file = match dir.open_file(path) {
        Ok(file) => file,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(unopened(dir, path, error)),
    };
    let fail = |error| FileError::new(FileAction::Read, dir.path().join(path.as_path()), error);
    let metadata = file.metadata().map_err(fail)?;
    if !metadata.is_file() {
        return Err(ChangeError::NotPlain(path.to_string()));
    }
    if metadata.len() > LONGEST {
        return Err(
            fail(std::io::Error::other("it is too long for a memory; remove it by hand")).into()
        );
    }
    let modified = metadata.modified().map_err(fail)?;
    // One more than there is: the end shows in the same call.
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
    file.take(LONGEST + 1).read_to_end(&mut bytes).map_err(fail)?;
    let hash = ContentHash::of(&bytes);
    let modified = Timestamp::try_from(modified).unwrap_or_default();
    Ok(Some(CurrentFile { bytes, hash, modified }))
}

/// A link or a socket can not be opened at all.
fn unopened(dir: &Dir, path: &RelPath, error: FileError) -> ChangeError {
    match dir.entry(path) {
        Ok(entry) if entry.kind != EntryKind::File => ChangeError::NotPlain(path.to_string()),
        Ok(_) | Err(_) => error.into(),
    }
}
