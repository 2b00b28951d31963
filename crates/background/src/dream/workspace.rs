//! A memory directory during a dream: its lock, its draft, and the parts of its logs that no dream has read.

use std::collections::BTreeSet;
use std::sync::Arc;

use dormouse_base::{FileAction, FileError, fault};
use dormouse_memory::{
    Applied, By, ChangeError, Draft, Drawn, DreamLock, DreamLockError, LogPart, Store, Trial,
};
use jiff::Timestamp;

use super::report::{DreamAction, MemoryReport};

/// A locked store with its draft.
pub(super) struct DreamWorkspace {
    pub(super) store: Arc<Store>,
    /// Dropped before the lock.
    pub(super) draft: Arc<Draft>,
    lock: DreamLock,
    pub(super) logs: Vec<LogPart>,
}

impl DreamWorkspace {
    /// Takes the lock and copies the memories. Log parts that only `undone` dreams have read count as unread.
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

    /// Applies the changes of the draft.
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

    /// The dream has succeeded: records its time, and marks its logs as read.
    pub(super) fn mark_completed(&self, dream: &str, now: Timestamp) -> Result<(), ChangeError> {
        self.store.distilled(dream, &self.logs)?;
        point("dream.stamp")?;
        self.lock.succeeded(now)?;
        Ok(())
    }
}

/// A point at which a test can make a dream fail.
fn point(name: &str) -> Result<(), FileError> {
    fault::point(name).map_err(|error| FileError::new(FileAction::Write, name, error))
}
