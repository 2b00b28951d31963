//! Adding to the end of a file in place: for a file too long to be replaced whole with every line.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::time::{Duration, SystemTime};

use rustix::fs::OFlags;

use super::{Dir, FileAction, FileError};
use crate::fault;
use crate::rel_path::RelPath;

/// Added to the time of a file, so that no other change in the same tick of the file system's clock has the same.
const OWN_TIME: Duration = Duration::from_nanos(1);

impl Dir {
    /// Writes behind the end of a file and flushes it, if it is a plain file with one name that has this length and was last
    /// changed at this time; returns its time after that, by which a later change can be told. A second name would be a file
    /// elsewhere, which must not change. A crash may leave a part of the bytes; a failure leaves none.
    pub fn extend_file(
        &self,
        path: &RelPath,
        length: u64,
        seen: SystemTime,
        bytes: &[u8],
    ) -> Result<Option<SystemTime>, FileError> {
        let Some(file) = self.open_end(path, length)? else { return Ok(None) };
        let fail = |error| self.cannot_write(path, error);
        if file.metadata().and_then(|now| now.modified()).map_err(fail)? != seen {
            return Ok(None);
        }
        write_end(&file, length, || {
            fault::at("base.append", || (&file).write_all(bytes))?;
            let modified = file.metadata()?.modified()? + OWN_TIME;
            // Only the owner may; without it the time is not the file's, and nobody takes the file for unchanged.
            let _not_set = file.set_modified(modified);
            fault::at("base.sync_append", || file.sync_data())?;
            Ok(Some(modified))
        })
        .map_err(fail)
    }

    /// Writes behind the end of a cache file, without waiting for the disk, if it is a plain file of exactly this length with
    /// one name; returns whether it did. Whoever keeps a cache writes it anew where that fails.
    pub fn extend_cache(&self, path: &RelPath, length: u64, bytes: &[u8]) -> bool {
        let Ok(Some(file)) = self.open_end(path, length) else { return false };
        let write = || fault::at("base.append", || (&file).write_all(bytes));
        write_end(&file, length, write).is_ok()
    }

    /// A plain file of this length with one name, to write behind its end.
    fn open_end(&self, path: &RelPath, length: u64) -> Result<Option<File>, FileError> {
        let file = match self.open_with(path, OFlags::WRONLY | OFlags::APPEND, FileAction::Write) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        let metadata = file.metadata().map_err(|error| self.cannot_write(path, error))?;
        let fits = metadata.is_file() && metadata.nlink() == 1 && metadata.len() == length;
        Ok(fits.then_some(file))
    }

    fn cannot_write(&self, path: &RelPath, error: io::Error) -> FileError {
        FileError::new(FileAction::Write, self.path.join(path.as_path()), error)
    }
}

/// Writes behind the end of a file of this length; after a failure it has this length again.
fn write_end<T>(file: &File, length: u64, write: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    write().inspect_err(|_| {
        // If even this fails, the caller's journal tells what was to be written; the first error is the one to tell.
        let _cut = file.set_len(length);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test lays out files by hand")]
    fn only_a_file_of_this_length_with_one_name_grows() {
        let keep = tempfile::tempdir().unwrap();
        let dir = Dir::open(keep.path()).unwrap();
        let path = RelPath::new("list").unwrap();
        let full = keep.path().join("list");
        let time = || dir.entry(&path).unwrap().modified;
        let long_ago = SystemTime::UNIX_EPOCH;
        assert_eq!(dir.extend_file(&path, 0, long_ago, b"one\n").unwrap(), None);
        std::fs::write(&full, "one\n").unwrap();
        assert_eq!(dir.extend_file(&path, 3, time(), b"two\n").unwrap(), None);
        assert_eq!(dir.extend_file(&path, 4, long_ago, b"two\n").unwrap(), None);
        let seen = time();
        let modified = dir.extend_file(&path, 4, seen, b"two\n").unwrap();
        assert_eq!(modified, Some(time()));
        assert!(modified > Some(seen));
        assert!(dir.extend_cache(&path, 8, b"three\n"));
        assert_ne!(modified, Some(time()));
        assert!(!dir.extend_cache(&path, 8, b"four\n"));
        std::fs::hard_link(&full, keep.path().join("other")).unwrap();
        assert_eq!(dir.extend_file(&path, 14, time(), b"four\n").unwrap(), None);
        assert!(!dir.extend_cache(&path, 14, b"four\n"));
        assert_eq!(std::fs::read_to_string(&full).unwrap(), "one\ntwo\nthree\n");
    }
}
