//! A store while its lock is held.

use std::time::Duration;

use dormouse_base::Lock;
use dormouse_frontmatter::{self as frontmatter, FrontmatterEditError};
use jiff::Timestamp;

use super::context::StoreContext;
use super::error::ChangeError;
use super::fixed_path::name;
use super::journal::ChangeJournal;
use super::memory_files::MemoryFiles;
use crate::anchor::extract as extract_anchors;

/// How long a change waits for other processes.
const LOCK_TIMEOUT: Duration = Duration::from_mins(1);

/// A store while its lock is held: no interrupted change is left, and no other process of ours writes.
pub(super) struct Locked<'a> {
    pub(super) store: &'a StoreContext,
    pub(super) files: MemoryFiles<'a>,
    pub(super) journal: ChangeJournal,
    pub(super) now: Timestamp,
    _lock: Lock,
}

impl<'a> Locked<'a> {
    /// Acquires the lock, finishes an interrupted change, and records the existing memories on first use.
    pub(super) fn acquire(store: &'a StoreContext) -> Result<Self, ChangeError> {
        let lock = Lock::acquire_within(&store.state, &name("lock"), LOCK_TIMEOUT)?;
        let (journal, pending) = ChangeJournal::open(&store.state)?;
        let now = store.options.clock.now();
        let files = MemoryFiles::new(&store.memory, &store.state);
        let mut locked = Self { store, files, journal, now, _lock: lock };
        if let Some(change) = pending {
            locked.recover(&change)?;
        } else if locked.journal.is_empty() {
            locked.record_first_sight()?;
        }
        Ok(locked)
    }
}

impl Locked<'_> {
    /// Adds anchors for the files and symbols that a memory mentions.
    pub(super) fn anchored(&self, text: String) -> Result<String, FrontmatterEditError> {
        let Some(project) = &self.store.options.project else { return Ok(text) };
        let body = frontmatter::parse(&text).body;
        let anchors = extract_anchors(body, &project.root, project.commit.as_deref());
        if anchors.is_empty() {
            return frontmatter::remove(&text, "anchors");
        }
        let lines: Vec<String> = anchors.iter().map(ToString::to_string).collect();
        frontmatter::set_list(&text, "anchors", &lines)
    }
}
