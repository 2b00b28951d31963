//! The texts of the memories in quarantine, kept between the writes of a session.
//!
//! Changes through the store are in its history, which says which files to read again. Changes by other programs are
//! not: a scan finds them, at most once in [`RESCAN_AFTER`].

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use jiff::{SignedDuration, Timestamp};

use crate::entry::MemoryEntry;
use crate::names::MemoryFile;
use crate::scan::ScanCache;
use crate::store::{ChangesSince, HistoryPosition, Store};

/// How long changes by other programs may stay unnoticed.
const RESCAN_AFTER: SignedDuration = SignedDuration::from_secs(60);

/// A memory that the user has not confirmed: its words are from outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinedText {
    /// Its file.
    pub file: MemoryFile,
    /// Its body.
    pub text: String,
}

#[derive(Default)]
pub(super) struct QuarantineCache(Mutex<Option<Snapshot>>);

struct Snapshot {
    scanned: Timestamp,
    history: HistoryPosition,
    texts: BTreeMap<MemoryFile, String>,
}

impl QuarantineCache {
    /// The current texts. Memories that cannot be read are left out: they cannot be repeated either.
    pub(super) fn texts(
        &self,
        store: &Store,
        scans: &Mutex<ScanCache>,
        now: Timestamp,
    ) -> Vec<QuarantinedText> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let snapshot = match kept.take().and_then(|snapshot| snapshot.updated(store, now)) {
            Some(snapshot) => snapshot,
            None => Snapshot::scan(store, scans, now),
        };
        let texts = snapshot.texts.iter();
        let texts = texts
            .map(|(file, text)| QuarantinedText { file: file.clone(), text: text.clone() })
            .collect();
        *kept = Some(snapshot);
        texts
    }
}

impl Snapshot {
    /// The snapshot with the changes since it was made; none if a scan is due.
    fn updated(mut self, store: &Store, now: Timestamp) -> Option<Self> {
        let age = now.duration_since(self.scanned);
        if age.is_negative() || age >= RESCAN_AFTER {
            return None;
        }
        match store.history().changes_since(self.history) {
            ChangesSince::Nothing => {}
            ChangesSince::Unknown => return None,
            ChangesSince::Files(files, history) => {
                for file in files.iter().filter_map(|file| MemoryFile::existing(file).ok()) {
                    self.texts.remove(&file);
                    self.texts.extend(quarantined_text(store, &file).map(|text| (file, text)));
                }
                self.history = history;
            }
        }
        Some(self)
    }

    fn scan(store: &Store, scans: &Mutex<ScanCache>, now: Timestamp) -> Self {
        // Taken first: a change during the scan is read again the next time.
        let history = store.history().end();
        let mut cache = scans.lock().unwrap_or_else(PoisonError::into_inner);
        let scan = store.scan(&mut cache).unwrap_or_default();
        let quarantined = scan.memories.iter().filter(|memory| memory.header.quarantined);
        let text = |file: &MemoryFile| Some((file.clone(), quarantined_text(store, file)?));
        let texts = quarantined.filter_map(|memory| text(&memory.file)).collect();
        Self { scanned: now, history, texts }
    }
}

fn quarantined_text(store: &Store, file: &MemoryFile) -> Option<String> {
    let (bytes, _) = store.read(file).ok()?;
    let entry = MemoryEntry::read(&bytes, bytes.len() as u64);
    entry.header.quarantined.then_some(entry.body)
}
