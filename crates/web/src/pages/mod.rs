//! Pages: pure functions from what a page shows to its HTML.

pub(crate) mod changes;
pub(crate) mod diff;
pub(crate) mod doctor;
pub(crate) mod dreams;
pub(crate) mod edit;
pub(crate) mod entry;
pub(crate) mod figures;
pub(crate) mod inbox;
pub(crate) mod layout;
pub(crate) mod markdown;
pub(crate) mod memories;
pub(crate) mod memory;
pub(crate) mod recalled;
pub(crate) mod sessions;
pub(crate) mod team;
pub(crate) mod transcript;
pub(crate) mod words;
