//! Undoing a change as one, and bringing back a memory. Both are changes themselves.

use super::history::{self, Change, FileChange, IndexChange, Nature, Version};
use super::log::{Contents, undone};
use super::prepare::{Prepared, index_change};
use super::{
    By, ChangeError, ChangeId, ContentHash, Current, Expected, Locked, Outcome, Receipt, Rule,
    Store, name,
};
use crate::{INDEX, MemoryFile};

impl Store {
    /// Undoes a change: the given one, else the last that is not undone yet. What came after it and touches
    /// the same memories has to be undone first.
    pub fn undo(&self, by: &By, id: Option<ChangeId>) -> Result<Receipt, ChangeError> {
        let mut locked = self.lock()?;
        // Chosen first: what somebody has just done by hand, unseen, is not what is meant by "the last".
        let id = target(&history::read_changes(&self.state)?, id)?.id;
        locked.note_all_outside()?;
        let changes = history::read_changes(&self.state)?;
        let target = target(&changes, Some(id))?;
        if target.author.is_person() && !by.author.is_person() {
            let said = format!("change {id} is a person's; only the person can undo it: ask them");
            return Err(ChangeError::Refused(said));
        }
        let prepared = locked.reversed(by, target, &Contents::of(&changes))?;
        locked.commit(prepared, Rule::Auto)
    }

    /// Records what other programs changed, and says how many changes there are by now.
    pub fn notice(&self) -> Result<ChangeId, ChangeError> {
        let mut locked = self.lock()?;
        locked.note_all_outside()?;
        Ok(ChangeId(locked.history.next_id().0.saturating_sub(1)))
    }

    /// Brings back a removed memory as it last was, or any memory as a change left it.
    pub fn restore(
        &self,
        by: &By,
        file: &MemoryFile,
        version: Option<ChangeId>,
    ) -> Result<Outcome, ChangeError> {
        // Before the lock is taken, which is not taken twice: the history only grows.
        let changes = history::read_changes(&self.state)?;
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
        let Some(content) = &found.content else { return Err(ChangeError::Purged(file.clone())) };
        let expected = if version.is_some() { Expected::Anything } else { Expected::Absent };
        self.change(&by.clone().with_consent(), |plan| {
            plan.write_as_of(file, &content.bytes(), &expected, found.modified)
        })
    }
}

fn target(changes: &[Change], id: Option<ChangeId>) -> Result<&Change, ChangeError> {
    let undone = undone(changes);
    let Some(id) = id else {
        let undoable = |change: &&Change| {
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
    /// A change the other way round.
    fn reversed(
        &self,
        by: &By,
        target: &Change,
        contents: &Contents<'_>,
    ) -> Result<Prepared, ChangeError> {
        let mut files = Vec::new();
        let mut before = Vec::new();
        for file in &target.files {
            let now = self.current(file.file.path())?;
            files.push(reversed_file(file, now.as_ref(), contents)?);
            before.push(now);
        }
        let index_before = self.current(&name(INDEX))?;
        let index_after = reversed_index(target, &files, index_before.as_ref())?;
        let change = Change {
            id: ChangeId::default(),
            time: self.now,
            nature: Nature::Made,
            author: by.author.clone(),
            reason: by.reason.clone(),
            sources: by.sources.clone(),
            undoes: Some(target.id),
            part_of: by.part_of.clone(),
            files,
            index: index_after.as_ref().map(|after| {
                let change = index_change(index_before.as_ref(), after);
                // An index that the change made goes with it.
                let made = after.is_empty()
                    && target.index.as_ref().is_some_and(|index| index.before.is_none());
                if made { IndexChange { after: None, ..change } } else { change }
            }),
        };
        Ok(Prepared { change, before, index_before, index_after })
    }
}

/// The index as it was before, where that can be said; else with true lines for these files.
fn reversed_index(
    target: &Change,
    files: &[FileChange],
    now: Option<&Current>,
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
        (&file.file, content.map(super::content::Content::bytes))
    });
    Ok(super::lines::mended(&text, then))
}

fn reversed_file(
    file: &FileChange,
    now: Option<&Current>,
    contents: &Contents<'_>,
) -> Result<FileChange, ChangeError> {
    let hash = now.map(|current| current.hash.clone());
    if hash.as_ref() != file.after.as_ref().map(|version| &version.hash) {
        return Err(ChangeError::ChangedLater(file.file.clone()));
    }
    let after = match &file.before {
        None => None,
        Some(before) => {
            let found = contents.get(before);
            let (bytes, modified) = found.ok_or_else(|| ChangeError::Purged(file.file.clone()))?;
            Some(Version::of(&bytes, modified))
        }
    };
    Ok(FileChange { file: file.file.clone(), before: hash, after })
}
