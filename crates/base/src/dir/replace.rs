//! Replacing a file whole: temporary file, flush, rename, flush of the folder. Every step is a fault
//! point, and at none of them is the old file half gone.

use std::ffi::OsStr;
use std::fs::{File, FileTimes};
use std::io::{self, Write};
use std::time::SystemTime;

use rustix::fd::BorrowedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use crate::fault;

/// Whether to wait until the disk has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// It survives a loss of power.
    Synced,
    /// Its content does; its name only once the folder is flushed ([`Dir::sync`](crate::Dir::sync)), which
    /// several files can share.
    SyncedContent,
    /// The system writes it when it likes: for what can be made again.
    Unsynced,
}

/// What a file becomes.
#[derive(Debug, Clone, Copy)]
pub struct Replacement<'a> {
    /// Its content.
    pub content: &'a [u8],
    /// When that last changed, where this is not now.
    pub modified: Option<SystemTime>,
    /// Whether to wait for the disk.
    pub durability: Durability,
}

impl<'a> Replacement<'a> {
    /// This content, changed now, on the disk before the call returns.
    pub fn new(content: &'a [u8]) -> Self {
        Self { content, modified: None, durability: Durability::Synced }
    }
}

/// Who may read and write a file that nobody has made yet: the user.
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

pub(super) fn replace_in(
    folder: BorrowedFd<'_>,
    name: &OsStr,
    replacement: &Replacement<'_>,
) -> io::Result<()> {
    replace_as(folder, name, replacement, PRIVATE)
}

/// The same; whoever could read and write the old file can read and write the new one.
pub(super) fn rewrite_in(
    folder: BorrowedFd<'_>,
    name: &OsStr,
    replacement: &Replacement<'_>,
) -> io::Result<()> {
    let mode = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_file() => {
            Mode::from_raw_mode(stat.st_mode) & (Mode::RWXU | Mode::RWXG | Mode::RWXO)
        }
        Ok(_) | Err(rustix::io::Errno::NOENT) => PRIVATE,
        Err(error) => return Err(error.into()),
    };
    replace_as(folder, name, replacement, mode)
}

fn replace_as(
    folder: BorrowedFd<'_>,
    name: &OsStr,
    replacement: &Replacement<'_>,
    mode: Mode,
) -> io::Result<()> {
    let temporary = format!(".{}.tmp", uuid::Uuid::new_v4().simple());
    let result = write_temporary(folder, &temporary, replacement, mode).and_then(|()| {
        fault::at("base.rename", || Ok(rustix::fs::renameat(folder, &temporary, folder, name)?))
    });
    if let Err(error) = result {
        // The old file is untouched; a temporary file that cannot be removed either is only litter.
        let _litter = rustix::fs::unlinkat(folder, &temporary, AtFlags::empty());
        return Err(error);
    }
    if replacement.durability == Durability::Synced { sync_folder(folder) } else { Ok(()) }
}

/// Makes the names in a folder survive a loss of power.
pub(super) fn sync_folder(folder: BorrowedFd<'_>) -> io::Result<()> {
    fault::at("base.sync_dir", || Ok(rustix::fs::fsync(folder)?))
}

pub(super) fn is_temporary(name: &str) -> bool {
    let stem = name.strip_prefix('.').and_then(|name| name.strip_suffix(".tmp"));
    stem.is_some_and(|stem| stem.len() == 32 && stem.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

fn write_temporary(
    folder: BorrowedFd<'_>,
    name: &str,
    replacement: &Replacement<'_>,
    mode: Mode,
) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut file = File::from(fault::at("base.create_temporary", || {
        Ok(rustix::fs::openat(folder, name, flags, PRIVATE)?)
    })?);
    if mode != PRIVATE {
        rustix::fs::fchmod(&file, mode)?;
    }
    // `write_all` is never interrupted half way: it continues by itself.
    fault::at("base.write_temporary", || file.write_all(replacement.content))?;
    if let Some(modified) = replacement.modified {
        let times = FileTimes::new().set_modified(modified);
        fault::at("base.set_time", || file.set_times(times))?;
    }
    if replacement.durability != Durability::Unsynced {
        fault::at("base.sync_temporary", || file.sync_all())?;
    }
    Ok(())
}
