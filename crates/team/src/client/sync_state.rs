//! What was last known: of the server, and of both sides. Kept between syncs, replaced as a whole.
//!
//! It may be lost: then the server's history tells which local contents are only old (see [`super::sync_run`]).

use std::collections::BTreeMap;

use dormouse_base::{Dir, FileError};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::state_files::{SYNC_STATE, path};
use crate::api::{ChecksumsResponse, SnapshotResponse};
use crate::checksum::Checksum;
use crate::entry_name::EntryName;
use crate::person::PersonName;
use crate::version::EntityTag;

/// What the server last said about an entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ServerEntry {
    /// None if it was deleted for all.
    pub(super) checksum: Option<Checksum>,
    /// Unknown where only checksums were fetched.
    pub(super) author: Option<PersonName>,
    pub(super) time: Option<Timestamp>,
}

/// The state of a sync.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SyncState {
    pub(super) etag: Option<EntityTag>,
    /// The server's entries at that version.
    #[serde(default)]
    pub(super) server: BTreeMap<EntryName, ServerEntry>,
    /// What both sides had after the last sync.
    #[serde(default)]
    pub(super) base: BTreeMap<EntryName, Checksum>,
    /// Local contents that wait for a review.
    #[serde(default)]
    pub(super) proposed: BTreeMap<EntryName, Checksum>,
    /// The server's contents that wait in the user's inbox (M-21).
    #[serde(default)]
    pub(super) in_inbox: BTreeMap<EntryName, Checksum>,
}

impl SyncState {
    pub(super) fn read(folder: &Dir) -> Self {
        let bytes = path(SYNC_STATE).and_then(|path| folder.read(&path).ok()).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    pub(super) fn write(&self, folder: &Dir) -> Result<(), FileError> {
        // Maps with texts as keys always serialize.
        let text = serde_json::to_vec(self).unwrap_or_default();
        match path(SYNC_STATE) {
            Some(path) => folder.replace(&path, &text),
            None => Ok(()),
        }
    }

    /// Takes over what the server said. If it is another history (a restored database), nothing is known in common.
    pub(super) fn take_snapshot(&mut self, snapshot: &SnapshotResponse) {
        let is_same = self.etag.as_ref().is_some_and(|known| known.shares_history(&snapshot.etag));
        if !is_same {
            self.base.clear();
        }
        if snapshot.complete {
            self.server.clear();
        }
        for entry in &snapshot.entries {
            let known = ServerEntry {
                checksum: entry.checksum.clone(),
                author: Some(entry.author.clone()),
                time: Some(entry.time),
            };
            self.server.insert(entry.name.clone(), known);
        }
        self.etag = Some(snapshot.etag.clone());
    }

    /// Takes over checksums after a conflict.
    pub(super) fn take_checksums(&mut self, checksums: &ChecksumsResponse) {
        let mut server = BTreeMap::new();
        for entry in &checksums.entries {
            let known = self.server.remove(&entry.name);
            let same = known.filter(|known| known.checksum == entry.checksum);
            let new = ServerEntry { checksum: entry.checksum.clone(), author: None, time: None };
            server.insert(entry.name.clone(), same.unwrap_or(new));
        }
        self.server = server;
        self.etag = Some(checksums.etag.clone());
    }

    /// The checksums of the server's entries, without deleted ones.
    pub(super) fn live(&self) -> BTreeMap<EntryName, Checksum> {
        let live = |(name, entry): (&EntryName, &ServerEntry)| {
            Some((name.clone(), entry.checksum.clone()?))
        };
        self.server.iter().filter_map(live).collect()
    }

    /// Both sides have the server's content now.
    pub(super) fn agree(&mut self, name: &EntryName) {
        let checksum = self.server.get(name).and_then(|entry| entry.checksum.clone());
        self.base.remove(name);
        self.base.extend(checksum.map(|checksum| (name.clone(), checksum)));
        self.proposed.remove(name);
        self.in_inbox.remove(name);
    }
}
