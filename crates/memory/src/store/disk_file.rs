//! Reading a file of a memory directory; only plain files are accepted.

use std::io::Read;

use dormouse_base::{Dir, EntryKind, FileAction, FileError, RelPath};
use jiff::Timestamp;

use super::content::ContentHash;
use super::error::ChangeError;

/// Maximum size: the history keeps whole contents.
pub(super) const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// `MEMORY.md` after a change.
#[derive(Debug, Clone, Copy)]
pub(super) struct IndexNow<'a> {
    pub(super) length: u64,
    pub(super) hash: &'a ContentHash,
    /// The content, unless it is long and was not read.
    pub(super) bytes: Option<&'a [u8]>,
}

/// A file as it is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DiskFile {
    pub(super) bytes: Vec<u8>,
    pub(super) hash: ContentHash,
    pub(super) modified: Timestamp,
}

impl DiskFile {
    /// Content and hash, as the last known index is recorded.
    pub(super) fn as_index(&self) -> IndexNow<'_> {
        IndexNow { length: self.bytes.len() as u64, hash: &self.hash, bytes: Some(&self.bytes) }
    }
}

/// Reads a file; `None` if it does not exist. It is opened once, without following a link or blocking on a pipe, and the
/// opened file is checked, so that it cannot be exchanged in between.
pub(super) fn read(dir: &Dir, path: &RelPath) -> Result<Option<DiskFile>, ChangeError> {
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
    if metadata.len() > MAX_BYTES {
        return Err(
            fail(std::io::Error::other("it is too long for a memory; remove it by hand")).into()
        );
    }
    let modified = metadata.modified().map_err(fail)?;
    // One byte more than the size, so that one call reads up to the end.
    let mut bytes = Vec::with_capacity(usize::try_from(metadata.len()).unwrap_or_default() + 1);
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(fail)?;
    let hash = ContentHash::of(&bytes);
    let modified = Timestamp::try_from(modified).unwrap_or_default();
    Ok(Some(DiskFile { bytes, hash, modified }))
}

/// The error for a file that cannot be opened: links and sockets never can.
fn unopened(dir: &Dir, path: &RelPath, error: FileError) -> ChangeError {
    match dir.entry(path) {
        Ok(entry) if entry.kind != EntryKind::File => ChangeError::NotPlain(path.to_string()),
        Ok(_) | Err(_) => error.into(),
    }
}
