//! Adding to the end of a file in place: for a file too long to be replaced whole with every line.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::time::SystemTime;

use rustix::fs::OFlags;

use super::{Dir, FileAction, FileError};
use crate::fault;
use crate::rel_path::RelPath;

impl Dir {
    /// Writes behind the end of a file and flushes it, if it is a plain file of exactly this length with one name; returns
    /// whether it was. A second name would be a file elsewhere, which must not change. A crash may leave a part of the
    /// bytes; a failure leaves none. Then the file was last changed at `modified`, unless it belongs to somebody else.
    pub fn extend_file(
        &self,
        path: &RelPath,
        length: u64,
        bytes: &[u8],
        modified: SystemTime,
    ) -> Result<bool, FileError> {
        self.extend(path, length, |mut file| {
            fault::at("base.append", || file.write_all(bytes))?;
            // Only the owner may.
            let _not_set = file.set_modified(modified);
            fault::at("base.sync_append", || file.sync_data())
        })
    }

    /// Writes behind the end of a cache file, without waiting for the disk, if it is a plain file of exactly this length with
    /// one name; returns whether it was.
    pub fn extend_cache(
        &self,
        path: &RelPath,
        length: u64,
        bytes: &[u8],
    ) -> Result<bool, FileError> {
        self.extend(path, length, |mut file| fault::at("base.append", || file.write_all(bytes)))
    }

    fn extend(
        &self,
        path: &RelPath,
        length: u64,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<bool, FileError> {
        let file = match self.open_with(path, OFlags::WRONLY | OFlags::APPEND, FileAction::Write) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(false),
            Err(error) => return Err(error),
        };
        let fail = |error| FileError::new(FileAction::Write, self.path.join(path.as_path()), error);
        let metadata = file.metadata().map_err(fail)?;
        if !metadata.is_file() || metadata.nlink() != 1 || metadata.len() != length {
            return Ok(false);
        }
        if let Err(error) = write(&file) {
            // If even this fails, the caller's journal tells what was to be written; the first error is the one to tell.
            let _cut = file.set_len(length);
            return Err(fail(error));
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test lays out files by hand")]
    fn only_a_file_of_this_length_with_one_name_grows() {
        let keep = tempfile::tempdir().unwrap();
        let dir = Dir::open(keep.path()).unwrap();
        let path = RelPath::new("list").unwrap();
        let full = keep.path().join("list");
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_800_000_000, 123_456_789);
        assert!(!dir.extend_file(&path, 0, b"one\n", time).unwrap());
        std::fs::write(&full, "one\n").unwrap();
        assert!(!dir.extend_file(&path, 3, b"two\n", time).unwrap());
        assert!(dir.extend_file(&path, 4, b"two\n", time).unwrap());
        assert_eq!(dir.entry(&path).unwrap().modified, time);
        assert!(dir.extend_cache(&path, 8, b"three\n").unwrap());
        assert_ne!(dir.entry(&path).unwrap().modified, time);
        std::fs::hard_link(&full, keep.path().join("other")).unwrap();
        assert!(!dir.extend_file(&path, 14, b"four\n", time).unwrap());
        assert!(!dir.extend_cache(&path, 14, b"four\n").unwrap());
        assert_eq!(std::fs::read_to_string(&full).unwrap(), "one\ntwo\nthree\n");
    }
}
