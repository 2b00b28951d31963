//! How often memories were recalled, how many tokens that took, and whether they helped: small files in the
//! state folder. The ranking of the loaded index (M-6) and the list of memories that never helped are based on them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{Durability, FileError, Lock, RelPath, Replacement};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::context::StoreContext;
use super::error::ChangeError;
use super::fixed_path::name;
use super::never_helped::NEVER_HELPED;
use crate::memory_usage::TurnUsage;
use crate::names::MemoryFile;
use crate::scan::{Scan, Scanned};

/// Recalls without any help after which a memory counts as never helpful.
const CHANCES: u64 = 8;
/// A count that has to wait longer is dropped, which costs next to nothing.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a memory has been used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryUsage {
    /// Number of automatic recalls.
    pub recalled: u64,
    /// Time of the last recall.
    pub last: Option<Timestamp>,
    /// Recalls in turns whose outcome is known: turns of other agents are not observed.
    pub watched: u64,
    /// Number of turns in which a response named or quoted it.
    pub cited: u64,
    /// Number of turns that touched its subject without need for correction.
    pub heeded: u64,
    /// Number of turns in which the user had to repeat it.
    pub violated: u64,
    /// Estimated tokens of all recalls.
    pub tokens: u64,
    /// Time when it was last cited or heeded.
    pub last_helped: Option<Timestamp>,
}

impl MemoryUsage {
    /// Whether it was recalled often and never helped. A memory that the user had to repeat is wanted, even if it was
    /// not heeded.
    pub fn never_helped(&self) -> bool {
        self.watched >= CHANCES && self.cited + self.heeded + self.violated == 0
    }

    fn add(&mut self, count: &UsageUpdate, now: Timestamp) {
        if count.recalled > 0 {
            self.recalled += count.recalled;
            self.watched += if count.recalled_for == RecalledFor::Us { count.recalled } else { 0 };
            self.last = Some(now);
        }
        self.tokens += count.tokens;
        self.cited += u64::from(count.effect.cited);
        self.heeded += u64::from(count.effect.heeded);
        self.violated += u64::from(count.effect.violated);
        if count.effect.helped() {
            self.last_helped = Some(now);
        }
    }
}

/// The agent whose turn a memory was recalled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecalledFor {
    /// This program: the outcome of the turn is counted.
    Us,
    /// Another agent: the outcome is unknown.
    Others,
}

/// The usage of a memory in one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageUpdate {
    /// File of the memory.
    pub file: MemoryFile,
    /// Number of recalls.
    pub recalled: u64,
    /// The agent.
    pub recalled_for: RecalledFor,
    /// Tokens of the recalls.
    pub tokens: u64,
    /// How the turn used it.
    pub effect: TurnUsage,
}

impl UsageUpdate {
    /// No usage yet, in a turn of this program.
    pub fn of(file: MemoryFile) -> Self {
        let effect = TurnUsage::default();
        Self { file, recalled: 0, recalled_for: RecalledFor::Us, tokens: 0, effect }
    }

    /// Adds a recall of this many tokens.
    #[must_use]
    pub fn recalled(self, recalled_for: RecalledFor, tokens: u32) -> Self {
        let (recalled, tokens) = (self.recalled + 1, self.tokens + u64::from(tokens));
        Self { recalled, recalled_for, tokens, ..self }
    }

    fn is_nothing(&self) -> bool {
        self.recalled == 0 && self.effect == TurnUsage::default()
    }
}

fn path_of(file: &str) -> RelPath {
    let key: String = blake3::hash(file.as_bytes()).to_hex().chars().take(32).collect();
    name(&format!("uses/{key}"))
}

/// Usage counts of the memories of a store: small files in the state folder. Counts may be lost, never wrong by more than
/// a turn.
pub struct StoreUsage<'a> {
    store: &'a StoreContext,
}

impl<'a> StoreUsage<'a> {
    pub(super) fn new(store: &'a StoreContext) -> Self {
        Self { store }
    }
}

impl StoreUsage<'_> {
    /// Adds the usage of a turn. Returns the new counts.
    pub fn record(
        &self,
        counts: &[UsageUpdate],
    ) -> Result<Vec<(MemoryFile, MemoryUsage)>, ChangeError> {
        if counts.iter().all(UsageUpdate::is_nothing) {
            return Ok(Vec::new());
        }
        let _lock = Lock::acquire_within(&self.store.state, &name("uses.lock"), PATIENCE)?;
        let now = self.store.options.clock.now();
        let mut counted = Vec::new();
        for count in counts.iter().filter(|count| !count.is_nothing()) {
            let mut uses = self.of(count.file.as_str()).unwrap_or_default();
            uses.add(count, now);
            // A struct of numbers always serializes.
            let text = serde_json::to_vec(&uses).unwrap_or_default();
            self.replace(&path_of(count.file.as_str()), &text)?;
            counted.push((count.file.clone(), uses));
        }
        self.list_never_helped(&counted)?;
        Ok(counted)
    }

    /// Updates the list; the caller holds the lock.
    fn list_never_helped(&self, counted: &[(MemoryFile, MemoryUsage)]) -> Result<(), FileError> {
        let before = self.never_helped_files();
        let mut files = BTreeSet::clone(&before);
        for (file, uses) in counted {
            if uses.never_helped() {
                files.insert(file.to_string());
            } else {
                files.remove(file.as_str());
            }
        }
        if files == *before {
            return Ok(());
        }
        let lines: Vec<&str> = files.iter().map(String::as_str).collect();
        self.replace(&name(NEVER_HELPED), lines.join("\n").as_bytes())
    }

    fn replace(&self, path: &RelPath, bytes: &[u8]) -> Result<(), FileError> {
        let replacement =
            Replacement { durability: Durability::Unsynced, ..Replacement::new(bytes) };
        self.store.state.replace_with(path, &replacement)
    }

    /// The usage of a memory; `None` if it was never used.
    pub fn of(&self, file: &str) -> Option<MemoryUsage> {
        // Unreadable counts are treated as missing.
        serde_json::from_slice(&self.store.state.read(&path_of(file)).ok()?).ok()
    }

    /// The memories that were recalled often and never helped, the most expensive first, without pinned ones.
    pub fn never_helped(&self, scan: &Scan) -> Vec<(Arc<Scanned>, MemoryUsage)> {
        let files = self.never_helped_files();
        let listed = scan.memories.iter().filter(|memory| files.contains(memory.file.as_str()));
        let mut found: Vec<(Arc<Scanned>, MemoryUsage)> = listed
            .filter(|memory| !memory.header.pinned)
            .filter_map(|memory| Some((Arc::clone(memory), self.of(memory.file.as_str())?)))
            .filter(|(_, uses)| uses.never_helped())
            .collect();
        found.sort_by_key(|(_, uses)| std::cmp::Reverse(uses.tokens));
        found
    }

    /// The files of the memories that were recalled often and never helped.
    pub(crate) fn never_helped_files(&self) -> Arc<BTreeSet<String>> {
        self.store.never_helped.files(&self.store.state)
    }
}
