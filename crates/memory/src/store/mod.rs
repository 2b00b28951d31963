//! One door to memory: [`Store::change`] (M-14).
//!
//! Every write goes through it, whoever writes: guard, secrets, provenance, policy, journal, files, index
//! line and history are its steps, under a lock that is held for the time they take. The memory directory
//! itself holds nothing but markdown; lock, history, heads and inbox are in the state folder.

mod by;
mod commit;
mod content;
mod copy;
mod daily;
mod disk;
mod distilled;
mod dream_lock;
mod dreams;
mod error;
mod guard;
mod heads;
mod history;
mod inbox;
mod index_rules;
mod lines;
mod log;
mod outside;
mod plan;
mod policy;
mod prepare;
mod since;
mod trash;
mod undo;
mod units;
mod uses;

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{Clock, Dir, FileAction, FileError, Lock, ProjectSlug, RelPath};
use jiff::Timestamp;

use crate::{INDEX, MemoryFile, Scan, ScanCache, Scanned, Scope, extract_anchors, scan};
use dormouse_frontmatter::{self as frontmatter, FrontmatterEditError};

pub use by::{Author, By, Consent, MessageSource, SecretPolicy};
pub use content::ContentHash;
pub use distilled::{LogPart, LoggedNote};
pub use dream_lock::{DreamLock, DreamLockError, DreamState, Dreamer};
pub use error::ChangeError;
pub(crate) use guard::is_apart;
pub use history::ChangeId;
pub use inbox::{Proposal, ProposalId, ProposedFile};
pub(crate) use lines::link_to;
pub use log::{FileDiff, LogEntry};
pub use plan::{Expected, Plan};
pub use policy::{Policy, PolicyRule, Rule, Writer};
pub(crate) use since::{ChangesSince, HistoryPosition};
pub use trash::Trashed;
pub use units::{Applied, Fate, Trial, Unit, UnitWrite};
pub use uses::{RecalledFor, UseCount, Uses};

use disk::Current;
use heads::HeadCache;
use history::History;
use uses::NeverHelpedCache;

/// How long a change waits for others: on a busy machine chance may let one of many wait for long.
const WAIT: Duration = Duration::from_mins(1);

/// Looks for secrets in a text.
pub type SecretScan = fn(&str) -> Vec<dormouse_secrets::SecretFinding>;

/// Whether the program keeps the index (M-5), or leaves it to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexUpkeep {
    /// A line for every memory.
    Keep,
    /// The index is touched only where a change says so itself.
    Leave,
}

/// A project whose files memories are bound to (M-11).
#[derive(Debug, Clone)]
pub struct AnchoredProject {
    /// Its root.
    pub root: Dir,
    /// The commit that is checked out.
    pub commit: Option<String>,
}

/// How a store behaves.
#[derive(Clone)]
pub struct StoreOptions {
    /// For whom its memories are.
    pub scope: Scope,
    /// Folders at the top of the directory that are other stores' business, such as `team`.
    pub apart: Vec<String>,
    /// The write policy.
    pub policy: Policy,
    /// Whether the index is kept.
    pub index: IndexUpkeep,
    /// The project that memories may name files of.
    pub project: Option<AnchoredProject>,
    /// Looks for secrets.
    pub secrets: SecretScan,
    /// Where the time comes from.
    pub clock: Arc<dyn Clock>,
}

impl StoreOptions {
    /// The usual ones for a scope.
    pub fn new(scope: Scope, secrets: SecretScan, clock: Arc<dyn Clock>) -> Self {
        let apart = if scope == Scope::Project { vec!["team".to_owned()] } else { Vec::new() };
        let (policy, index) = (Policy::default(), IndexUpkeep::Keep);
        Self { scope, apart, policy, index, project: None, secrets, clock }
    }
}

/// What a change does to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It is new.
    Added,
    /// Its text changes.
    Changed,
    /// It is gone.
    Removed,
}

