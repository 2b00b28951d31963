//! A memory directory during a dream: its lock, its draft, and the parts of its logs that no dream has read.

use std::collections::BTreeSet;
use std::sync::Arc;

use dormouse_base::{FileAction, FileError, fault};
use dormouse_memory::{
    AppliedUnits, ApplyMode, ChangeError, ChangeOrigin, DraftPlan, DreamLock, DreamLockError,
    LogPart, MemoryDraft, Store,
};
use jiff::Timestamp;

use super::report::{DreamAction, MemoryReport};

/// A locked store with its draft.
pub(super) struct DreamWorkspace {
    pub(super) store: Arc<Store>,
    /// Dropped before the lock.
    pub(super) draft: Arc<MemoryDraft>,
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
        let lock = store.dream_records().acquire_lock()?;
        let draft = Arc::new(MemoryDraft::of(store, dream)?);
        point("dream.copied")?;
        let logs = store.dream_records().unused_logs(undone)?;
        Ok(Self { store: Arc::clone(store), lock, draft, logs })
    }

    /// Applies the changes of the draft.
    pub(super) fn apply(
        &self,
        by: &ChangeOrigin,
        drawn: DraftPlan,
        trial: ApplyMode,
    ) -> Result<(MemoryReport, AppliedUnits), ChangeError> {
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
        self.store.dream_records().mark_logs_used(dream, &self.logs)?;
        point("dream.stamp")?;
        self.lock.succeeded(now)?;
        Ok(())
    }
}

/// A point at which a test can make a dream fail.
fn point(name: &str) -> Result<(), FileError> {
    fault::point(name).map_err(|error| FileError::new(FileAction::Write, name, error))
}
