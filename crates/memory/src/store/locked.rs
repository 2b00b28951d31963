//! A store while its lock is held.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::time::Duration;

use dormouse_base::{Lock, RelPath};
use dormouse_frontmatter::{self as frontmatter, FrontmatterEditError};
use jiff::Timestamp;

use super::context::StoreContext;
use super::current_file::{self, CurrentFile};
use super::error::ChangeError;
use super::fixed_path::name;
use super::journal::ChangeJournal;
use crate::anchor::extract as extract_anchors;

/// How long a change waits for other processes.
const LOCK_TIMEOUT: Duration = Duration::from_mins(1);

/// A store while its lock is held.
pub(super) struct Locked<'a> {
    pub(super) store: &'a StoreContext,
    pub(super) journal: ChangeJournal,
    pub(super) now: Timestamp,
    /// Names at the top of the directory, listed once: no other process adds any while the lock is held.
    top: OnceCell<Vec<String>>,
    _lock: Lock,
}

impl<'a> Locked<'a> {
    /// Acquires the lock, finishes an interrupted change, and records the existing memories on first use.
    pub(super) fn acquire(store: &'a StoreContext) -> Result<Self, ChangeError> {
        let lock = Lock::acquire_within(&store.state, &name("lock"), LOCK_TIMEOUT)?;
        let (journal, pending) = ChangeJournal::open(&store.state)?;
        let now = store.options.clock.now();
        let mut locked = Self { store, journal, now, top: OnceCell::new(), _lock: lock };
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

    /// Names in a folder, or at the top; empty if the folder does not exist.
    pub(super) fn names_in(
        &self,
        folder: Option<&RelPath>,
    ) -> Result<Cow<'_, [String]>, ChangeError> {
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

    pub(super) fn current(&self, path: &RelPath) -> Result<Option<CurrentFile>, ChangeError> {
        current_file::read(&self.store.memory, path)
    }
}
