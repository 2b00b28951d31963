//! A look at a folder from outside, for the user who wants to know whether it will do.

use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{Access, FileType, Mode};

use crate::platform::mode_bits;

/// How a folder is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FolderState {
    /// The folder, or the nearest one above it that exists.
    pub existing: PathBuf,
    /// Whether that is a folder at all.
    pub is_folder: bool,
    /// Whether files can be made in it.
    pub is_writable: bool,
    /// Whether nobody but its owner can look into it.
    pub is_private: bool,
    /// Its permission bits.
    pub mode: u32,
    /// Bytes that are free for us on its disk.
    pub free_bytes: u64,
}

impl FolderState {
    /// Looks at a folder; where it does not exist, at what it would be made in.
    pub fn inspect(path: &Path) -> io::Result<Self> {
        let mut missing = io::ErrorKind::NotFound.into();
        for above in path.ancestors() {
            match rustix::fs::stat(above) {
                Ok(stat) => return Self::describe(above, &stat),
                Err(error @ (rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR)) => {
                    missing = error.into();
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(missing)
    }

    fn describe(found: &Path, stat: &rustix::fs::Stat) -> io::Result<Self> {
        let space = rustix::fs::statvfs(found)?;
        let mode = Mode::from_raw_mode(stat.st_mode);
        Ok(Self {
            existing: found.to_owned(),
            is_folder: FileType::from_raw_mode(stat.st_mode).is_dir(),
            is_writable: rustix::fs::access(found, Access::WRITE_OK | Access::EXEC_OK).is_ok(),
            is_private: !mode.intersects(Mode::RWXG | Mode::RWXO),
            mode: mode_bits(mode),
            free_bytes: space.f_bavail.saturating_mul(space.f_frsize),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test lays out a folder by hand")]
    fn folders_files_and_what_is_not_there() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path();
        let allow = |mode| {
            std::fs::set_permissions(folder, std::fs::Permissions::from_mode(mode)).unwrap();
        };
        allow(0o700);
        let state = FolderState::inspect(folder).unwrap();
        assert!(state.is_folder && state.is_writable && state.is_private, "{state:?}");
        assert!(state.free_bytes > 0);
        allow(0o755);
        let state = FolderState::inspect(&folder.join("not/there")).unwrap();
        assert_eq!(
            (state.existing.as_path(), state.mode, state.is_private),
            (folder, 0o755, false)
        );
        std::fs::write(folder.join("file"), "").unwrap();
        let state = FolderState::inspect(&folder.join("file/below")).unwrap();
        assert!(!state.is_folder && state.existing.ends_with("file"), "{state:?}");
    }
}
