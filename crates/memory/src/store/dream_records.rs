//! Records of dreams over a store.

use super::context::StoreContext;

/// Records of dreams over a store: the lock, reports, and which daily logs were already used.
pub struct DreamRecords<'a> {
    pub(super) store: &'a StoreContext,
}

impl<'a> DreamRecords<'a> {
    pub(super) fn new(store: &'a StoreContext) -> Self {
        Self { store }
    }
}
