//! Guards that memories were made into: which belongs to which memory, what was put into which settings
//! file for it, and which offers the person has refused. One book for all memory directories, in the state folder:
//! guards of several memories may stand in one settings file.
//!
//! Invariant: the book knows everything that was put in, so that just that can be taken out again.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_base::{Dir, FileError, Lock, LockError, RelPath};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// So many corrections before a guard is offered, and so many more after a refusal.
pub const CORRECTIONS: u64 = 3;

/// Somebody else may be at it; this is a matter of milliseconds.
const PATIENCE: Duration = Duration::from_secs(5);
const FILE: &str = "guards.json";
const LOCK: &str = "guards.lock";

/// Why the book can not be used.
#[derive(Debug, Error)]
pub enum GuardRegistryError {
    /// Not as this program writes it.
    #[error("{} can not be read: {error}; mend it, or move it away: guards stay in the settings", path.display())]
    Unreadable {
        /// The book.
        path: PathBuf,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// Somebody else holds it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The system would not.
    #[error(transparent)]
    File(#[from] FileError),
}

/// Whether the program put a line there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LineOrigin {
    /// It did, and takes it out again.
    Ours,
    /// It was there before, and stays.
    Theirs,
}

/// A line of a guard: an element of a list in a settings file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GuardLine {
    /// The keys down to the list.
    pub list: Vec<String>,
    /// The element.
    pub value: Value,
    /// Whose it is.
    pub origin: LineOrigin,
}

/// A guard in force.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryGuard {
    /// The file of the memory it stands for.
    pub memory: PathBuf,
    /// That memory's name.
    pub name: String,
    /// The settings file it is in.
    pub settings: PathBuf,
    /// What stands there for it.
    pub lines: Vec<GuardLine>,
    /// Since when.
    pub since: Timestamp,
}

/// A settings file that said nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EmptySettingsFile {
    /// There was none.
    Absent,
    /// It held this white space, or nothing at all.
    Blank(String),
}

/// What the program made in a settings file, beside the lines: it goes when it is empty again.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CreatedContainers {
    /// The whole of it: what the file was before, if there was nothing in it.
    pub whole: Option<EmptySettingsFile>,
    /// Objects and lists, by the keys down to them.
    pub containers: BTreeSet<Vec<String>>,
}

/// What is in the book.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GuardRegistry {
    /// The guards in force.
    pub guards: Vec<MemoryGuard>,
    /// By the memory's file: how often it had been corrected when a guard was refused.
    pub refused: BTreeMap<PathBuf, u64>,
    /// By settings file.
    pub made: BTreeMap<PathBuf, CreatedContainers>,
}

impl GuardRegistry {
    /// Reads it; empty where there is none.
    pub fn read(state_root: &Path) -> Result<Self, GuardRegistryError> {
        match Dir::open(state_root) {
            Ok(dir) => read(&dir),
            Err(error) if error.is_not_found() => Ok(Self::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Changes it, alone, and then does what goes with that. Where either fails, the book is as before.
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

    /// Whether a guard is to be offered for a memory that was corrected so often.
    pub fn is_due(&self, memory: &Path, corrected: u64) -> bool {
        let refused = self.refused.get(memory).copied().unwrap_or(0);
        self.guard_of(memory).is_none() && corrected >= refused.saturating_add(CORRECTIONS)
    }
}

fn write(dir: &Dir, book: &GuardRegistry) -> Result<(), GuardRegistryError> {
    // Texts and numbers have no way to fail to serialise.
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
