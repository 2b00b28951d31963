//! The lock of a dream (B-19, B-20), held through the operating system.
//!
//! The modification time of the lock file is the time of the last successful dream: failure, kill and crash need no
//! repair. Invariant: creating the file or acquiring the lock does not change that time. The holder is recorded in
//! another file, for messages only.

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
/// The time of a lock file before the first dream.
const NEVER: SystemTime = SystemTime::UNIX_EPOCH;

/// The holder of the lock, as recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DreamLockHolder {
    /// Process id.
    pub pid: u32,
    /// Host name.
    pub host: String,
    /// Start of the dream.
    pub since: Timestamp,
}

impl fmt::Display for DreamLockHolder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let since = self.since.strftime("%Y-%m-%d %H:%M UTC");
        write!(f, "process {} on {} since {since}", self.pid, self.host)
    }
}

/// Whether a dream is running.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DreamState {
    /// No dream is running.
    Awake,
    /// A dream is running; its holder, if the record is readable.
    Dreaming(Option<DreamLockHolder>),
}

/// Why a dream cannot start.
#[derive(Debug, Error)]
pub enum DreamLockError {
    /// Another dream is running.
    #[error("a dream over this memory is under way: {}", said(.0.as_ref()))]
    Held(Option<DreamLockHolder>),
    /// The file system has no locks, so two dreams could run at once.
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

/// The lock of a dream, released when dropped.
#[derive(Debug)]
pub struct DreamLock {
    lock: Lock,
}

impl DreamLock {
    /// Records the success of the dream.
    pub fn succeeded(&self, now: Timestamp) -> Result<(), FileError> {
        self.lock.set_modified(now.into())
    }
}

impl DreamRecords<'_> {
    /// The time of the last successful dream.
    pub fn last_success(&self) -> Result<Option<Timestamp>, FileError> {
        let modified = match self.store.state.entry(&name(LOCK)) {
            Ok(entry) => entry.modified,
            Err(error) if error.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        Ok(Timestamp::try_from(modified).ok().filter(|_| modified != NEVER))
    }

    /// Whether a dream is running. Does not acquire the lock.
    pub fn lock_state(&self) -> Result<DreamState, FileError> {
        match LockState::inspect(&self.store.state, &name(LOCK)) {
            Ok(LockState::Free) => Ok(DreamState::Awake),
            Ok(LockState::Held(_)) => Ok(DreamState::Dreaming(self.dreamer())),
            Err(error) if error.is_not_found() => Ok(DreamState::Awake),
            Err(error) => Err(error),
        }
    }

    /// Acquires the lock for a dream.
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
        // A number and two texts always serialize.
        let text = serde_json::to_vec(&holder).unwrap_or_default();
        self.store.state.replace(&name(HOLDER), &text)?;
        Ok(DreamLock { lock })
    }

    /// Creates the lock file with the time for "no dream". Under the store's lock, since two processes would otherwise
    /// each lock their own file.
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
        // Only for a message, which says less without it.
        serde_json::from_slice(&self.store.state.read(&name(HOLDER)).ok()?).ok()
    }
}
