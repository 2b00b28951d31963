//! What is at a path: nothing, a file with its content, a link, a folder.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use dormouse_base::fault;
use rustix::fs::{Mode, OFlags};
use serde::{Deserialize, Serialize};

use crate::content_id::ContentId;
use crate::content_store::ContentStore;
use crate::error::CheckpointError;
use crate::path_text;

/// The largest file whose content is kept.
pub(crate) const MAX_FILE: u64 = 10 * 1024 * 1024;

/// What is at a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "lowercase")]
pub enum FileState {
    /// Nothing.
    Absent,
    /// A file.
    File {
        /// Its content; none if it was not kept.
        content: Option<ContentId>,
        /// Its size in bytes.
        size: u64,
        /// Its permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link {
        /// Where it leads.
        #[serde(with = "path_text")]
        target: PathBuf,
    },
    /// A folder.
    Folder {
        /// Its permission bits.
        mode: u32,
    },
    /// A socket, pipe or device: never touched.
    Other,
}

impl FileState {
    /// Whether it can be brought back.
    pub fn is_kept(&self) -> bool {
        !matches!(self, Self::Other | Self::File { content: None, .. })
    }

    /// Its content, if it is a file whose content was kept.
    pub fn content(&self) -> Option<ContentId> {
        match self {
            Self::File { content, .. } => *content,
            Self::Absent | Self::Link { .. } | Self::Folder { .. } | Self::Other => None,
        }
    }

    /// What is at this path now, without keeping its content.
    pub fn look(path: &Path) -> Result<Self, CheckpointError> {
        observe(path, None)
    }

    /// The same, and its content is kept in the store.
    pub(crate) fn keep(path: &Path, store: &ContentStore) -> Result<Self, CheckpointError> {
        observe(path, Some(store))
    }
}

fn observe(path: &Path, store: Option<&ContentStore>) -> Result<FileState, CheckpointError> {
    let metadata = match path.symlink_metadata() {
        Ok(metadata) => metadata,
        Err(error) if is_absent(&error) => return Ok(FileState::Absent),
        Err(source) => return Err(CheckpointError::at(path, source)),
    };
    let mode = metadata.permissions().mode() & 0o7777;
    if metadata.is_dir() {
        return Ok(FileState::Folder { mode });
    }
    if metadata.is_symlink() {
        return match path.read_link() {
            Ok(target) => Ok(FileState::Link { target }),
            Err(error) if is_absent(&error) => Ok(FileState::Absent),
            Err(source) => Err(CheckpointError::at(path, source)),
        };
    }
    if !metadata.is_file() {
        return Ok(FileState::Other);
    }
    if metadata.len() > MAX_FILE {
        return Ok(FileState::File { content: None, size: metadata.size(), mode });
    }
    let bytes = match read(path) {
        Ok(bytes) => bytes,
        Err(error) if is_absent(&error) => return Ok(FileState::Absent),
        // What this user may not read cannot be kept; the other files can.
        Err(_) => return Ok(FileState::File { content: None, size: metadata.size(), mode }),
    };
    let size = bytes.len() as u64;
    let content = match store {
        _ if size > MAX_FILE => None,
        Some(store) => Some(store.put(&bytes)?),
        None => Some(ContentId::of(&bytes)),
    };
    Ok(FileState::File { content, size, mode })
}

/// Whether there is nothing at the path; a file in the place of a folder above means the same.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    fault::point("checkpoint.read")?;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
