//! Adding to the end of a file in place: for a file too long to be replaced whole with every line.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;

use rustix::fs::OFlags;

use super::{Dir, FileAction, FileError};
use crate::fault;
use crate::rel_path::RelPath;

impl Dir {
    /// Writes behind the end of a file and flushes it, if it is a plain file of exactly this length with one name; returns
    /// whether it was. A second name would be a file elsewhere, which must not change. A crash may leave a part of the
    /// bytes; a failure leaves none.
    pub fn extend_file(
        &self,
        path: &RelPath,
        length: u64,
        bytes: &[u8],
    ) -> Result<bool, FileError> {
        let file = match self.open_with(path, OFlags::WRONLY | OFlags::APPEND, FileAction::Write) {
            Ok(file) => file,
            Err(error) if error.is_not_found() => return Ok(false),
            Err(error) => return Err(error),
        };
        extend(&file, length, bytes).map_err(|error| {
            FileError::new(FileAction::Write, self.path.join(path.as_path()), error)
        })
    }
}

fn extend(mut file: &File, length: u64, bytes: &[u8]) -> io::Result<bool> {
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.nlink() != 1 || metadata.len() != length {
        return Ok(false);
    }
    let written = fault::at("base.append", || file.write_all(bytes))
        .and_then(|()| fault::at("base.sync_append", || file.sync_data()));
    if let Err(error) = written {
        // If even this fails, the caller's journal tells what was to be written; the first error is the one to tell.
        let _cut = file.set_len(length);
        return Err(error);
    }
    Ok(true)
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
        assert!(!dir.extend_file(&path, 0, b"one\n").unwrap());
        std::fs::write(&full, "one\n").unwrap();
        assert!(!dir.extend_file(&path, 3, b"two\n").unwrap());
        assert!(dir.extend_file(&path, 4, b"two\n").unwrap());
        std::fs::hard_link(&full, keep.path().join("other")).unwrap();
        assert!(!dir.extend_file(&path, 8, b"three\n").unwrap());
        assert_eq!(std::fs::read_to_string(&full).unwrap(), "one\ntwo\n");
    }
}
