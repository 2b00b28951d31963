//! A handle on a folder: every file below is opened relative to it, and none outside it.
//!
//! On Linux the kernel itself keeps the walk below the folder (`openat2` with `RESOLVE_BENEATH` and
//! `RESOLVE_NO_SYMLINKS`); elsewhere, or on an older kernel, the walk goes folder by folder and
//! follows no link. Between check and use there is nothing to race for.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use rustix::fs::{AtFlags, Mode, OFlags};
use thiserror::Error;

use crate::fault;
use crate::platform::{open_beneath, open_step};
use crate::rel_path::RelPath;

mod extend;
mod list;
mod overwrite;
mod remove;
mod replace;

pub use list::{ListedEntry, Listing};
pub use replace::{Durability, Replacement};

/// What was being done to a file when it failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAction {
    /// Opening or reading.
    Read,
    /// Writing, replacing or appending.
    Write,
    /// Making a folder.
    CreateFolder,
    /// Listing a folder.
    List,
    /// Removing.
    Remove,
    /// Taking a lock.
    Lock,
}

impl std::fmt::Display for FileAction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::CreateFolder => "create the folder",
            Self::List => "list",
            Self::Remove => "remove",
            Self::Lock => "lock",
        })
    }
}

/// A failed file operation: what was tried, where, and why it failed.
#[derive(Debug, Error)]
#[error("cannot {action} {}: {source}", path.display())]
pub struct FileError {
    /// What was tried.
    pub action: FileAction,
    /// On which file.
    pub path: PathBuf,
    /// What the system answered.
    #[source]
    pub source: io::Error,
}

impl FileError {
    /// Makes one.
    pub fn new(action: FileAction, path: impl Into<PathBuf>, source: impl Into<io::Error>) -> Self {
        Self { action, path: path.into(), source: source.into() }
    }

    /// Whether the file simply does not exist.
    pub fn is_not_found(&self) -> bool {
        self.source.kind() == io::ErrorKind::NotFound
    }

    /// Whether the file system has no locks.
    pub fn locks_unsupported(&self) -> bool {
        use rustix::io::Errno;
        let none = [Errno::NOLCK, Errno::NOTSUP, Errno::OPNOTSUPP, Errno::NOSYS];
        self.action == FileAction::Lock
            && (self.source.kind() == io::ErrorKind::Unsupported
                || none
                    .iter()
                    .any(|errno| Some(errno.raw_os_error()) == self.source.raw_os_error()))
    }

    /// What the user can do about it, where there is something.
    pub fn hint(&self) -> Option<&'static str> {
        let kind = self.source.kind();
        if kind == io::ErrorKind::StorageFull {
            Some("the disk is full: free some space and try again")
        } else if kind == io::ErrorKind::ReadOnlyFilesystem {
            Some("the file system is read-only: set DORMOUSE_HOME to a folder that can be written")
        } else if kind == io::ErrorKind::PermissionDenied || self.action == FileAction::CreateFolder
        {
            Some("check the owner and permissions, or set DORMOUSE_HOME to a folder of your own")
        } else {
            None
        }
    }
}

/// What an entry of a folder is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A plain file.
    File,
    /// A folder.
    Folder,
    /// A link, device, socket or pipe: nothing we open.
    Other,
}

/// An entry of a folder.
#[derive(Debug, Clone)]
pub struct DirEntry {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Its size in bytes.
    pub size: u64,
    /// When its content last changed.
    pub modified: SystemTime,
}

/// A folder, held open.
#[derive(Debug, Clone)]
pub struct Dir {
    handle: Arc<OwnedFd>,
    path: PathBuf,
}

