//! A mount namespace: protected files are read-only, credentials and sockets are covered by an empty file.
//!
//! Landlock forbids mounting afterwards, so that a command cannot take the covers away.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{getgid, getuid};

use crate::policy::SandboxPolicy;

const EMPTY: &str = "/dev/null";

/// Makes a namespace of its own and covers what must not be reached. Fails where that is not allowed, and where something
/// could not be covered, after everything else.
pub(crate) fn protect(policy: &SandboxPolicy) -> Result<(), Errno> {
    separate()?;
    let none = None::<&str>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_SLAVE, none)?;
    // A folder above that could be renamed would take the protection with it, and leave its place free.
    let above = policy.protected.iter().flat_map(|path| fixed_folders(path, &policy.writable));
    let above: BTreeSet<&Path> = above.collect();
    let above = above.into_iter().map(|folder| bind(folder, folder));
    let protected = policy.protected.iter().filter(|path| path.exists());
    let protected = protected.map(|path| bind(path, path).and_then(|()| read_only(path)));
    let hidden_files = policy.hidden.iter().filter(|path| path.is_file());
    let sockets = policy.sockets.iter().filter(|path| path.exists() && !path.is_dir());
    // A link cannot be covered; what it leads to can.
    let covered = hidden_files.chain(sockets).filter_map(|path| path.canonicalize().ok());
    let covered = covered.map(|real| bind(Path::new(EMPTY), &real).and_then(|()| read_only(&real)));
    // One that fails does not leave the others open.
    above.chain(protected).chain(covered).fold(Ok(()), Result::and)
}

/// A mount namespace, by privilege or in a user namespace in which the user is the same.
fn separate() -> Result<(), Errno> {
    if unshare(CloneFlags::CLONE_NEWNS).is_ok() {
        return Ok(());
    }
    let (user, group) = (getuid(), getgid());
    unshare(CloneFlags::CLONE_NEWUSER | CloneFlags::CLONE_NEWNS)?;
    for (file, text) in [
        ("/proc/self/setgroups", "deny".to_owned()),
        ("/proc/self/uid_map", format!("{user} {user} 1")),
        ("/proc/self/gid_map", format!("{group} {group} 1")),
    ] {
        let written = std::fs::File::options()
            .write(true)
            .open(file)
            .and_then(|mut file| std::io::Write::write_all(&mut file, text.as_bytes()));
        written.map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or_default()))?;
    }
    Ok(())
}

/// The folders above a protected file that could be renamed: those below a writable one.
fn fixed_folders<'p>(path: &'p Path, writable: &'p [PathBuf]) -> impl Iterator<Item = &'p Path> {
    let inside = |folder: &&Path| {
        writable.iter().any(|root| folder.starts_with(root) && *folder != root.as_path())
    };
    path.ancestors().skip(1).filter(inside).filter(|folder| folder.is_dir())
}

fn bind(from: &Path, to: &Path) -> Result<(), Errno> {
    let none = None::<&str>;
    mount(Some(from), to, none, MsFlags::MS_BIND, none)
}

fn read_only(path: &Path) -> Result<(), Errno> {
    let none = None::<&str>;
    let flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    // In a user namespace, flags that are set must stay set.
    let kept = MsFlags::MS_NOSUID | MsFlags::MS_NODEV;
    match mount(none, path, none, flags, none) {
        Err(Errno::EPERM) => mount(none, path, none, flags | kept, none),
        done => done,
    }
}
