//! System calls that differ between Linux and other Unix systems, each with its alternative.

mod descendants;

use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

use rustix::net::RecvFlags;

pub(crate) use descendants::{descendants, session_members};

/// Makes processes that lose their parent children of this one. A kernel that refuses leaves the process group to watch.
#[cfg(target_os = "linux")]
pub(crate) fn adopt_orphans() {
    let _refused = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

/// Other systems have no subreapers: only the process group can be watched.
#[cfg(not(target_os = "linux"))]
pub(crate) fn adopt_orphans() {}

/// The running program; on Linux even if its file has been replaced since.
pub(crate) fn running_program() -> Option<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    if running.exists() { Some(running) } else { std::env::current_exe().ok() }
}

/// Flags to receive files over a socket so that no child inherits them.
#[cfg(target_os = "linux")]
pub(crate) const RECEIVE_FILES: RecvFlags = RecvFlags::CMSG_CLOEXEC;
/// Flags to receive files over a socket; [`close_on_exec`] does the rest.
#[cfg(not(target_os = "linux"))]
pub(crate) const RECEIVE_FILES: RecvFlags = RecvFlags::empty();

/// Keeps a received file from being inherited: done by [`RECEIVE_FILES`].
#[cfg(target_os = "linux")]
#[expect(clippy::unnecessary_wraps, reason = "other systems need a call that can fail")]
pub(crate) fn close_on_exec(file: OwnedFd) -> io::Result<OwnedFd> {
    Ok(file)
}

/// Keeps a received file from being inherited.
#[cfg(not(target_os = "linux"))]
pub(crate) fn close_on_exec(file: OwnedFd) -> io::Result<OwnedFd> {
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::CLOEXEC)?;
    Ok(file)
}
