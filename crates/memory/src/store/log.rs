//! Looking into the history: what was done, by whom, and what it looked like before.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::history::{self, Change, FileChange, Nature};
use super::{Author, ChangeError, ChangeId, ContentHash, Effect, MessageSource, Store};
use crate::MemoryFile;

/// A change, as the history tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Its number.
    pub id: ChangeId,
    /// When.
    pub time: Timestamp,
    /// Who.
    pub author: Author,
    /// Why.
    pub reason: String,
    /// From which messages.
    pub sources: Vec<MessageSource>,
    /// The change that it undoes, if it is an undo.
    pub undoes: Option<ChangeId>,
    /// The larger piece of work that it is a part of, in other stores too.
    pub part_of: Option<String>,
    /// The change that undid it, if one did.
    pub undone_by: Option<ChangeId>,
    /// Whether it can be undone at all: what was there at first sight can not.
    pub undoable: bool,
    /// What it did to which memory; empty if only the index changed.
    pub files: Vec<(MemoryFile, Effect)>,
}

/// A file before and after a change; none: it was not there, or its content is no longer kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    /// Which.
    pub file: MemoryFile,
    /// Before.
    pub before: Option<Vec<u8>>,
    /// After.
    pub after: Option<Vec<u8>>,
}

impl Store {
    /// The changes, newest first.
    pub fn log(&self) -> Result<Vec<LogEntry>, ChangeError> {
        let changes = history::read_changes(&self.state)?;
        let undone = undone(&changes);
        Ok(changes.into_iter().rev().map(|change| entry(change, &undone)).collect())
    }

    /// What a change did, file by file.
    pub fn diff(&self, id: ChangeId) -> Result<Vec<FileDiff>, ChangeError> {
        let changes = history::read_changes(&self.state)?;
        let contents = Contents::of(&changes);
        let change =
            changes.iter().find(|change| change.id == id).ok_or(ChangeError::NoChange(id))?;
        let diff = |file: &FileChange| FileDiff {
            file: file.file.clone(),
            before: file
                .before
                .as_ref()
                .and_then(|hash| contents.get(hash))
                .map(|(bytes, _)| bytes),
            after: file.after.as_ref().and_then(|version| Some(version.content.as_ref()?.bytes())),
        };
        Ok(change.files.iter().map(diff).collect())
    }
}

/// Which change undid which: an undo that was itself undone does not count.
pub(super) fn undone(changes: &[Change]) -> BTreeMap<ChangeId, ChangeId> {
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

fn entry(change: Change, undone: &BTreeMap<ChangeId, ChangeId>) -> LogEntry {
    let effect = |file: &FileChange| match (&file.before, &file.after) {
        (None, _) => Effect::Added,
        (Some(_), Some(_)) => Effect::Changed,
        (Some(_), None) => Effect::Removed,
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

/// Every content that the history has, by its hash.
pub(super) struct Contents<'a> {
    known: BTreeMap<&'a ContentHash, &'a history::Version>,
}

impl<'a> Contents<'a> {
    pub(super) fn of(changes: &'a [Change]) -> Self {
        let versions =
            changes.iter().flat_map(|change| &change.files).filter_map(|file| file.after.as_ref());
        let kept = versions.filter(|version| version.content.is_some());
        Self { known: kept.map(|version| (&version.hash, version)).collect() }
    }

    /// The bytes, and when a file last got them.
    pub(super) fn get(&self, hash: &ContentHash) -> Option<(Vec<u8>, Timestamp)> {
        let version = self.known.get(hash)?;
        Some((version.content.as_ref()?.bytes(), version.modified))
    }
}
