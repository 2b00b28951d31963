//! Reading the history: changes, their authors, and contents before and after.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::de::IgnoredAny;

use super::change_id::ChangeId;
use super::change_origin::{ChangeAuthor, MessageSource};
use super::content::ContentHash;
use super::error::ChangeError;
use super::journal::{self, ChangeOutline, Nature, RecordedFileChange};
use super::kept_contents::KeptContents;
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

/// The files of a change whose diffs are wanted.
#[derive(Debug, Clone, Copy)]
pub enum DiffFiles<'a> {
    /// All.
    All,
    /// So many.
    First(usize),
    /// One.
    Only(&'a MemoryFile),
}

impl DiffFiles<'_> {
    fn of(
        self,
        files: &[RecordedFileChange<IgnoredAny>],
    ) -> impl Iterator<Item = &RecordedFileChange<IgnoredAny>> {
        let most = if let Self::First(most) = self { most } else { usize::MAX };
        let is_wanted = move |file: &&RecordedFileChange<IgnoredAny>| match self {
            Self::Only(only) => file.file == *only,
            Self::All | Self::First(_) => true,
        };
        files.iter().filter(is_wanted).take(most)
    }
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
        self.diffs(&[id], DiffFiles::All)?.pop().ok_or(ChangeError::NoChange(id))
    }

    /// The diffs of several changes, in the given order.
    pub fn diffs(
        &self,
        ids: &[ChangeId],
        wanted: DiffFiles<'_>,
    ) -> Result<Vec<Vec<FileDiff>>, ChangeError> {
        let changes = journal::read_outline(&self.store.state)?;
        let by_id: BTreeMap<ChangeId, &ChangeOutline> =
            changes.iter().map(|change| (change.id, change)).collect();
        let files_of = |id| {
            let change = by_id.get(id).ok_or(ChangeError::NoChange(*id))?;
            Ok(wanted.of(&change.files).collect())
        };
        let files: Vec<Vec<&RecordedFileChange<IgnoredAny>>> =
            ids.iter().map(files_of).collect::<Result<_, ChangeError>>()?;
        let hashes =
            files.iter().flatten().flat_map(|file| [file.before.as_ref(), hash_after(file)]);
        let contents = KeptContents::read(&self.store.state, &hashes.flatten().collect())?;
        let diff = |file: &RecordedFileChange<IgnoredAny>| FileDiff {
            file: file.file.clone(),
            before: file.before.as_ref().and_then(|hash| contents.bytes(hash)),
            after: hash_after(file).and_then(|hash| contents.bytes(hash)),
        };
        Ok(files.into_iter().map(|files| files.into_iter().map(diff).collect()).collect())
    }

    /// The tasks ([`LogEntry::part_of`]), such as dreams, of which a change in this store was undone.
    pub fn undone_tasks(&self) -> Result<BTreeSet<String>, ChangeError> {
        let undone = self.log()?.into_iter().filter(|entry| entry.undone_by.is_some());
        Ok(undone.filter_map(|entry| entry.part_of).collect())
    }
}

/// The content after a change, if it is kept.
fn hash_after(file: &RecordedFileChange<IgnoredAny>) -> Option<&ContentHash> {
    file.after.as_ref().filter(|version| version.content.is_some()).map(|version| &version.hash)
}

/// Undone changes and the changes that undid them. An undo that was itself undone does not count.
pub(super) fn undone(changes: &[ChangeOutline]) -> BTreeMap<ChangeId, ChangeId> {
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

fn entry(change: ChangeOutline, undone: &BTreeMap<ChangeId, ChangeId>) -> LogEntry {
    let effect = |file: &RecordedFileChange<IgnoredAny>| match (&file.before, &file.after) {
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
