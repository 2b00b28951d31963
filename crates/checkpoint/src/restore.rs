//! Brings one path back to an earlier state, without following a link on the way to it.
//!
//! Invariant: a file is replaced whole or not at all, and only if it is still what the rewind found there.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::path::Path;

use dormouse_base::{MissingFolder, fault, mode_from_bits, open_folder_without_links};
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use crate::content_store::ContentStore;
use crate::error::CheckpointError;
use crate::state::FileState;

/// Makes a path what it was. What is there now must be nothing, or something of the same kind. `temporary` is the name under which
/// files and links are made first.
pub(crate) fn restore(
    path: &Path,
    state: &FileState,
    store: &ContentStore,
    temporary: &str,
) -> Result<(), CheckpointError> {
    let content = match state.content() {
        Some(id) => store.get(id)?,
        None => Vec::new(),
    };
    restore_content(path, state, &content, temporary)
}

/// The same with a content that is known.
pub(crate) fn restore_content(
    path: &Path,
    state: &FileState,
    content: &[u8],
    temporary: &str,
) -> Result<(), CheckpointError> {
    let fail = |error: io::Error| CheckpointError::at(path, error);
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(fail(io::ErrorKind::InvalidInput.into()));
    };
    let folder = open_folder_without_links(parent, MissingFolder::IsMade).map_err(fail)?;
    match state {
        FileState::File { mode, .. } => put_file(&folder, name, temporary, content, *mode),
        FileState::Link { target } => put_link(&folder, name, temporary, target),
        FileState::Folder { mode } => put_folder(&folder, name, *mode),
        FileState::Absent | FileState::Other => Ok(()),
    }
    .map_err(fail)
}

/// Removes what is at a path. Whether it is gone: a folder that still has something in it stays.
pub(crate) fn remove(path: &Path, now: &FileState) -> Result<bool, CheckpointError> {
    let fail = |error: io::Error| CheckpointError::at(path, error);
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(fail(io::ErrorKind::InvalidInput.into()));
    };
    let folder = match open_folder_without_links(parent, MissingFolder::Fails) {
        Ok(folder) => folder,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(true),
        Err(error) => return Err(fail(error)),
    };
    fault::point("checkpoint.remove").map_err(fail)?;
    let flags =
        if matches!(now, FileState::Folder { .. }) { AtFlags::REMOVEDIR } else { AtFlags::empty() };
    match rustix::fs::unlinkat(&folder, name, flags) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        Err(error) => Err(fail(error.into())),
    }
}

fn put_file(
    folder: &OwnedFd,
    name: &OsStr,
    temporary: &str,
    content: &[u8],
    mode: u32,
) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    replace_by(folder, name, temporary, |temporary| {
        let mut file =
            File::from(rustix::fs::openat(folder, temporary, flags, Mode::RUSR | Mode::WUSR)?);
        fault::point("checkpoint.write")?;
        file.write_all(content)?;
        rustix::fs::fchmod(&file, mode_from_bits(mode))?;
        file.sync_all()
    })
}

fn put_link(folder: &OwnedFd, name: &OsStr, temporary: &str, target: &Path) -> io::Result<()> {
    replace_by(folder, name, temporary, |temporary| {
        Ok(rustix::fs::symlinkat(target, folder, temporary)?)
    })
}

/// Makes something under a temporary name and gives it the right one.
fn replace_by(
    folder: &OwnedFd,
    name: &OsStr,
    temporary: &str,
    make: impl FnOnce(&str) -> io::Result<()>,
) -> io::Result<()> {
    // What a crash has left under the same name is replaced.
    match rustix::fs::unlinkat(folder, temporary, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    let made = make(temporary).and_then(|()| {
        fault::point("checkpoint.rename")?;
        Ok(rustix::fs::renameat(folder, temporary, folder, name)?)
    });
    if made.is_err() {
        // What was there is untouched; a temporary file that cannot be removed either is only litter.
        let _litter = rustix::fs::unlinkat(folder, temporary, AtFlags::empty());
    }
    made
}

fn put_folder(folder: &OwnedFd, name: &OsStr, mode: u32) -> io::Result<()> {
    fault::point("checkpoint.mkdir")?;
    match rustix::fs::mkdirat(folder, name, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(error) => return Err(error.into()),
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    Ok(rustix::fs::fchmod(made, mode_from_bits(mode))?)
}
