//! System calls that differ between Linux and other Unix systems, each with its alternative.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// Opens a path below a folder without leaving it and without following links. On Linux the kernel guarantees this
/// (`openat2`).
#[cfg(target_os = "linux")]
pub(crate) fn open_beneath(
    folder: rustix::fd::BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let mode_if_created = if flags.contains(OFlags::CREATE) { mode } else { Mode::empty() };
    match rustix::fs::openat2(folder, path, flags | OFlags::CLOEXEC, mode_if_created, resolve) {
        // Kernels before 5.6, and sandboxes that do not know the call.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {
            walk_beneath(folder, path, flags, mode)
        }
        Err(error) => Err(error.into()),
        Ok(handle) => Ok(handle),
    }
}

/// Opens a path below a folder without leaving it and without following links.
#[cfg(not(target_os = "linux"))]
pub(crate) fn open_beneath(
    folder: rustix::fd::BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    walk_beneath(folder, path, flags, mode)
}

/// Opens one folder after the other, following no link.
pub(crate) fn walk_beneath(
    folder: rustix::fd::BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    let mut names: Vec<&OsStr> = path.iter().collect();
    let Some(last) = names.pop() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let mut held: Option<OwnedFd> = None;
    for name in names {
        let at = held.as_ref().map_or(folder, |handle| handle.as_fd());
        held = Some(open_step(at, name, OFlags::DIRECTORY, Mode::empty())?);
    }
    open_step(held.as_ref().map_or(folder, |handle| handle.as_fd()), last, flags, mode)
}

/// Opens one name in a folder, following no link.
pub(crate) fn open_step(
    at: rustix::fd::BorrowedFd<'_>,
    name: &OsStr,
    flags: OFlags,
    mode: Mode,
) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(at, name, flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, mode)?)
}

/// The permission bits of a mode, whose type is 32 bits wide on Linux.
#[cfg(target_os = "linux")]
pub(crate) fn mode_bits(mode: Mode) -> u32 {
    mode.as_raw_mode() & 0o7777
}

/// The permission bits of a mode, whose type is 16 bits wide on macOS.
#[cfg(not(target_os = "linux"))]
pub(crate) fn mode_bits(mode: Mode) -> u32 {
    u32::from(mode.as_raw_mode()) & 0o7777
}

/// The mode with these permission bits; its type is 32 bits wide on Linux.
#[cfg(target_os = "linux")]
pub fn mode_from_bits(bits: u32) -> Mode {
    Mode::from_raw_mode(bits & 0o7777)
}

/// The mode with these permission bits; its type is 16 bits wide on macOS.
#[cfg(not(target_os = "linux"))]
pub fn mode_from_bits(bits: u32) -> Mode {
    Mode::from_raw_mode(u16::try_from(bits & 0o7777).unwrap_or(0))
}

/// Flags to open a folder for walking through it; on Linux that needs no permission to list it.
#[cfg(target_os = "linux")]
pub(crate) const WALK_FOLDER: OFlags = OFlags::PATH;
/// Flags to open a folder for walking through it.
#[cfg(not(target_os = "linux"))]
pub(crate) const WALK_FOLDER: OFlags = OFlags::RDONLY;
