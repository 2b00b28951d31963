//! The changes of several stores as one history, and undoing them. The changes of a dream span stores and are undone
//! together.

use std::sync::Arc;

use super::ReachableMemories;
use crate::store::{ChangeError, ChangeId, ChangeOrigin, LogEntry, Receipt, Store};

/// A change and its store.
#[derive(Clone)]
pub struct StoreChange {
    /// The store's position in the list of stores.
    pub position: usize,
    /// The store.
    pub store: Arc<Store>,
    /// The change.
    pub entry: LogEntry,
}

impl StoreChange {
    /// Whether it can be undone and was not.
    pub fn can_be_undone(&self) -> bool {
        self.entry.undoable && self.entry.undone_by.is_none()
    }
}

/// What undoing several changes did. It stops at the first that fails.
pub struct UndoneChanges {
    /// The receipts of the changes that were undone, in order.
    pub receipts: Vec<Receipt>,
    /// Why the next one was not undone.
    pub error: Option<ChangeError>,
}

impl ReachableMemories {
    /// All changes that the histories know, newest first.
    pub fn changes(&self) -> Result<Vec<StoreChange>, ChangeError> {
        let mut all = Vec::new();
        for (position, store) in self.stores().iter().enumerate() {
            let log = store.history().log()?.into_iter();
            all.extend(log.map(|entry| StoreChange { position, store: Arc::clone(store), entry }));
        }
        // Within a store, the number is the order if the clock was set back.
        all.sort_by_key(|change| std::cmp::Reverse((change.entry.time, change.entry.id)));
        Ok(all)
    }

    /// A change of a store.
    pub fn change(&self, position: usize, id: ChangeId) -> Result<StoreChange, ChangeError> {
        let all = self.changes()?;
        let found = all.into_iter().find(|one| one.position == position && one.entry.id == id);
        found.ok_or(ChangeError::NoChange(id))
    }

    /// A change and all others of the same task, such as a dream, that are not undone: they are undone together.
    pub fn with_same_task(&self, change: StoreChange) -> Result<Vec<StoreChange>, ChangeError> {
        let Some(task) = change.entry.part_of.clone() else { return Ok(vec![change]) };
        let key = (change.position, change.entry.id);
        let mut together = vec![change];
        together.extend(self.changes()?.into_iter().filter(|other| {
            let entry = &other.entry;
            entry.part_of.as_deref() == Some(&task)
                && entry.undone_by.is_none()
                && entry.undoes.is_none()
                && (other.position, entry.id) != key
        }));
        Ok(together)
    }
}

/// Undoes changes for the user, one after the other, up to the first that fails.
pub fn undo_changes<'c>(changes: impl IntoIterator<Item = &'c StoreChange>) -> UndoneChanges {
    let mut receipts = Vec::new();
    for StoreChange { store, entry, .. } in changes {
        let by = ChangeOrigin::user(format!("undo of change {}", entry.id));
        match store.history().undo(&by, Some(entry.id)) {
            Ok(receipt) => receipts.push(receipt),
            Err(error) => return UndoneChanges { receipts, error: Some(error) },
        }
    }
    UndoneChanges { receipts, error: None }
}
