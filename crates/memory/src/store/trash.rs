//! What was removed: restorable for a while, then only a line of the history (M-22).

use std::collections::{BTreeMap, BTreeSet};

use dormouse_base::{Durability, Replacement};
use jiff::{SignedDuration, Timestamp};

use super::history::{self, Change, FileChange, Line};
use super::log::Contents;
use super::{Author, ChangeError, ChangeId, Store, heads, name};
use crate::{Entry, MemoryFile};

/// How long a removed memory stays restorable (M-22).
const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);

/// When there may next be something to forget: until then nobody need look.
const DUE: &str = "purge.due";

/// A removed memory that can be restored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trashed {
    /// Which.
    pub file: MemoryFile,
    /// What it was called: its name, else that of its file.
    pub name: String,
    /// When it was removed.
    pub removed: Timestamp,
    /// By which change.
    pub change: ChangeId,
    /// By whom.
    pub author: Author,
}

impl Store {
    /// What was removed and can be restored, newest first.
    pub fn trash(&self) -> Result<Vec<Trashed>, ChangeError> {
        let changes = history::read_changes(&self.state)?;
        let mut trashed: BTreeMap<MemoryFile, Trashed> = BTreeMap::new();
        let contents = Contents::of(&changes);
        for change in &changes {
            for file in &change.files {
                if file.after.is_some() {
                    trashed.remove(&file.file);
                    continue;
                }
                let entry = Trashed {
                    file: file.file.clone(),
                    name: name_of(file, &contents),
                    removed: change.time,
                    change: change.id,
                    author: change.author.clone(),
                };
                trashed.insert(file.file.clone(), entry);
            }
        }
        let limit = before(self.options.clock.now());
        let mut list: Vec<Trashed> =
            trashed.into_values().filter(|trashed| trashed.removed > limit).collect();
        list.sort_by_key(|trashed| std::cmp::Reverse(trashed.change));
        Ok(list)
    }

    /// Forgets the contents of memories that were removed more than 30 days ago; their lines stay. Says how
    /// many memories that were. Before anything can be due it only looks at the clock, so that it may be
    /// called often.
    pub fn purge(&self) -> Result<usize, ChangeError> {
        if self.next_purge().is_some_and(|due| self.options.clock.now() < due) {
            return Ok(0);
        }
        let locked = self.lock()?;
        let mut lines = history::read_lines(&self.state)?;
        let mut gone = removed(&mut lines);
        let kept = gone.extract_if(.., |_, time| *time > before(locked.now));
        let oldest = kept.map(|(_, time)| time).min().unwrap_or(locked.now);
        let mut purged = BTreeSet::new();
        for change in changes_in(&mut lines) {
            purged.extend(forget(change, &gone));
        }
        if !purged.is_empty() {
            heads::renew_copy(&self.state)?;
            history::rewrite(&self.state, &lines)?;
        }
        self.put_off_purge(oldest)?;
        Ok(purged.len())
    }

    fn next_purge(&self) -> Option<Timestamp> {
        // What can not be read is looked for once too often, and written anew.
        let text = String::from_utf8(self.state.read(&name(DUE)).ok()?).ok()?;
        text.parse().ok()
    }

    /// Whatever is removed from now on is due later than the oldest that is still kept.
    fn put_off_purge(&self, oldest: Timestamp) -> Result<(), ChangeError> {
        let due = oldest.saturating_add(KEPT).unwrap_or(Timestamp::MAX).to_string();
        let hasty =
            Replacement { durability: Durability::Unsynced, ..Replacement::new(due.as_bytes()) };
        Ok(self.state.replace_with(&name(DUE), &hasty)?)
    }
}

/// What was removed up to here is no longer kept.
fn before(now: Timestamp) -> Timestamp {
    now.saturating_sub(KEPT).unwrap_or(Timestamp::MIN)
}

/// What a removed memory was called.
fn name_of(file: &FileChange, contents: &Contents<'_>) -> String {
    let last = file.before.as_ref().and_then(|hash| contents.get(hash));
    let name = last.and_then(|(bytes, _)| Entry::read(&bytes, bytes.len() as u64).header.name);
    name.unwrap_or_else(|| file.file.stem().to_owned())
}

/// The memories that are gone, and since when.
fn removed(lines: &mut [Line]) -> BTreeMap<MemoryFile, Timestamp> {
    let mut gone = BTreeMap::new();
    for change in changes_in(lines) {
        for file in &change.files {
            match file.after {
                None => gone.insert(file.file.clone(), change.time),
                Some(_) => gone.remove(&file.file),
            };
        }
    }
    gone
}

fn changes_in(lines: &mut [Line]) -> impl Iterator<Item = &mut Change> {
    lines.iter_mut().filter_map(|line| match line {
        Line::Change(change) => Some(change.as_mut()),
        Line::Done { .. } | Line::Dropped { .. } => None,
    })
}

/// Takes the contents of these memories out of a change, and the index lines that quote them.
fn forget(change: &mut Change, gone: &BTreeMap<MemoryFile, Timestamp>) -> Vec<MemoryFile> {
    let mut forgotten = Vec::new();
    for file in change.files.iter_mut().filter(|file| gone.contains_key(&file.file)) {
        change.index = None;
        if let Some(version) = &mut file.after
            && version.content.take().is_some()
        {
            forgotten.push(file.file.clone());
        }
    }
    forgotten
}
