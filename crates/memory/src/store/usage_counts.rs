//! How often a memory was recalled, what that took, and whether it was good for anything: small files in
//! the state folder; the loaded index, which ranks by them (M-6); and the list of those that never helped.

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

/// A memory that was put in so often and helped never is likely to go on so.
const CHANCES: u64 = 8;
/// A count that has to wait longer is lost, which costs next to nothing.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a memory has been used, and what it was good for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryUsage {
    /// How often it was put into a conversation unasked.
    pub recalled: u64,
    /// When last.
    pub last: Option<Timestamp>,
    /// How many of these were in turns that were watched to their end: of another agent's turns nothing is known.
    pub watched: u64,
    /// In how many turns an answer named or quoted it.
    pub cited: u64,
    /// In how many turns what it is about came up, and nothing had to be corrected.
    pub heeded: u64,
    /// In how many turns the person had to say it again.
    pub violated: u64,
    /// The tokens that it took, all times together, as estimated.
    pub tokens: u64,
    /// When it was last cited or heeded.
    pub last_helped: Option<Timestamp>,
}

impl MemoryUsage {
    /// Whether it only costs: put in again and again, and never of use to anybody. What the person had to say
    /// again is wanted, whoever does not heed it.
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

/// For whose turn a memory was recalled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecalledFor {
    /// A turn of this program, of which the effect is counted.
    Us,
    /// Another agent's, of which nothing more is heard.
    Others,
}

/// What a turn adds to a memory's counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageUpdate {
    /// Which memory.
    pub file: MemoryFile,
    /// How often it was put in.
    pub recalled: u64,
    /// For whom.
    pub recalled_for: RecalledFor,
    /// What that took.
    pub tokens: u64,
    /// What the turn says about it.
    pub effect: TurnUsage,
}

impl UsageUpdate {
    /// Nothing so far, in a turn of this program.
    pub fn of(file: MemoryFile) -> Self {
        let effect = TurnUsage::default();
        Self { file, recalled: 0, recalled_for: RecalledFor::Us, tokens: 0, effect }
    }

    /// It was put in once, and took so many tokens.
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
    /// Adds what a turn says. Gives back the counts as they are now.
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
            // A struct of numbers has no way to fail to serialise.
            let text = serde_json::to_vec(&uses).unwrap_or_default();
            self.replace(&path_of(count.file.as_str()), &text)?;
            counted.push((count.file.clone(), uses));
        }
        self.list_never_helped(&counted)?;
        Ok(counted)
    }

    /// Brings the list up to date; the caller holds the lock.
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

    /// How a memory has been used; none if it never was.
    pub fn of(&self, file: &str) -> Option<MemoryUsage> {
        // Counts that can not be read are as good as none.
        serde_json::from_slice(&self.store.state.read(&path_of(file)).ok()?).ok()
    }

    /// The memories that cost and never helped, those that took most first: what a tidying may look at. What is
    /// pinned stays, whatever it costs.
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
