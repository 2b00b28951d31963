//! The local side: the memories of the team's directory, as entries.

use std::collections::BTreeMap;

use dormouse_memory::{ContentHash, ScanCache, Store};

use super::report::SyncReport;
use super::sync_error::SyncError;
use crate::checksum::Checksum;
use crate::entry_name::EntryName;
use crate::limits::LONGEST_ENTRY;

/// A memory of the directory.
#[derive(Debug, Clone)]
pub(super) struct LocalEntry {
    pub(super) checksum: Checksum,
    /// For the store, which refuses to replace another content.
    pub(super) hash: ContentHash,
    /// Why it is not sent.
    pub(super) kept: Option<String>,
}

/// The local files.
#[derive(Debug, Default)]
pub(super) struct LocalFiles {
    pub(super) entries: BTreeMap<EntryName, LocalEntry>,
}

impl LocalFiles {
    /// Reads all memories of the directory. Files that cannot be entries are named in the report.
    pub(super) fn read(store: &Store, report: &mut SyncReport) -> Result<Self, SyncError> {
        let scan = store.scan(&mut ScanCache::default())?;
        let mut files = Self::default();
        for memory in &scan.memories {
            let name = match EntryName::of(&memory.file) {
                Ok(name) => name,
                Err(error) => {
                    report.hold_back(memory.file.as_str(), error.to_string());
                    continue;
                }
            };
            // A file that vanished meanwhile is found missing the next time.
            let Ok((bytes, hash)) = store.read(&memory.file) else { continue };
            let kept = if memory.header.quarantined {
                Some("it comes from outside and was not confirmed; confirm it with `dormouse memory`".to_owned())
            } else {
                unsendable(name.as_str(), &bytes)
            };
            files.entries.insert(name, LocalEntry { checksum: Checksum::of(&bytes), hash, kept });
        }
        Ok(files)
    }

    /// The checksums of all files.
    pub(super) fn checksums(&self) -> BTreeMap<EntryName, Checksum> {
        self.entries.iter().map(|(name, entry)| (name.clone(), entry.checksum.clone())).collect()
    }
}

/// Why a content must not be sent: size, kind, secrets (T-9). Names rule and line, never the value.
fn unsendable(name: &str, bytes: &[u8]) -> Option<String> {
    if bytes.len() > LONGEST_ENTRY {
        return Some(format!("it is longer than {LONGEST_ENTRY} bytes; split it"));
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Some("it is not valid UTF-8; save it as text".to_owned());
    };
    if text.contains('\0') {
        return Some("it contains NUL bytes; an entry is a text".to_owned());
    }
    let in_name = dormouse_secrets::scan(name);
    let found = dormouse_secrets::scan(text);
    let finding = found.first().or(in_name.first())?;
    Some(format!(
        "it looks like it contains a secret ({} in line {}); leave the value out",
        finding.rule, finding.line
    ))
}
