//! Undoing a change, and restoring a memory. Both are changes themselves.

use std::collections::BTreeSet;

use serde::de::IgnoredAny;

use super::change::change;
use super::change_id::ChangeId;
use super::change_origin::ChangeOrigin;
use super::content::ContentHash;
use super::disk_file::DiskFile;
use super::error::ChangeError;
use super::journal::{
    self, ChangeOutline, IndexChange, Nature, RecordedChange, RecordedFileChange, Version,
};
use super::kept_contents::KeptContents;
use super::locked::Locked;
use super::log::undone;
use super::outcome::{ChangeOutcome, Receipt};
use super::plan::Expected;
use super::policy::PolicyAction;
use super::prepared_change::{IndexEdit, PreparedChange};
use super::refusal::ChangeRefusal;
use super::store_history::StoreHistory;
use crate::names::MemoryFile;

impl StoreHistory<'_> {
    /// Undoes a change: the given one, or the last that is not undone yet. Later changes to the same memories must be
    /// undone first.
    pub fn undo(&self, by: &ChangeOrigin, id: Option<ChangeId>) -> Result<Receipt, ChangeError> {
        let mut locked = Locked::acquire(self.store)?;
        // Chosen before external changes are recorded: "the last change" does not mean an edit that was just found.
        let id = target(&journal::read_outline(&self.store.state)?, id)?.id;
        locked.record_external_changes()?;
        let changes = journal::read_outline(&self.store.state)?;
        let target = target(&changes, Some(id))?;
        if target.author.is_user() && !by.author.is_user() {
            return Err(ChangeRefusal::UserChange(id).into());
        }
        let hashes = target.files.iter().filter_map(|file| file.before.as_ref()).collect();
        let contents = KeptContents::read(&self.store.state, &hashes)?;
        let prepared = locked.reversed(by, target, &contents)?;
        locked.commit(prepared, PolicyAction::Auto)
    }

    /// Records changes by other programs; returns the number of the latest change.
    pub fn record_external_changes(&self) -> Result<ChangeId, ChangeError> {
        let mut locked = Locked::acquire(self.store)?;
        locked.record_external_changes()?;
        Ok(ChangeId(locked.journal.next_id().0.saturating_sub(1)))
    }

    /// Restores a removed memory to its last content, or any memory to its content after a change.
    pub fn restore(
        &self,
        by: &ChangeOrigin,
        file: &MemoryFile,
        version: Option<ChangeId>,
    ) -> Result<ChangeOutcome, ChangeError> {
        // Before the lock is acquired, which cannot be acquired twice. The history only grows.
        let changes = journal::read_outline(&self.store.state)?;
        let wanted = changes.iter().rev().filter(|change| version.is_none_or(|id| change.id == id));
        let mut versions = wanted
            .flat_map(|change| &change.files)
            .filter(|change| change.file == *file)
            .filter_map(|change| change.after.as_ref());
        let Some(found) = versions.next() else {
            return Err(match version {
                Some(id) => ChangeError::NotTouched { id, file: file.clone() },
                None => ChangeError::Missing(file.clone()),
            });
        };
        let contents = KeptContents::read(&self.store.state, &BTreeSet::from([&found.hash]))?;
        let content = contents.bytes(&found.hash).filter(|_| found.content.is_some());
        let content = content.ok_or_else(|| ChangeError::Purged(file.clone()))?;
        let expected = if version.is_some() { Expected::Anything } else { Expected::Absent };
        change(self.store, &by.clone().with_consent(), |plan| {
            plan.write_as_of(file, &content, &expected, found.modified)
        })
    }
}

fn target(changes: &[ChangeOutline], id: Option<ChangeId>) -> Result<&ChangeOutline, ChangeError> {
    let undone = undone(changes);
    let Some(id) = id else {
        let undoable = |change: &&ChangeOutline| {
            change.nature != Nature::FirstSight
                && change.undoes.is_none()
                && !undone.contains_key(&change.id)
        };
        return changes.iter().rev().find(undoable).ok_or(ChangeError::NothingToUndo);
    };
    let found = changes.iter().find(|change| change.id == id);
    let found = found.filter(|change| change.nature != Nature::FirstSight);
    let found = found.ok_or(ChangeError::NoChange(id))?;
    if undone.contains_key(&id) {
        return Err(ChangeError::UndoneAlready(id));
    }
    Ok(found)
}

impl Locked<'_> {
    /// The reverse of a change.
    fn reversed(
        &self,
        by: &ChangeOrigin,
        target: &ChangeOutline,
        contents: &KeptContents,
    ) -> Result<PreparedChange, ChangeError> {
        let mut files = Vec::new();
        let mut before = Vec::new();
        for file in &target.files {
            let now = self.files.read(file.file.path())?;
            files.push(reversed_file(file, now.as_ref(), contents)?);
            before.push(now);
        }
        let index_before = self.files.read_index()?;
        let index_after = reversed_index(target, &files, index_before.as_ref())?;
        // An index that the change created is removed.
        let is_removed = index_after.as_ref().is_some_and(String::is_empty)
            && target.index.as_ref().is_some_and(|index| index.before.is_none());
        let index = IndexEdit::rewritten(index_before, index_after);
        let change = RecordedChange {
            id: ChangeId::default(),
            time: self.now,
            nature: Nature::Made,
            author: by.author.clone(),
            reason: by.reason.clone(),
            sources: by.sources.clone(),
            undoes: Some(target.id),
            part_of: by.part_of.clone(),
            files,
            index: index.change().map(|change| {
                if is_removed { IndexChange { after: None, ..change } } else { change }
            }),
        };
        Ok(PreparedChange { change, before, index })
    }
}

/// The previous index if it can be determined; otherwise the current one with correct lines for these files.
fn reversed_index(
    target: &ChangeOutline,
    files: &[RecordedFileChange],
    now: Option<&DiskFile>,
) -> Result<Option<String>, ChangeError> {
    let bytes = now.map(|current| current.bytes.clone()).unwrap_or_default();
    let text = String::from_utf8(bytes).map_err(|_| ChangeError::Index)?;
    if let Some(index) = &target.index
        && now.map(|current| &current.hash) == index.after.as_ref()
        && let Some(old) = index.splice.revert(&text)
        && index.before.as_ref().is_none_or(|hash| *hash == ContentHash::of(old.as_bytes()))
    {
        return Ok(Some(old));
    }
    let then = files.iter().map(|file| {
        let content = file.after.as_ref().and_then(|version| version.content.as_ref());
        (&file.file, content.map(super::content::StoredContent::bytes))
    });
    Ok(super::index_lines::corrected(&text, then))
}

fn reversed_file(
    file: &RecordedFileChange<IgnoredAny>,
    now: Option<&DiskFile>,
    contents: &KeptContents,
) -> Result<RecordedFileChange, ChangeError> {
    let hash = now.map(|current| current.hash.clone());
    if hash.as_ref() != file.after.as_ref().map(|version| &version.hash) {
        return Err(ChangeError::ChangedLater(file.file.clone()));
    }
    let after = match &file.before {
        None => None,
        Some(before) => {
            let found = contents.with_time(before);
            let (bytes, modified) = found.ok_or_else(|| ChangeError::Purged(file.file.clone()))?;
            Some(Version::of(&bytes, modified))
        }
    };
    Ok(RecordedFileChange { file: file.file.clone(), before: hash, after })
}
