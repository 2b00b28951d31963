//! Reading the history: changes, their authors, and contents before and after.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::change_id::ChangeId;
use super::change_origin::{ChangeAuthor, MessageSource};
use super::content::ContentHash;
use super::error::ChangeError;
use super::journal::{self, Nature, RecordedChange, RecordedFileChange};
use super::outcome::ChangeKind;
use super::store_history::StoreHistory;
use crate::names::MemoryFile;

/// A change in the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Number of the change.
    pub id: ChangeId,
    /// Time of the change.
    pub time: Timestamp,
    /// The author.
    pub author: ChangeAuthor,
    /// The reason.
    pub reason: String,
    /// The source messages.
    pub sources: Vec<MessageSource>,
    /// The change that this one undoes.
    pub undoes: Option<ChangeId>,
    /// The task that it is a part of, which may span several stores.
    pub part_of: Option<String>,
    /// The change that undid this one.
    pub undone_by: Option<ChangeId>,
    /// Whether it can be undone: the content at first sight cannot.
    pub undoable: bool,
    /// The affected memories; empty if only the index changed.
    pub files: Vec<(MemoryFile, ChangeKind)>,
}

/// A file before and after a change; `None` if it did not exist or its content is no longer kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// File of the memory.
    pub file: MemoryFile,
    /// Content before.
    pub before: Option<Vec<u8>>,
    /// Content after.
    pub after: Option<Vec<u8>>,
}

impl StoreHistory<'_> {
    /// The changes, newest first.
    pub fn log(&self) -> Result<Vec<LogEntry>, ChangeError> {
        let changes = journal::read_outline(&self.store.state)?;
        let undone = undone(&changes);
        Ok(changes.into_iter().rev().map(|change| entry(change, &undone)).collect())
    }

    /// The contents before and after a change, file by file.
    pub fn diff(&self, id: ChangeId) -> Result<Vec<FileDiff>, ChangeError> {
        self.diffs(&[id])?.pop().ok_or(ChangeError::NoChange(id))
    }

    /// The diffs of several changes, in the given order; the history is read once.
    pub fn diffs(&self, ids: &[ChangeId]) -> Result<Vec<Vec<FileDiff>>, ChangeError> {
        let changes = journal::read_changes(&self.store.state)?;
        let contents = Contents::of(&changes);
        let by_id: BTreeMap<ChangeId, &RecordedChange> =
            changes.iter().map(|change| (change.id, change)).collect();
        let diff = |file: &RecordedFileChange| FileDiff {
            file: file.file.clone(),
            before: file
                .before
                .as_ref()
                .and_then(|hash| contents.get(hash))
                .map(|(bytes, _)| bytes),
            after: file.after.as_ref().and_then(|version| Some(version.content.as_ref()?.bytes())),
        };
        let diffs = ids.iter().map(|id| {
            let change = by_id.get(id).ok_or(ChangeError::NoChange(*id))?;
            Ok(change.files.iter().map(diff).collect())
        });
        diffs.collect()
    }

    /// The tasks ([`LogEntry::part_of`]), such as dreams, of which a change in this store was undone.
    pub fn undone_tasks(&self) -> Result<BTreeSet<String>, ChangeError> {
        let undone = self.log()?.into_iter().filter(|entry| entry.undone_by.is_some());
        Ok(undone.filter_map(|entry| entry.part_of).collect())
    }
}

/// Undone changes and the changes that undid them. An undo that was itself undone does not count.
pub(super) fn undone(changes: &[RecordedChange]) -> BTreeMap<ChangeId, ChangeId> {
    let mut undone = BTreeMap::new();
    for change in changes {
        if let Some(target) = change.undoes {
            undone.insert(target, change.id);
            let target = changes.iter().find(|other| other.id == target);
            if let Some(again) = target.and_then(|target| target.undoes) {
                undone.remove(&again);
            }
        }
    }
    undone
}

fn entry(change: RecordedChange, undone: &BTreeMap<ChangeId, ChangeId>) -> LogEntry {
    let effect = |file: &RecordedFileChange| match (&file.before, &file.after) {
        (None, _) => ChangeKind::Added,
        (Some(_), Some(_)) => ChangeKind::Changed,
        (Some(_), None) => ChangeKind::Removed,
    };
    LogEntry {
        undone_by: undone.get(&change.id).copied(),
        undoable: change.nature != Nature::FirstSight,
        files: change.files.iter().map(|file| (file.file.clone(), effect(file))).collect(),
        id: change.id,
        time: change.time,
        author: change.author,
        reason: change.reason,
        sources: change.sources,
        undoes: change.undoes,
        part_of: change.part_of,
    }
}

/// Every content in the history, by hash.
pub(super) struct Contents<'a> {
    known: BTreeMap<&'a ContentHash, &'a journal::Version>,
}

impl<'a> Contents<'a> {
    pub(super) fn of(changes: &'a [RecordedChange]) -> Self {
        let versions =
            changes.iter().flat_map(|change| &change.files).filter_map(|file| file.after.as_ref());
        let kept = versions.filter(|version| version.content.is_some());
        Self { known: kept.map(|version| (&version.hash, version)).collect() }
    }

    /// The bytes, and the last time that a file had them.
    pub(super) fn get(&self, hash: &ContentHash) -> Option<(Vec<u8>, Timestamp)> {
        let version = self.known.get(hash)?;
        Some((version.content.as_ref()?.bytes(), version.modified))
    }
}
