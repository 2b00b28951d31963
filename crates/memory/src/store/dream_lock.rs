//! The lock of a dream (B-19, B-20): held by the operating system for whoever dreams over this store.
//!
//! Its file's time is that of the last dream, and is set on success only: failure, kill and crash need no repair.
//! Invariant: neither making the file nor taking the lock looks like a dream. Who holds it stands beside it, for
//! messages only.

use std::fmt;
use std::time::SystemTime;

use dormouse_base::{FileError, Lock, LockError, LockHolder, LockState, Replacement};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::dream_records::DreamRecords;
use super::error::ChangeError;
use super::fixed_path::name;
use super::locked::Locked;

const LOCK: &str = "consolidate.lock";
const HOLDER: &str = "consolidate.holder.json";
/// The time of a lock file that no dream has set: nothing was dreamt.
const NEVER: SystemTime = SystemTime::UNIX_EPOCH;

/// Who dreams, as they wrote it down.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DreamLockHolder {
    /// The process.
    pub pid: u32,
    /// The machine.
    pub host: String,
    /// Since when.
    pub since: Timestamp,
}

impl fmt::Display for DreamLockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.since.strftime("%Y-%m-%d %H:%M UTC");
        write!(f, "process {} on {} since {since}", self.pid, self.host)
    }
}

/// Whether somebody dreams.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DreamState {
    /// Nobody does.
    Awake,
    /// Somebody does, who is named if that is readable.
    Dreaming(Option<DreamLockHolder>),
}

/// Why nobody can dream here now.
#[derive(Debug, Error)]
pub enum DreamLockError {
    /// Somebody dreams already.
    #[error("a dream over this memory is under way: {}", said(.0.as_ref()))]
    Held(Option<DreamLockHolder>),
    /// Two could dream at once, and nobody would know.
    #[error(
        "the file system has no locks ({0}), so there is no dreaming here; keep DORMOUSE_HOME on one that has"
    )]
    NoLocks(FileError),
    /// The file system refused.
    #[error("no dreaming here: {0}")]
    File(#[from] FileError),
    /// The store could not be opened.
    #[error("no dreaming here: {0}")]
    Store(#[from] ChangeError),
}

fn said(dreamer: Option<&DreamLockHolder>) -> String {
    dreamer.map_or_else(|| "another process".to_owned(), ToString::to_string)
}

/// The lock of a dream, held until it is dropped.
#[derive(Debug)]
pub struct DreamLock {
    lock: Lock,
}

impl DreamLock {
    /// The dream has succeeded: this is the time of the last one from now on.
    pub fn succeeded(&self, now: Timestamp) -> Result<(), FileError> {
        self.lock.set_modified(now.into())
    }
}

impl DreamRecords<'_> {
    /// When the last dream over this store succeeded; never, if none did.
    pub fn last_success(&self) -> Result<Option<Timestamp>, FileError> {
        let modified = match self.store.state.entry(&name(LOCK)) {
            Ok(entry) => entry.modified,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Timestamp::try_from(modified).ok().filter(|_| modified != NEVER))
    }

    /// Whether somebody dreams now. Takes nothing.
    pub fn lock_state(&self) -> Result<DreamState, FileError> {
        match LockState::inspect(&self.store.state, &name(LOCK)) {
            Ok(LockState::Free) => Ok(DreamState::Awake),
            Ok(LockState::Held(_)) => Ok(DreamState::Dreaming(self.dreamer())),
            Err(error) if error.is_not_found() => Ok(DreamState::Awake),
            Err(error) => Err(error),
        }
    }

    /// Begins a dream, if nobody else dreams.
    pub fn acquire_lock(&self) -> Result<DreamLock, DreamLockError> {
        self.make_lock_file()?;
        let lock = match Lock::try_acquire_unsigned(&self.store.state, &name(LOCK)) {
            Ok(lock) => lock,
            Err(LockError::Held { .. }) => return Err(DreamLockError::Held(self.dreamer())),
            Err(LockError::File(error)) if error.locks_unsupported() => {
                return Err(DreamLockError::NoLocks(error));
            }
            Err(LockError::File(error)) => return Err(error.into()),
        };
        let LockHolder { pid, host } = LockHolder::this_process();
        let holder = DreamLockHolder { pid, host, since: self.store.options.clock.now() };
        // A number and two texts have no way to fail to serialise.
        let text = serde_json::to_vec(&holder).unwrap_or_default();
        self.store.state.replace(&name(HOLDER), &text)?;
        Ok(DreamLock { lock })
    }

    /// Makes the lock file with the time of no dream. The store's own lock keeps two from doing so, which would
    /// leave each with a file of its own.
    fn make_lock_file(&self) -> Result<(), DreamLockError> {
        let is_missing = || match self.store.state.entry(&name(LOCK)) {
            Ok(_) => Ok(false),
            Err(error) if error.is_not_found() => Ok(true),
            Err(error) => Err(error),
        };
        if !is_missing()? {
            return Ok(());
        }
        let _alone = Locked::acquire(self.store)?;
        if is_missing()? {
            let empty = Replacement { modified: Some(NEVER), ..Replacement::new(b"") };
            self.store.state.replace_with(&name(LOCK), &empty)?;
        }
        Ok(())
    }

    fn dreamer(&self) -> Option<DreamLockHolder> {
        // It is for a message: without it the message only says less.
        serde_json::from_slice(&self.store.state.read(&name(HOLDER)).ok()?).ok()
    }
}
