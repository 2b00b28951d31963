//! Forgetting what was removed long ago (M-22): once a day at most, after a change. The history keeps its lines.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_base::{Durability, RelPath, Replacement};
use jiff::{SignedDuration, Timestamp};

use super::history::{self, Change, Line};
use super::log::KEPT;
use super::{ChangeError, Locked, Store, name};
use crate::MemoryFile;

/// How often the trash is looked through: that reads the whole history.
const EVERY: SignedDuration = SignedDuration::from_hours(24);

impl Store {
    /// Forgets the contents of memories that were removed more than 30 days ago; their lines stay. Says how
    /// many memories that were.
    pub fn purge(&self) -> Result<usize, ChangeError> {
        self.lock()?.purge()
    }
}

impl Locked<'_> {
    /// The same, if it was not done today. The change before it is made: a purge that fails is tried again
    /// tomorrow, and costs nobody anything today.
    pub(super) fn purge_if_due(&self) {
        let last = self.store.state.read(&marker()).ok();
        let last = last.and_then(|text| String::from_utf8(text).ok()?.parse::<Timestamp>().ok());
        // A clock that was wrong must not put it off for ever.
        let due = last.is_none_or(|last| self.now.duration_since(last).abs() >= EVERY);
        if due {
            let said = self.now.to_string();
            let hasty =
                Replacement { durability: Durability::Later, ..Replacement::of(said.as_bytes()) };
            let marked = self.store.state.replace_with(&marker(), &hasty);
            let _failed = marked.map_err(ChangeError::from).and_then(|()| self.purge());
        }
    }

    fn purge(&self) -> Result<usize, ChangeError> {
        let limit = self.now.saturating_sub(KEPT).unwrap_or(Timestamp::MIN);
        let mut lines = history::read_lines(&self.store.state)?;
        let mut gone: BTreeMap<MemoryFile, Timestamp> = BTreeMap::new();
        for file in changes_in(&mut lines).flat_map(|change| with_time(change)) {
            match file {
                (file, Some(time)) => gone.insert(file.clone(), time),
                (file, None) => gone.remove(file),
            };
        }
        gone.retain(|_, removed| *removed <= limit);
        let mut purged = BTreeSet::new();
        for change in changes_in(&mut lines) {
            purged.extend(forget(change, &gone));
        }
        if !purged.is_empty() {
            history::rewrite(&self.store.state, &lines)?;
        }
        Ok(purged.len())
    }
}

/// When the trash was last looked through.
fn marker() -> RelPath {
    name("purged")
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

fn with_time(change: &Change) -> impl Iterator<Item = (&MemoryFile, Option<Timestamp>)> {
    change.files.iter().map(|file| (&file.file, file.after.is_none().then_some(change.time)))
}
