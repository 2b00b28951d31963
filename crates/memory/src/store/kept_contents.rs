//! Contents that the history keeps, read for the hashes that are asked for.

use std::collections::{BTreeMap, BTreeSet};

use dormouse_base::{Dir, FileError};
use jiff::Timestamp;

use super::content::{ContentHash, StoredContent};
use super::journal;

/// The wanted contents, by hash, with the last time that a file had them. One that was deleted is missing.
pub(super) struct KeptContents(BTreeMap<ContentHash, (StoredContent, Timestamp)>);

impl KeptContents {
    /// Reads the history once. Other contents take no memory.
    pub(super) fn read(state: &Dir, wanted: &BTreeSet<&ContentHash>) -> Result<Self, FileError> {
        let mut kept = BTreeMap::new();
        if wanted.is_empty() {
            return Ok(Self(kept));
        }
        journal::each_version(state, |version| {
            let content = version.content.filter(|_| wanted.contains(&version.hash));
            // A line that was changed by hand may hold something else.
            if let Some(Ok(content)) = content.map(|raw| serde_json::from_str(raw.get())) {
                kept.insert(version.hash.clone(), (content, version.modified));
            }
        })?;
        Ok(Self(kept))
    }

    /// The bytes.
    pub(super) fn bytes(&self, hash: &ContentHash) -> Option<Vec<u8>> {
        self.0.get(hash).map(|(content, _)| content.bytes())
    }

    /// The bytes, and the last time that a file had them.
    pub(super) fn with_time(&self, hash: &ContentHash) -> Option<(Vec<u8>, Timestamp)> {
        self.0.get(hash).map(|(content, modified)| (content.bytes(), *modified))
    }
}
