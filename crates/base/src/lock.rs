//! A lock that the kernel frees when its holder ends, however it ends.
//!
//! Who holds it stands in the lock file, for messages only: it is never a reason to wait or to break
//! in. The file is not removed when the lock is given back, so there is no race about its name.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::dir::{Dir, FileAction, FileError};
use crate::fault;
use crate::rel_path::RelPath;

/// Who holds a lock, as written by the holder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHolder {
    /// The process.
    pub pid: u32,
    /// The machine.
    pub host: String,
}

/// Whether a lock is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockState {
    /// By nobody: the file is all that is left of whoever held it last.
    Free,
    /// By somebody, who is named if that is readable.
    Held(Option<LockHolder>),
}

/// Whether the process that wrote its name into a lock is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessState {
    /// It runs.
    Running,
    /// It has ended.
    Ended,
    /// It is on another machine, where we cannot look.
    OtherHost,
}

impl LockHolder {
    /// Whether it still runs.
    pub fn process_state(&self) -> ProcessState {
        if self.host != Self::this_process().host {
            return ProcessState::OtherHost;
        }
        let pid = i32::try_from(self.pid).ok().and_then(rustix::process::Pid::from_raw);
        match pid.map(rustix::process::test_kill_process) {
            // Not allowed to send it a signal: it is there, and another user's.
            Some(Ok(()) | Err(rustix::io::Errno::PERM)) => ProcessState::Running,
            Some(Err(_)) | None => ProcessState::Ended,
        }
    }

    /// This process.
    pub fn this_process() -> Self {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        Self { pid: std::process::id(), host }
    }
}

/// Why a lock was not taken.
#[derive(Debug, Error)]
pub enum LockError {
    /// Another process has it.
    #[error("{} is held by {}", path.display(), describe(holder.as_ref()))]
    Held {
        /// The lock file.
        path: PathBuf,
        /// Who, if it is readable.
        holder: Option<LockHolder>,
    },
    /// The file system refused.
    #[error(transparent)]
    File(#[from] FileError),
}

fn describe(holder: Option<&LockHolder>) -> String {
    match holder {
        Some(holder) => format!("process {} on {}", holder.pid, holder.host),
        None => "another process".to_owned(),
    }
}

/// An exclusive lock, held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

/// A process that is just being started holds copies of all our files until it has begun: a lock that
/// was given back may seem held for that moment.
const TRIES: u32 = 50;
const BETWEEN_TRIES: Duration = Duration::from_millis(1);

impl Lock {
    /// Takes the lock if it is free; waits for no other holder.
    pub fn try_acquire(dir: &Dir, path: &RelPath) -> Result<Self, LockError> {
        Self::acquire_within(dir, path, BETWEEN_TRIES * (TRIES - 1))
    }

    /// Takes the lock, waiting up to about this long for others who hold it for moments.
    pub fn acquire_within(dir: &Dir, path: &RelPath, wait: Duration) -> Result<Self, LockError> {
        let full = dir.path().join(path.as_path());
        let mut file = dir.open_lock(path)?;
        refuse_other_names(&file)
            .map_err(|error| FileError::new(FileAction::Lock, &full, error))?;
        match try_for(&file, wait) {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let read = file.read_to_string(&mut text);
                let holder = read.is_ok().then(|| serde_json::from_str(&text).ok()).flatten();
                return Err(LockError::Held { path: full, holder });
            }
            Err(TryLockError::Error(error)) => {
                return Err(FileError::new(FileAction::Lock, full, error).into());
            }
        }
        write_holder(&mut file).map_err(|error| FileError::new(FileAction::Lock, &full, error))?;
        Ok(Self { file, path: full })
    }

    /// Takes the lock on a file that exists, if it is free, and writes nothing into it: its time of change
    /// means something. Who holds it stands elsewhere.
    pub fn try_acquire_unsigned(dir: &Dir, path: &RelPath) -> Result<Self, LockError> {
        let full = dir.path().join(path.as_path());
        let fail = |error| FileError::new(FileAction::Lock, &full, error);
        let file = dir.open_existing_lock(path)?;
        refuse_other_names(&file).map_err(fail)?;
        let taken = fault::point("base.lock_unsigned").map_err(TryLockError::Error);
        match taken.and_then(|()| try_for(&file, BETWEEN_TRIES * (TRIES - 1))) {
            Ok(()) => Ok(Self { file, path: full }),
            Err(TryLockError::WouldBlock) => Err(LockError::Held { path: full, holder: None }),
            Err(TryLockError::Error(error)) => Err(fail(error).into()),
        }
    }

    /// Gives the lock file a time of change, for good.
    pub fn set_modified(&self, time: SystemTime) -> Result<(), FileError> {
        fault::at("base.stamp", || self.file.set_modified(time).and_then(|()| self.file.sync_all()))
            .map_err(|error| FileError::new(FileAction::Write, &self.path, error))
    }
}

impl LockState {
    /// Looks at a lock without taking it, and changes nothing.
    pub fn inspect(dir: &Dir, path: &RelPath) -> Result<Self, FileError> {
        let fail = |error| FileError::new(FileAction::Lock, dir.path().join(path.as_path()), error);
        let mut file = dir.open_file(path)?;
        match file.try_lock_shared() {
            // Given back at once, when the file is closed; whoever takes the lock tries for a while.
            Ok(()) => return Ok(Self::Free),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(error)) => return Err(fail(error)),
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(fail)?;
        Ok(Self::Held(serde_json::from_str(&text).ok()))
    }
}