impl Dir {
    /// Opens a folder that exists.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, FileError> {
        let path = path.into();
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        match rustix::fs::open(&path, flags, Mode::empty()) {
            Ok(handle) => Ok(Self { handle: Arc::new(handle), path }),
            Err(error) => Err(FileError::new(FileAction::Read, path, error)),
        }
    }

    /// Opens a folder, making it and those above it if needed, private to the user.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, FileError> {
        use std::os::unix::fs::DirBuilderExt;
        let path = path.into();
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true).mode(0o700);
        fault::at("base.create_dir", || builder.create(&path))
            .map_err(|error| FileError::new(FileAction::CreateFolder, &path, error))?;
        Self::open(path)
    }

    /// Where it was opened: for messages, not for opening things.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder below, made if needed.
    pub fn create_folder(&self, path: &RelPath) -> Result<Self, FileError> {
        let fail = |error: io::Error| {
            FileError::new(FileAction::CreateFolder, self.path.join(path.as_path()), error)
        };
        let mut current = self.clone();
        for name in path.as_path() {
            fault::at("base.create_dir", || {
                match rustix::fs::mkdirat(current.handle.as_fd(), name, Mode::RWXU) {
                    Ok(()) | Err(rustix::io::Errno::EXIST) => Ok(()),
                    Err(error) => Err(error.into()),
                }
            })
            .map_err(fail)?;
            let handle = open_step(current.handle.as_fd(), name, OFlags::DIRECTORY, Mode::empty())
                .map_err(fail)?;
            current = Self { handle: Arc::new(handle), path: current.path.join(name) };
        }
        Ok(current)
    }

    /// A folder below that exists.
    pub fn open_folder(&self, path: &RelPath) -> Result<Self, FileError> {
        let full = self.path.join(path.as_path());
        match open_beneath(self.handle.as_fd(), path.as_path(), OFlags::DIRECTORY, Mode::empty()) {
            Ok(handle) => Ok(Self { handle: Arc::new(handle), path: full }),
            Err(error) => Err(FileError::new(FileAction::Read, full, error)),
        }
    }

    /// Opens a file for reading.
    pub fn open_file(&self, path: &RelPath) -> Result<File, FileError> {
        self.open_with(path, OFlags::RDONLY | OFlags::NONBLOCK, FileAction::Read)
    }

    /// Opens a file for appending, making it (private to the user) if needed.
    pub(crate) fn open_append(&self, path: &RelPath) -> Result<File, FileError> {
        self.open_with(path, OFlags::RDWR | OFlags::APPEND | OFlags::CREATE, FileAction::Write)
    }

    /// A new file to write piece by piece, with the folders above it; one that exists is emptied. For
    /// what is of use even when a crash cuts it short: else see [`Dir::replace`].
    pub fn create_file(&self, path: &RelPath) -> Result<File, FileError> {
        if let Some(parent) = path.parent() {
            self.create_folder(&parent)?;
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        self.open_with(path, flags, FileAction::Write)
    }

    /// A new file to write; fails if there is one.
    pub fn create_new_file(&self, path: &RelPath) -> Result<File, FileError> {
        self.open_with(path, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, FileAction::Write)
    }

    /// Opens a file to lock it, making it if needed.
    pub(crate) fn open_lock(&self, path: &RelPath) -> Result<File, FileError> {
        self.open_with(path, OFlags::RDWR | OFlags::CREATE, FileAction::Lock)
    }

    /// The same for a file that exists.
    pub(crate) fn open_existing_lock(&self, path: &RelPath) -> Result<File, FileError> {
        self.open_with(path, OFlags::RDWR, FileAction::Lock)
    }

    fn open_with(
        &self,
        path: &RelPath,
        flags: OFlags,
        action: FileAction,
    ) -> Result<File, FileError> {
        let open =
            || open_beneath(self.handle.as_fd(), path.as_path(), flags, Mode::RUSR | Mode::WUSR);
        let opened =
            if action == FileAction::Read { open() } else { fault::at("base.open_write", open) };
        opened
            .map(File::from)
            .map_err(|error| FileError::new(action, self.path.join(path.as_path()), error))
    }

    /// Reads a whole file.
    pub fn read(&self, path: &RelPath) -> Result<Vec<u8>, FileError> {
        let mut bytes = Vec::new();
        match self.open_file(path)?.read_to_end(&mut bytes) {
            Ok(_) => Ok(bytes),
            Err(error) => {
                Err(FileError::new(FileAction::Read, self.path.join(path.as_path()), error))
            }
        }
    }

    /// Replaces a file whole: a reader, or a crash, finds the old content or the new, never a part.
    pub fn replace(&self, path: &RelPath, content: &[u8]) -> Result<(), FileError> {
        self.replace_with(path, &Replacement::new(content))
    }

    /// The same for a file that people have made and share: it keeps its mode.
    pub fn rewrite(&self, path: &RelPath, content: &[u8]) -> Result<(), FileError> {
        let folder = match path.parent() {
            Some(parent) => self.create_folder(&parent)?,
            None => self.clone(),
        };
        let replacement = Replacement::new(content);
        replace::rewrite_in(folder.handle.as_fd(), path.file_name(), &replacement).map_err(
            |error| FileError::new(FileAction::Write, self.path.join(path.as_path()), error),
        )
    }

    /// The same, with a time of change of the caller's choice, or without waiting for the disk.
    pub fn replace_with(
        &self,
        path: &RelPath,
        replacement: &Replacement<'_>,
    ) -> Result<(), FileError> {
        let folder = match path.parent() {
            Some(parent) => self.create_folder(&parent)?,
            None => self.clone(),
        };
        replace::replace_in(folder.handle.as_fd(), path.file_name(), replacement).map_err(|error| {
            FileError::new(FileAction::Write, self.path.join(path.as_path()), error)
        })
    }

    /// Makes what was renamed and removed in this very folder survive a loss of power.
    pub fn sync(&self) -> Result<(), FileError> {
        replace::sync_folder(self.handle.as_fd())
            .map_err(|error| FileError::new(FileAction::Write, &self.path, error))
    }

    /// Gives a file or folder below another name below; nothing that is not empty is overwritten by a folder.
    pub fn rename(&self, from: &RelPath, to: &RelPath) -> Result<(), FileError> {
        let fail = |error: io::Error| {
            FileError::new(FileAction::Write, self.path.join(from.as_path()), error)
        };
        let parent = |path: &RelPath| match path.parent() {
            Some(parent) => self.open_folder(&parent),
            None => Ok(self.clone()),
        };
        let (source, target) = (parent(from)?, parent(to)?);
        let handles = (source.handle.as_fd(), target.handle.as_fd());
        fault::at("base.rename", || {
            Ok(rustix::fs::renameat(handles.0, from.file_name(), handles.1, to.file_name())?)
        })
        .map_err(fail)
    }

    /// Whether a name is that of a temporary file, which only a writer that died leaves behind.
    pub fn is_temporary(name: &str) -> bool {
        replace::is_temporary(name)
    }

    /// What a path leads to, without opening it; a link is [`EntryKind::Other`].
    pub fn entry(&self, path: &RelPath) -> Result<DirEntry, FileError> {
        let folder = match path.parent() {
            Some(parent) => self.open_folder(&parent)?,
            None => self.clone(),
        };
        let name = path.file_name();
        rustix::fs::statat(folder.handle.as_fd(), name, AtFlags::SYMLINK_NOFOLLOW)
            .map(|stat| describe(&name.to_string_lossy(), &stat))
            .map_err(|error| {
                FileError::new(FileAction::Read, self.path.join(path.as_path()), error)
            })
    }

    /// When a name in the folder was last added, removed or changed.
    pub fn modified(&self) -> Result<SystemTime, FileError> {
        rustix::fs::fstat(self.handle.as_fd())
            .map(|stat| describe("", &stat).modified)
            .map_err(|error| FileError::new(FileAction::Read, &self.path, error))
    }

    /// Sets that time.
    pub fn set_modified(&self, modified: SystemTime) -> Result<(), FileError> {
        let set = |handle: OwnedFd| File::from(handle).set_modified(modified);
        self.handle
            .try_clone()
            .and_then(set)
            .map_err(|error| FileError::new(FileAction::Write, &self.path, error))
    }

    /// Removes a file.
    pub fn remove_file(&self, path: &RelPath) -> Result<(), FileError> {
        let folder = match path.parent() {
            Some(parent) => self.open_folder(&parent)?,
            None => self.clone(),
        };
        fault::at("base.remove", || {
            Ok(rustix::fs::unlinkat(folder.handle.as_fd(), path.file_name(), AtFlags::empty())?)
        })
        .map_err(|error| FileError::new(FileAction::Remove, self.path.join(path.as_path()), error))
    }
}

fn describe(name: &str, stat: &rustix::fs::Stat) -> DirEntry {
    let file_type = rustix::fs::FileType::from_raw_mode(stat.st_mode);
    let kind = if file_type.is_file() {
        EntryKind::File
    } else if file_type.is_dir() {
        EntryKind::Folder
    } else {
        EntryKind::Other
    };
    let seconds = u64::try_from(stat.st_mtime).unwrap_or(0);
    let nanoseconds = u32::try_from(stat.st_mtime_nsec).unwrap_or(0);
    DirEntry {
        name: name.to_owned(),
        kind,
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: SystemTime::UNIX_EPOCH + Duration::new(seconds, nanoseconds),
    }
}

#[cfg(test)]
mod tests;
