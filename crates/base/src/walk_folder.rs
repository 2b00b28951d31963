//! A folder held open, reached without following a link.
//!
//! Invariant: the path given has no links in it (it was resolved before); should one have been put
//! there since, the walk fails instead of following it.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::fault;
use crate::platform::WALK_FOLDER;

/// What to do about a folder that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MissingFolder {
    /// The walk fails.
    Fails,
    /// It is made.
    IsMade,
}

/// Opens an absolute path, folder by folder.
pub fn open_folder_without_links(path: &Path, missing: MissingFolder) -> io::Result<OwnedFd> {
    let flags = WALK_FOLDER | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut folder = rustix::fs::open("/", flags, Mode::empty())?;
    for component in path.components() {
        let name = match component {
            Component::RootDir | Component::CurDir => continue,
            Component::Normal(name) => name,
            Component::ParentDir | Component::Prefix(_) => {
                return Err(io::ErrorKind::InvalidInput.into());
            }
        };
        let opened = match rustix::fs::openat(&folder, name, flags, Mode::empty()) {
            Err(Errno::NOENT) if missing == MissingFolder::IsMade => {
                fault::point("tools.create_dir")?;
                match rustix::fs::mkdirat(&folder, name, Mode::RWXU | Mode::RWXG | Mode::RWXO) {
                    // Somebody else may make it at the same moment.
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(error) => return Err(error.into()),
                }
                rustix::fs::openat(&folder, name, flags, Mode::empty())?
            }
            opened => opened?,
        };
        folder = opened;
    }
    Ok(folder)
}
