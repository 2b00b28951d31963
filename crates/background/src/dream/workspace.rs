//! A memory directory that is dreamt over: its lock, its copy, and what its logs have for the dream.

use std::collections::BTreeSet;
use std::sync::Arc;

use dormouse_base::{FileAction, FileError, fault};
use dormouse_memory::{
    Applied, By, ChangeError, Draft, Drawn, DreamLock, DreamLockError, LogPart, Store, Trial,
};
use jiff::Timestamp;

use super::report::{DreamAction, MemoryReport};

/// A store, a lock and a copy.
pub(super) struct DreamWorkspace {
    pub(super) store: Arc<Store>,
    /// Goes before the lock does.
    pub(super) draft: Arc<Draft>,
    lock: DreamLock,
    pub(super) logs: Vec<LogPart>,
}

impl DreamWorkspace {
    /// Takes the lock, and copies the memories. Of what logs said, dreams that were `undone` have made nothing.
    pub(super) fn open(
        store: &Arc<Store>,
        dream: &str,
        undone: &BTreeSet<String>,
    ) -> Result<Self, DreamLockError> {
        let lock = store.begin_dream()?;
        let draft = Arc::new(Draft::of(store, dream)?);
        point("dream.copied")?;
        let logs = store.undistilled(undone)?;
        Ok(Self { store: Arc::clone(store), lock, draft, logs })
    }

    /// Applies what the draft came to.
    pub(super) fn apply(
        &self,
        by: &By,
        drawn: Drawn,
        trial: Trial,
    ) -> Result<(MemoryReport, Applied), ChangeError> {
        point("dream.apply")?;
        let (units, drafted): (Vec<_>, Vec<_>) = drawn.units.into_iter().unzip();
        let applied = self.store.apply(by, &units, trial)?;
        let deeds = drafted.iter().zip(&applied.fates);
        let deeds =
            deeds.flat_map(|(drafted, fate)| drafted.iter().map(|one| DreamAction::of(one, fate)));
        let report = MemoryReport {
            scope: self.store.scope(),
            change: applied.receipt.as_ref().map(|receipt| receipt.id.0),
            kept: drawn.kept,
            deeds: deeds.collect(),
        };
        point("dream.applied")?;
        Ok((report, applied))
    }

    /// The dream has succeeded: its time counts, and its logs were read.
    pub(super) fn mark_completed(&self, dream: &str, now: Timestamp) -> Result<(), ChangeError> {
        self.store.distilled(dream, &self.logs)?;
        point("dream.stamp")?;
        self.lock.succeeded(now)?;
        Ok(())
    }
}

/// A place at which a test can let a dream die.
fn point(name: &str) -> Result<(), FileError> {
    fault::point(name).map_err(|error| FileError::new(FileAction::Write, name, error))
}