/// What became of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Everything was so already; nothing was written.
    Unchanged,
    /// It is done.
    Written(Receipt),
    /// The policy wants the person to be asked: [`Store::accept_now`] or [`Store::propose`].
    Ask(Proposal),
    /// It waits in the inbox.
    InInbox(ProposalId),
}

/// A change that was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Its number, for undoing it.
    pub id: ChangeId,
    /// [`Rule::Notify`] if the person is to be told.
    pub rule: Rule,
    /// What it did to which memory.
    pub files: Vec<(MemoryFile, Effect)>,
}

/// A memory directory with its state.
pub struct Store {
    memory: Dir,
    state: Dir,
    options: StoreOptions,
    heads: HeadCache,
    never_helped: NeverHelpedCache,
}

impl Store {
    /// Opens a memory directory, making it and its state folder (`<state_root>/<id>`) if needed, and
    /// finishes a change that was interrupted.
    pub fn open(
        directory: &Path,
        state_root: &Path,
        options: StoreOptions,
    ) -> Result<Self, ChangeError> {
        let store = Self::on(Dir::create(directory)?, state_root, options)?;
        drop(store.lock()?);
        Ok(store)
    }

    /// Opens a memory directory if there is one: looking makes nothing.
    pub fn existing(
        directory: &Path,
        state_root: &Path,
        options: StoreOptions,
    ) -> Result<Option<Self>, ChangeError> {
        match Dir::open(directory) {
            Ok(memory) => Self::on(memory, state_root, options).map(Some),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    fn on(memory: Dir, state_root: &Path, options: StoreOptions) -> Result<Self, ChangeError> {
        let real = memory
            .path()
            .canonicalize()
            .map_err(|error| FileError::new(FileAction::Read, memory.path(), error))?;
        let state = Dir::create(state_root.join(state_folder(&real)))?;
        let (heads, never_helped) = (HeadCache::default(), NeverHelpedCache::default());
        Ok(Self { memory, state, options, heads, never_helped })
    }

    /// The memory directory.
    pub fn dir(&self) -> &Dir {
        &self.memory
    }

    /// The folder of all state folders.
    pub fn state_root(&self) -> Option<&Path> {
        self.state.path().parent()
    }

    /// For whom its memories are.
    pub fn scope(&self) -> Scope {
        self.options.scope
    }

    /// The root of the project that memories are bound to, if there is one.
    pub fn project_root(&self) -> Option<&Dir> {
        self.options.project.as_ref().map(|project| &project.root)
    }

    /// What looks for secrets.
    pub(crate) fn secret_scan(&self) -> SecretScan {
        self.options.secrets
    }

    /// Folders at the top that are other stores' business.
    pub(crate) fn apart(&self) -> &[String] {
        &self.options.apart
    }

    /// All memories, newest first.
    pub fn scan(&self, cache: &mut ScanCache) -> Result<Scan, FileError> {
        let apart: Vec<&str> = self.options.apart.iter().map(String::as_str).collect();
        scan(&self.memory, &apart, cache)
    }

    /// A memory's bytes and their hash, which a later change can expect.
    pub fn read(&self, file: &MemoryFile) -> Result<(Vec<u8>, ContentHash), ChangeError> {
        match disk::read(&self.memory, file.path())? {
            Some(current) => Ok((current.bytes, current.hash)),
            None => Err(ChangeError::Missing(file.clone())),
        }
    }

    /// The index's text; empty if there is none.
    pub fn index_text(&self) -> Result<String, ChangeError> {
        let current = disk::read(&self.memory, &name(INDEX))?;
        let bytes = current.map(|current| current.bytes).unwrap_or_default();
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// When a memory's content last changed: by the history where it knows this content, else by the
    /// frontmatter, else by the file's time (M-9).
    pub fn changed_at(&self, memory: &Scanned) -> Timestamp {
        let otherwise = memory.header.modified.unwrap_or(memory.modified);
        let Some(head) = self.heads.read(&self.state, memory.file.as_str()) else {
            return otherwise;
        };
        let untouched = head.modified == memory.modified && head.size == memory.size;
        let same = || {
            let current = disk::read(&self.memory, memory.file.path()).ok().flatten();
            current.is_some_and(|current| Some(current.hash) == head.hash)
        };
        if untouched || same() { head.modified } else { otherwise }
    }

    /// Makes a change: `build` says what, the store does it or says why not.
    pub fn change(
        &self,
        by: &By,
        build: impl FnOnce(&mut Plan<'_>) -> Result<(), ChangeError>,
    ) -> Result<Outcome, ChangeError> {
        let mut locked = self.lock()?;
        let mut plan = Plan::new(&locked, by);
        build(&mut plan)?;
        let staged = plan.finish();
        let (prepared, rule) = prepare::prepare(&locked, by, staged)?;
        if prepared.is_nothing() {
            return Ok(Outcome::Unchanged);
        }
        match rule {
            Rule::Auto | Rule::Notify => {
                let receipt = locked.commit(prepared, rule)?;
                drop(locked);
                // The change is made: a purge that fails is tried again after the next one.
                let _failed = self.purge();
                Ok(Outcome::Written(receipt))
            }
            Rule::Ask => Ok(Outcome::Ask(prepared.proposal(by))),
            Rule::Inbox => {
                Ok(Outcome::InInbox(inbox::keep(&self.state, prepared.proposal(by), locked.now)?))
            }
        }
    }

    /// Takes the lock, finishes what was interrupted, and sees the directory for the first time if need be.
    fn lock(&self) -> Result<Locked<'_>, ChangeError> {
        let lock = Lock::acquire_within(&self.state, &name("lock"), WAIT)?;
        let (history, pending) = History::open(&self.state)?;
        let now = self.options.clock.now();
        let top = OnceCell::new();
        let mut locked = Locked { store: self, history, now, top, _lock: lock };
        if let Some(change) = pending {
            locked.recover(&change)?;
        } else if locked.history.is_empty() {
            locked.first_sight()?;
        }
        Ok(locked)
    }
}

/// The name of a memory directory's state folder.
pub(crate) fn state_folder(real_path: &Path) -> String {
    ProjectSlug::distinct(real_path).as_str().to_owned()
}

/// The store while the lock is held.
struct Locked<'a> {
    store: &'a Store,
    history: History,
    now: Timestamp,
    /// The names at the top of the directory, listed once: nobody but us adds any through this door.
    top: OnceCell<Vec<String>>,
    _lock: Lock,
}

impl Locked<'_> {
    /// A memory's text with anchors for what it names.
    fn anchored(&self, text: String) -> Result<String, FrontmatterEditError> {
        let Some(project) = &self.store.options.project else { return Ok(text) };
        let body = frontmatter::parse(&text).body;
        let anchors = extract_anchors(body, &project.root, project.commit.as_deref());
        if anchors.is_empty() {
            return frontmatter::remove(&text, "anchors");
        }
        let lines: Vec<String> = anchors.iter().map(ToString::to_string).collect();
        frontmatter::set_list(&text, "anchors", &lines)
    }

    /// The names in a folder, or at the top; none if there is no such folder.
    fn names_in(&self, folder: Option<&RelPath>) -> Result<Cow<'_, [String]>, ChangeError> {
        let Some(folder) = folder else {
            let top = match self.top.get() {
                Some(top) => top,
                None => {
                    let names = self.store.memory.names()?;
                    self.top.get_or_init(|| names)
                }
            };
            return Ok(Cow::Borrowed(top));
        };
        match self.store.memory.open_folder(folder) {
            Ok(folder) => Ok(Cow::Owned(folder.names()?)),
            Err(error) if error.is_not_found() => Ok(Cow::Owned(Vec::new())),
            Err(error) => Err(error.into()),
        }
    }

    fn current(&self, path: &RelPath) -> Result<Option<Current>, ChangeError> {
        disk::read(&self.store.memory, path)
    }
}

/// A fixed plain name inside the state folder or the directory.
#[expect(clippy::expect_used, reason = "only fixed plain names and hashes come in")]
fn name(plain: &str) -> RelPath {
    RelPath::new(plain).expect("a plain name")
}
