//! How often a memory was recalled, what that took, and whether it was good for anything: small files in
//! the state folder; the loaded index, which ranks by them (M-6); and the list of those that never helped.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use dormouse_base::{Durability, FileError, Lock, RelPath, Replacement};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use super::{ChangeError, Store, name};
use crate::effect::TurnEffect;
use crate::index::{self, Loaded, Rank};
use crate::{MemoryFile, Scan, Scanned};

/// What was written or recalled within this time ranks higher.
const RECENT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// A memory that was put in so often and helped never is likely to go on so.
const CHANCES: u64 = 8;
/// A count that has to wait longer is lost, which costs next to nothing.
const PATIENCE: Duration = Duration::from_secs(5);

/// How a memory has been used, and what it was good for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Uses {
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

impl Uses {
    /// Whether it only costs: put in again and again, and never of use to anybody. What the person had to say
    /// again is wanted, whoever does not heed it.
    pub fn never_helped(&self) -> bool {
        self.watched >= CHANCES && self.cited + self.heeded + self.violated == 0
    }

    fn add(&mut self, count: &UseCount, now: Timestamp) {
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
pub struct UseCount {
    /// Which memory.
    pub file: MemoryFile,
    /// How often it was put in.
    pub recalled: u64,
    /// For whom.
    pub recalled_for: RecalledFor,
    /// What that took.
    pub tokens: u64,
    /// What the turn says about it.
    pub effect: TurnEffect,
}

impl UseCount {
    /// Nothing so far, in a turn of this program.
    pub fn of(file: MemoryFile) -> Self {
        let effect = TurnEffect::default();
        Self { file, recalled: 0, recalled_for: RecalledFor::Us, tokens: 0, effect }
    }

    /// It was put in once, and took so many tokens.
    #[must_use]
    pub fn recalled(self, recalled_for: RecalledFor, tokens: u32) -> Self {
        let (recalled, tokens) = (self.recalled + 1, self.tokens + u64::from(tokens));
        Self { recalled, recalled_for, tokens, ..self }
    }

    fn is_nothing(&self) -> bool {
        self.recalled == 0 && self.effect == TurnEffect::default()
    }
}

fn path_of(file: &str) -> RelPath {
    let key: String = blake3::hash(file.as_bytes()).to_hex().chars().take(32).collect();
    name(&format!("uses/{key}"))
}

/// The files of the memories that never helped, a line each: a ranking asks for all of them at once.
const NEVER_HELPED: &str = "uses.never-helped";

/// That list, as it was last read.
#[derive(Debug, Default)]
pub(super) struct NeverHelpedCache(Mutex<Option<KnownList>>);

#[derive(Debug)]
struct KnownList {
    modified: SystemTime,
    size: u64,
    files: Arc<BTreeSet<String>>,
}

impl Store {
    /// Adds what a turn says. Gives back the counts as they are now.
    pub fn count_uses(&self, counts: &[UseCount]) -> Result<Vec<(MemoryFile, Uses)>, ChangeError> {
        if counts.iter().all(UseCount::is_nothing) {
            return Ok(Vec::new());
        }
        let _lock = Lock::acquire_within(&self.state, &name("uses.lock"), PATIENCE)?;
        let now = self.options.clock.now();
        let mut counted = Vec::new();
        for count in counts.iter().filter(|count| !count.is_nothing()) {
            let mut uses = self.uses(count.file.as_str()).unwrap_or_default();
            uses.add(count, now);
            // A struct of numbers has no way to fail to serialise.
            let text = serde_json::to_vec(&uses).unwrap_or_default();
            self.replace_hastily(&path_of(count.file.as_str()), &text)?;
            counted.push((count.file.clone(), uses));
        }
        self.list_never_helped(&counted)?;
        Ok(counted)
    }

    /// Brings the list up to date; the caller holds the lock.
    fn list_never_helped(&self, counted: &[(MemoryFile, Uses)]) -> Result<(), FileError> {
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
        self.replace_hastily(&name(NEVER_HELPED), lines.join("\n").as_bytes())
    }

    fn replace_hastily(&self, path: &RelPath, bytes: &[u8]) -> Result<(), FileError> {
        let hasty = Replacement { durability: Durability::Unsynced, ..Replacement::new(bytes) };
        self.state.replace_with(path, &hasty)
    }

    /// How a memory has been used; none if it never was.
    pub fn uses(&self, file: &str) -> Option<Uses> {
        // Counts that can not be read are as good as none.
        serde_json::from_slice(&self.state.read(&path_of(file)).ok()?).ok()
    }

    /// The files of the memories that cost and never helped. One question to the file system, unless the list
    /// has changed.
    pub(crate) fn never_helped_files(&self) -> Arc<BTreeSet<String>> {
        let path = name(NEVER_HELPED);
        let Ok(entry) = self.state.entry(&path) else { return Arc::default() };
        let mut known = self.never_helped.0.lock().unwrap_or_else(PoisonError::into_inner);
        let same =
            |known: &&KnownList| known.modified == entry.modified && known.size == entry.size;
        if let Some(known) = known.as_ref().filter(same) {
            return Arc::clone(&known.files);
        }
        // A list that can not be read lists nothing.
        let bytes = self.state.read(&path).unwrap_or_default();
        let lines = String::from_utf8_lossy(&bytes);
        let files: Arc<BTreeSet<String>> = Arc::new(lines.lines().map(str::to_owned).collect());
        let (modified, size) = (entry.modified, entry.size);
        *known = Some(KnownList { modified, size, files: Arc::clone(&files) });
        files
    }

    /// The memories that cost and never helped, those that took most first: what a tidying may look at. What is
    /// pinned stays, whatever it costs.
    pub fn never_helped(&self, scan: &Scan) -> Vec<(Arc<Scanned>, Uses)> {
        let files = self.never_helped_files();
        let listed = scan.memories.iter().filter(|memory| files.contains(memory.file.as_str()));
        let mut found: Vec<(Arc<Scanned>, Uses)> = listed
            .filter(|memory| !memory.header.pinned)
            .filter_map(|memory| Some((Arc::clone(memory), self.uses(memory.file.as_str())?)))
            .filter(|(_, uses)| uses.never_helped())
            .collect();
        found.sort_by_key(|(_, uses)| std::cmp::Reverse(uses.tokens));
        found
    }

    /// The index as a session gets it: pinned, recently written and recently recalled memories first.
    /// The memories are scanned only where not all of it fits: a session begins without that.
    pub fn loaded_index(
        &self,
        scan: impl FnOnce() -> Result<Scan, FileError>,
    ) -> Result<Loaded, ChangeError> {
        let text = self.index_text()?;
        if !index::fill(&text).is_over() {
            return Ok(index::load(&text, |_| Rank::Rest));
        }
        let scan = scan()?;
        let since = self.options.clock.now().saturating_sub(RECENT).unwrap_or(Timestamp::MIN);
        let memories: BTreeMap<&str, &Scanned> =
            scan.memories.iter().map(|memory| (memory.file.as_str(), memory.as_ref())).collect();
        let is_used = |uses: Uses| uses.last >= Some(since) && !uses.never_helped();
        Ok(index::load(&text, |file| {
            let Some(memory) = memories.get(file) else { return Rank::Rest };
            if memory.header.pinned {
                Rank::Pinned
            } else if self.is_written_since(memory, since) {
                Rank::Written
            } else if self.uses(file).is_some_and(is_used) {
                Rank::Recalled
            } else {
                Rank::Rest
            }
        }))
    }

    /// A file that was not touched since was not written either: most need no look into the history.
    fn is_written_since(&self, memory: &Scanned, since: Timestamp) -> bool {
        let stated = memory.header.modified.is_some_and(|modified| modified >= since);
        (stated || memory.modified >= since) && self.changed_at(memory) >= since
    }
}
