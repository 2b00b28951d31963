//! The history of a store.

use super::context::StoreContext;

/// The history of a store: log, undo, restore and trash. Records only grow; contents of removed memories are deleted
/// after 30 days.
pub struct StoreHistory<'a> {
    pub(super) store: &'a StoreContext,
}

impl<'a> StoreHistory<'a> {
    pub(super) fn new(store: &'a StoreContext) -> Self {
        Self { store }
    }
}
