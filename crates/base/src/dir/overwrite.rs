//! Writing a small file in place: for caches that change with every write, where making a new file would take most of the
//! time.

use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};

use rustix::fs::OFlags;

use super::{Dir, Durability, FileAction, FileError, Replacement};
use crate::fault;
use crate::rel_path::RelPath;

/// The kernel writes a page as a whole, whatever happens to the process.
const PAGE: usize = 4096;

impl Dir {
    /// Gives a cache file this content, without waiting for the disk: in place if it exists, has one name, is small and does
    /// not get shorter, by a new file otherwise. A process that is killed leaves the old content or the new one; a power
    /// failure leaves anything, and whoever reads it must notice.
    pub fn write_cache(&self, path: &RelPath, bytes: &[u8]) -> Result<(), FileError> {
        let replacement =
            Replacement { durability: Durability::Unsynced, ..Replacement::new(bytes) };
        if bytes.len() > PAGE {
            return self.replace_with(path, &replacement);
        }
        let written = match self.open_with(path, OFlags::WRONLY, FileAction::Write) {
            Ok(file) => overwrite(&file, bytes).map_err(|error| {
                FileError::new(FileAction::Write, self.path.join(path.as_path()), error)
            })?,
            // What cannot be written in place may still be replaced.
            Err(_) => false,
        };
        if written { Ok(()) } else { self.replace_with(path, &replacement) }
    }
}

fn overwrite(file: &File, bytes: &[u8]) -> io::Result<bool> {
    let metadata = file.metadata()?;
    // A file that gets shorter would be cut after it is written: for a moment it would have both contents.
    let is_shorter = (bytes.len() as u64) < metadata.len();
    if !metadata.is_file() || metadata.nlink() != 1 || is_shorter {
        return Ok(false);
    }
    fault::at("base.overwrite", || file.write_all_at(bytes, 0))?;
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_is_written_in_place_and_no_second_name_changes() {
        let keep = tempfile::tempdir().unwrap();
        let dir = Dir::open(keep.path()).unwrap();
        let path = RelPath::new("folder/cache").unwrap();
        let full = keep.path().join("folder/cache");
        let number = || std::fs::metadata(&full).unwrap().ino();
        dir.write_cache(&path, b"a long text").unwrap();
        let long = number();
        dir.write_cache(&path, b"short").unwrap();
        let first = number();
        assert_ne!(first, long);
        dir.write_cache(&path, b"longer").unwrap();
        assert_eq!((std::fs::read(&full).unwrap(), number()), (b"longer".to_vec(), first));
        let large = vec![b'x'; PAGE + 1];
        dir.write_cache(&path, &large).unwrap();
        assert_ne!(number(), first);
        let other = keep.path().join("other");
        std::fs::hard_link(&full, &other).unwrap();
        dir.write_cache(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&full).unwrap(), b"new");
        assert_eq!(std::fs::read(&other).unwrap(), large);
    }
}
