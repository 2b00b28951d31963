//! Which files have changed since a position in the history: for data derived from memories.

use std::io::{Read, Seek, SeekFrom};

use serde::Deserialize;

use super::journal;
use super::store_history::StoreHistory;

/// A position in the history. All changes before it are complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(crate) struct HistoryPosition(pub(crate) u64);

/// The changes since a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChangesSince {
    /// Nothing.
    Nothing,
    /// These files were changed, created or removed.
    Files(Vec<String>, HistoryPosition),
    /// The history was replaced: any file may have changed.
    Unknown,
}

/// The journal lines without the contents.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Line {
    Change(Changed),
    Done {},
    Dropped {},
}

#[derive(Deserialize)]
struct Changed {
    files: Vec<ChangedFile>,
}

#[derive(Deserialize)]
struct ChangedFile {
    file: String,
}

/// Bytes at the end that are searched for a completed change.
const TAIL: u64 = 64 * 1024;

impl StoreHistory<'_> {
    /// The end of the history.
    pub(crate) fn end(&self) -> HistoryPosition {
        let Some(length) = self.history_length() else { return HistoryPosition::default() };
        let start = length.saturating_sub(TAIL);
        let tail = self.history_from(start).unwrap_or_default();
        let (_, closed) = read(&tail);
        HistoryPosition(if closed == 0 { length } else { start + closed })
    }

    /// The changes since a position. A change whose files are still being written is reported again the next time.
    pub(crate) fn changes_since(&self, place: HistoryPosition) -> ChangesSince {
        let length = self.history_length().unwrap_or(0);
        if length == place.0 {
            return ChangesSince::Nothing;
        }
        if length < place.0 {
            return ChangesSince::Unknown;
        }
        let Some(bytes) = self.history_from(place.0) else { return ChangesSince::Unknown };
        let (files, closed) = read(&bytes);
        ChangesSince::Files(files, HistoryPosition(place.0 + closed))
    }

    fn history_length(&self) -> Option<u64> {
        self.store.state.entry(&journal::file_name()).ok().map(|entry| entry.size)
    }

    fn history_from(&self, start: u64) -> Option<Vec<u8>> {
        let mut file = self.store.state.open_file(&journal::file_name()).ok()?;
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start)).ok()?;
        file.read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// The files of all changes, and the end of the last line that completes a change.
fn read(bytes: &[u8]) -> (Vec<String>, u64) {
    let mut files = Vec::new();
    let (mut at, mut closed) = (0, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        at += line.len() as u64;
        match serde_json::from_slice(line) {
            Ok(Line::Change(changed)) => {
                files.extend(changed.files.into_iter().map(|changed| changed.file));
            }
            Ok(Line::Done {} | Line::Dropped {}) => closed = at,
            Err(_) => {}
        }
    }
    (files, closed)
}
