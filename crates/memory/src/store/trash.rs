//! Trash: removed memories can be restored for 30 days (M-22).

use std::collections::{BTreeMap, BTreeSet};

use dormouse_base::{Dir, Durability, Replacement};
use jiff::{SignedDuration, Timestamp};

use super::change_id::ChangeId;
use super::change_origin::ChangeAuthor;
use super::content::ContentHash;
use super::context::StoreContext;
use super::error::ChangeError;
use super::fixed_path::name;
use super::journal::{self, ChangeOutline, JournalLine, RecordedChange};
use super::kept_contents::KeptContents;
use super::last_known;
use super::locked::Locked;
use super::store_history::StoreHistory;
use crate::entry::MemoryEntry;
use crate::names::MemoryFile;

/// How long a removed memory can be restored (M-22).
const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

/// File with the time of the next purge.
const DUE: &str = "purge.due";

/// A removed memory that can be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trashed {
    /// File of the memory.
    pub file: MemoryFile,
    /// Name, or file name if it had none.
    pub name: String,
    /// When it was removed.
    pub removed: Timestamp,
    /// The change that removed it.
    pub change: ChangeId,
    /// Author of that change.
    pub author: ChangeAuthor,
}

impl StoreHistory<'_> {
    /// Removed memories that can be restored, newest first.
    pub fn trash(&self) -> Result<Vec<Trashed>, ChangeError> {
        let changes = journal::read_outline(&self.store.state)?;
        let mut removed: BTreeMap<&MemoryFile, RemovedMemory<'_>> = BTreeMap::new();
        for change in &changes {
            for file in &change.files {
                if file.after.is_some() {
                    removed.remove(&file.file);
                } else {
                    removed.insert(&file.file, (change, file.before.as_ref()));
                }
            }
        }
        let limit = oldest_kept(self.store.options.clock.now());
        removed.retain(|_, (change, _)| change.time > limit);
        let hashes = removed.values().filter_map(|(_, hash)| *hash).collect();
        let contents = KeptContents::read(&self.store.state, &hashes)?;
        let trashed = removed.iter().map(|(file, (change, hash))| Trashed {
            file: (*file).clone(),
            name: name_of(file, hash.and_then(|hash| contents.bytes(hash))),
            removed: change.time,
            change: change.id,
            author: change.author.clone(),
        });
        let mut list: Vec<Trashed> = trashed.collect();
        list.sort_by_key(|trashed| std::cmp::Reverse(trashed.change));
        Ok(list)
    }

    /// Deletes the contents of memories that were removed more than 30 days ago; the log entries stay. Returns the
    /// number of memories. Cheap before anything is due.
    pub fn purge(&self) -> Result<usize, ChangeError> {
        purge(self.store)
    }
}

/// Deletes the contents of memories that were removed more than 30 days ago.
pub(super) fn purge(store: &StoreContext) -> Result<usize, ChangeError> {
    if next_purge(&store.state).is_some_and(|due| store.options.clock.now() < due) {
        return Ok(0);
    }
    let locked = Locked::acquire(store)?;
    let mut lines = journal::read_lines(&store.state)?;
    let mut removed = removed_memories(&mut lines);
    let kept = removed.extract_if(.., |_, time| *time > oldest_kept(locked.now));
    let oldest = kept.map(|(_, time)| time).min().unwrap_or(locked.now);
    let mut purged = BTreeSet::new();
    for change in changes_in(&mut lines) {
        purged.extend(delete_contents(change, &removed));
    }
    if !purged.is_empty() {
        last_known::renew_index_copy(&store.state)?;
        journal::rewrite(&store.state, &lines)?;
    }
    schedule_purge(&store.state, oldest)?;
    Ok(purged.len())
}

/// A time that cannot be read means a purge now, which writes it again.
fn next_purge(state: &Dir) -> Option<Timestamp> {
    let text = String::from_utf8(state.read(&name(DUE)).ok()?).ok()?;
    text.parse().ok()
}

/// Memories removed later are due later than the oldest that is still kept.
fn schedule_purge(state: &Dir, oldest: Timestamp) -> Result<(), ChangeError> {
    let due = oldest.saturating_add(KEPT).unwrap_or(Timestamp::MAX).to_string();
    let replacement =
        Replacement { durability: Durability::Unsynced, ..Replacement::new(due.as_bytes()) };
    Ok(state.replace_with(&name(DUE), &replacement)?)
}

/// Memories removed before this time are purged.
fn oldest_kept(now: Timestamp) -> Timestamp {
    now.saturating_sub(KEPT).unwrap_or(Timestamp::MIN)
}

/// The change that removed a memory, and its last content.
type RemovedMemory<'a> = (&'a ChangeOutline, Option<&'a ContentHash>);

/// Name of a removed memory by its last content.
fn name_of(file: &MemoryFile, last: Option<Vec<u8>>) -> String {
    let name = last.and_then(|bytes| MemoryEntry::read(&bytes, bytes.len() as u64).header.name);
    name.unwrap_or_else(|| file.stem().to_owned())
}

/// Removed memories and the time of their removal.
fn removed_memories(lines: &mut [JournalLine]) -> BTreeMap<MemoryFile, Timestamp> {
    let mut removed = BTreeMap::new();
    for change in changes_in(lines) {
        for file in &change.files {
            match file.after {
                None => removed.insert(file.file.clone(), change.time),
                Some(_) => removed.remove(&file.file),
            };
        }
    }
    removed
}

fn changes_in(lines: &mut [JournalLine]) -> impl Iterator<Item = &mut RecordedChange> {
    lines.iter_mut().filter_map(|line| match line {
        JournalLine::Change(change) => Some(change.as_mut()),
        JournalLine::Done { .. } | JournalLine::Dropped { .. } => None,
    })
}

/// Deletes the contents of these memories from a change, and index lines that quote them.
fn delete_contents(
    change: &mut RecordedChange,
    removed: &BTreeMap<MemoryFile, Timestamp>,
) -> Vec<MemoryFile> {
    let mut deleted = Vec::new();
    for file in change.files.iter_mut().filter(|file| removed.contains_key(&file.file)) {
        change.index = None;
        if let Some(version) = &mut file.after
            && version.content.take().is_some()
        {
            deleted.push(file.file.clone());
        }
    }
    deleted
}