/// A lock file that another name leads to is somebody's file, and would be overwritten.
fn refuse_other_names(file: &File) -> std::io::Result<()> {
    if file.metadata()?.nlink() > 1 {
        return Err(std::io::Error::other(
            "another name leads to the same file; remove the lock file",
        ));
    }
    Ok(())
}

/// Tries a few times, then stands in the kernel's queue: among many who take a lock again and again, one
/// who only tries now and then might never get it.
fn try_for(file: &File, wait: Duration) -> Result<(), TryLockError> {
    let mut waited = Duration::ZERO;
    while waited < wait.min(BETWEEN_TRIES * TRIES) {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => std::thread::sleep(BETWEEN_TRIES),
            taken_or_failed => return taken_or_failed,
        }
        waited += BETWEEN_TRIES;
    }
    if waited >= wait {
        return file.try_lock();
    }
    queue_for(file, wait.saturating_sub(waited))
}

/// A thread waits for the lock. If that takes too long it is left behind, and gives the lock back as soon
/// as it gets it: the file is closed by then.
fn queue_for(file: &File, wait: Duration) -> Result<(), TryLockError> {
    let same = file.try_clone().map_err(TryLockError::Error)?;
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        // Nobody may be left to hear it.
        let _heard = sender.send(fault::at("base.wait_for_lock", || same.lock()));
    });
    match receiver.recv_timeout(wait) {
        Ok(locked) => locked.map_err(TryLockError::Error),
        Err(_) => Err(TryLockError::WouldBlock),
    }
}

/// A longer file is no lock of ours.
const LONGEST_HOLDER: u64 = 1024;

/// Names this process as the holder. Spaces cover what a longer text has left: file systems flush a file that was cut to
/// nothing before it was written, because programs replace files in this way, and that takes a millisecond for each lock.
fn write_holder(file: &mut File) -> std::io::Result<()> {
    let mut text = serde_json::to_vec(&LockHolder::this_process())?;
    match file.metadata()?.len() {
        length if length > LONGEST_HOLDER => file.set_len(0)?,
        length => text.resize(text.len().max(usize::try_from(length).unwrap_or(0)), b' '),
    }
    file.rewind()?;
    file.write_all(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test lays out the file by hand")]
    fn the_holder_is_known_whatever_was_in_the_file() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = Dir::open(temporary.path()).unwrap();
        let path = RelPath::new("session.lock").unwrap();
        for length in [0, 5, 200, 5_000] {
            std::fs::write(temporary.path().join("session.lock"), "x".repeat(length)).unwrap();
            let held = Lock::try_acquire(&dir, &path).unwrap();
            match Lock::try_acquire(&dir, &path) {
                Err(LockError::Held { holder, .. }) => {
                    assert_eq!(holder, Some(LockHolder::this_process()), "{length}");
                }
                other => panic!("{other:?}"),
            }
            drop(held);
        }
    }

    #[test]
    fn the_second_is_told_who_holds_it() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = Dir::open(temporary.path()).unwrap();
        let path = RelPath::new("session.lock").unwrap();
        let first = Lock::try_acquire(&dir, &path).unwrap();
        match Lock::try_acquire(&dir, &path) {
            Err(LockError::Held { holder, .. }) => {
                assert_eq!(holder, Some(LockHolder::this_process()));
            }
            other => panic!("{other:?}"),
        }
        drop(first);
        Lock::try_acquire(&dir, &path).unwrap();
        std::fs::hard_link(
            temporary.path().join("session.lock"),
            temporary.path().join("precious"),
        )
        .unwrap();
        assert!(matches!(Lock::try_acquire(&dir, &path), Err(LockError::File(_))));
    }

    #[test]
    fn a_lock_without_a_word_leaves_the_time_alone() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = Dir::open(temporary.path()).unwrap();
        let path = RelPath::new("consolidate.lock").unwrap();
        assert!(matches!(
            Lock::try_acquire_unsigned(&dir, &path),
            Err(LockError::File(error)) if error.is_not_found()
        ));
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(7);
        let empty = crate::Replacement { modified: Some(long_ago), ..crate::Replacement::new(b"") };
        dir.replace_with(&path, &empty).unwrap();
        let held = Lock::try_acquire_unsigned(&dir, &path).unwrap();
        assert!(matches!(Lock::try_acquire_unsigned(&dir, &path), Err(LockError::Held { .. })));
        assert_eq!(dir.entry(&path).unwrap().modified, long_ago);
        let later = long_ago + Duration::from_secs(9);
        held.set_modified(later).unwrap();
        assert_eq!(dir.entry(&path).unwrap().modified, later);
        drop(held);
        Lock::try_acquire_unsigned(&dir, &path).unwrap();
    }

    #[test]
    fn looking_takes_nothing() {
        let temporary = tempfile::tempdir().unwrap();
        let dir = Dir::open(temporary.path()).unwrap();
        let path = RelPath::new("session.lock").unwrap();
        assert!(LockState::inspect(&dir, &path).unwrap_err().is_not_found());
        let held = Lock::try_acquire(&dir, &path).unwrap();
        let this = LockHolder::this_process();
        assert_eq!(LockState::inspect(&dir, &path).unwrap(), LockState::Held(Some(this.clone())));
        drop(held);
        assert_eq!(LockState::inspect(&dir, &path).unwrap(), LockState::Free);
        Lock::try_acquire(&dir, &path).unwrap();
        assert_eq!(this.process_state(), ProcessState::Running);
        assert_eq!(
            LockHolder { pid: u32::MAX, ..this.clone() }.process_state(),
            ProcessState::Ended
        );
        let other = LockHolder { host: "elsewhere.invalid".to_owned(), ..this };
        assert_eq!(other.process_state(), ProcessState::OtherHost);
    }
}
