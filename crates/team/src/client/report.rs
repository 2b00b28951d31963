//! What a sync did, for the user.

use crate::entry_name::EntryName;
use crate::person::PersonName;
use crate::sync::{PullReason, RemoveReason};

/// An entry that was written here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PulledEntry {
    /// The entry.
    pub name: EntryName,
    /// Who wrote it.
    pub author: PersonName,
    /// Why.
    pub reason: PullReason,
}

/// Somebody's version that ours replaced; it stays in the server's history (T-5).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplacedEntry {
    /// The entry.
    pub name: EntryName,
    /// Who wrote the other version; none if the entry was deleted for all.
    pub author: Option<PersonName>,
}

/// A file that was not synced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeldBack {
    /// The file.
    pub file: String,
    /// Why, and what to do.
    pub reason: String,
}

/// What a sync did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SyncReport {
    /// Sent.
    pub pushed: Vec<EntryName>,
    /// Sent as proposals, which an admin decides about.
    pub proposed: Vec<EntryName>,
    /// Proposals that are undecided.
    pub waiting: Vec<EntryName>,
    /// Written here.
    pub pulled: Vec<PulledEntry>,
    /// Removed here.
    pub removed: Vec<(EntryName, RemoveReason)>,
    /// Other people's versions that ours replaced.
    pub replaced: Vec<ReplacedEntry>,
    /// Not synced.
    pub held_back: Vec<HeldBack>,
    /// Changes that another client was faster than; the next sync sends them.
    pub postponed: Vec<EntryName>,
    /// The layers that are off for everybody, if that changed.
    pub switched_off: Option<Vec<String>>,
}

impl SyncReport {
    /// Whether anything came in.
    pub fn brought_news(&self) -> bool {
        !self.pulled.is_empty() || !self.removed.is_empty()
    }

    pub(super) fn hold_back(&mut self, file: &str, reason: impl Into<String>) {
        self.held_back.push(HeldBack { file: file.to_owned(), reason: reason.into() });
    }
}
