//! Guards made from memories: the memory of each guard, its entries in settings files, and offers that the user
//! has refused. One record for all memory directories, in the state folder, because guards of several memories may be
//! in one settings file.
//!
//! Invariant: the record has everything that was added, so that exactly that can be removed again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_base::{Dir, FileError, Lock, LockError, RelPath};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// Number of corrections before a guard is offered, and before the next offer after a refusal.
pub const CORRECTIONS: u64 = 3;

/// How long to wait for another process; a change takes milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);
const FILE: &str = "guards.json";
const LOCK: &str = "guards.lock";

/// Why the record cannot be used.
#[derive(Debug, Error)]
pub enum GuardRegistryError {
    /// The file is not as this program writes it.
    #[error("{} cannot be read: {error}; fix it, or move it away (guards stay in the settings)", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: serde_json::Error,
    },
    /// Another process holds the lock.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Whether the program added an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineOrigin {
    /// Added by the program, which removes it again.
    Ours,
    /// Existed before, and stays.
    Theirs,
}

/// An entry of a guard: an element of a list in a settings file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GuardLine {
    /// The keys of the list, from the top.
    pub list: Vec<String>,
    /// The element.
    pub value: Value,
    /// Whether the program added it.
    pub origin: LineOrigin,
}

/// An active guard.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryGuard {
    /// File of the memory.
    pub memory: PathBuf,
    /// Name of the memory.
    pub name: String,
    /// The settings file.
    pub settings: PathBuf,
    /// The entries in the settings file.
    pub lines: Vec<GuardLine>,
    /// Time of creation.
    pub since: Timestamp,
}

/// A settings file without any settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmptySettingsFile {
    /// The file did not exist.
    Absent,
    /// The file had only this whitespace, or was empty.
    Blank(String),
}

/// What the program created in a settings file besides entries: removed when it is empty again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedContainers {
    /// The previous content of the file, if it had no settings.
    pub whole: Option<EmptySettingsFile>,
    /// Objects and lists, by their keys from the top.
    pub containers: BTreeSet<Vec<String>>,
}

/// The content of the record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GuardRegistry {
    /// The active guards.
    pub guards: Vec<MemoryGuard>,
    /// The number of corrections when a guard was refused, by file of the memory.
    pub refused: BTreeMap<PathBuf, u64>,
    /// Created containers, by settings file.
    pub made: BTreeMap<PathBuf, CreatedContainers>,
}

impl GuardRegistry {
    /// Reads the record; empty if it does not exist.
    pub fn read(state_root: &Path) -> Result<Self, GuardRegistryError> {
        match Dir::open(state_root) {
            Ok(dir) => read(&dir),
            Err(error) if error.is_not_found() => Ok(Self::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Changes the record under its lock, then runs `then`. If either fails, the record stays as it was.
    pub fn change<T, E: From<GuardRegistryError>>(
        state_root: &Path,
        change: impl FnOnce(&mut Self) -> Result<T, E>,
        then: impl FnOnce(&T) -> Result<(), E>,
    ) -> Result<T, E> {
        let dir = Dir::create(state_root).map_err(GuardRegistryError::from)?;
        let lock = Lock::acquire_within(&dir, &plain(LOCK), PATIENCE);
        let _lock = lock.map_err(GuardRegistryError::from)?;
        let before = read(&dir)?;
        let mut book = before.clone();
        let done = change(&mut book)?;
        if book != before {
            write(&dir, &book)?;
        }
        match then(&done) {
            Ok(()) => Ok(done),
            Err(error) => {
                write(&dir, &before)?;
                Err(error)
            }
        }
    }

    /// The guard of a memory.
    pub fn guard_of(&self, memory: &Path) -> Option<&MemoryGuard> {
        self.guards.iter().find(|guard| guard.memory == memory)
    }

    /// Whether to offer a guard for a memory with this number of corrections.
    pub fn is_due(&self, memory: &Path, corrected: u64) -> bool {
        let refused = self.refused.get(memory).copied().unwrap_or(0);
        self.guard_of(memory).is_none() && corrected >= refused.saturating_add(CORRECTIONS)
    }
}

fn write(dir: &Dir, book: &GuardRegistry) -> Result<(), GuardRegistryError> {
    // Texts and numbers always serialize.
    let text = serde_json::to_vec_pretty(book).unwrap_or_default();
    Ok(dir.replace(&plain(FILE), &text)?)
}

fn read(dir: &Dir) -> Result<GuardRegistry, GuardRegistryError> {
    let bytes = match dir.read(&plain(FILE)) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(GuardRegistry::default()),
        Err(error) => return Err(error.into()),
    };
    let path = dir.path().join(FILE);
    serde_json::from_slice(&bytes).map_err(|error| GuardRegistryError::Unreadable { path, error })
}

#[expect(clippy::expect_used, reason = "only fixed plain names come in")]
fn plain(name: &str) -> RelPath {
    RelPath::new(name).expect("a plain name")
}
