//! For each file, the content it had when we last looked: small files in the state folder.
//!
//! Heads are a cache. A head that is lost makes the next look take the file for one changed from outside,
//! which is recorded, and harmless.

use std::collections::BTreeMap;

use dormouse_base::{Dir, Durability, FileError, RelPath, Replacement};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::history::Change;
use super::{ContentHash, name};
use crate::INDEX;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    /// None: it was deleted.
    pub(super) hash: Option<ContentHash>,
    pub(super) size: u64,
    pub(super) modified: Timestamp,
    /// Whether a person made it so.
    pub(super) by_person: bool,
}

pub(super) const FOLDER: &str = "heads";
const INDEX_COPY: &str = "index.last";

/// Files share 256 shards: a change rewrites a small file, and a look at all of them opens few.
fn shard_of(file: &str) -> RelPath {
    let key: String = blake3::hash(file.as_bytes()).to_hex().chars().take(2).collect();
    name(&format!("{FOLDER}/{key}.json"))
}

type Shard = BTreeMap<String, Head>;

fn read_shard(state: &Dir, path: &RelPath) -> Shard {
    // Heads that can not be read are as good as none.
    let bytes = state.read(path).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

pub(super) fn read(state: &Dir, file: &str) -> Option<Head> {
    read_shard(state, &shard_of(file)).remove(file)
}

/// All heads, by file.
pub(super) fn all(state: &Dir) -> Result<Shard, FileError> {
    let folder = match state.below(&name(FOLDER)) {
        Ok(folder) => folder,
        Err(error) if error.is_not_found() => return Ok(Shard::new()),
        Err(error) => return Err(error),
    };
    let names = folder.names()?;
    let paths = names.iter().filter_map(|name| RelPath::new(name).ok());
    Ok(paths.flat_map(|path| read_shard(&folder, &path)).collect())
}

/// Writes the heads of a change that is in place.
pub(super) fn write(state: &Dir, change: &Change, index: Option<&[u8]>) -> Result<(), FileError> {
    let mut shards: BTreeMap<RelPath, Shard> = BTreeMap::new();
    let mut put = |file: &str, head: Head| {
        let path = shard_of(file);
        let shard = shards.entry(path).or_insert_with_key(|path| read_shard(state, path));
        shard.insert(file.to_owned(), head);
    };
    let by_person = change.author.is_person();
    for file in &change.files {
        let version = file.after.as_ref();
        let content = version.and_then(|version| version.content.as_ref());
        let head = Head {
            hash: version.map(|version| version.hash.clone()),
            size: content.map_or(0, |content| content.bytes().len() as u64),
            modified: version.map_or(change.time, |version| version.modified),
            by_person,
        };
        put(file.file.as_str(), head);
    }
    if let Some(changed) = &change.index {
        let bytes = index.unwrap_or_default();
        hasty(state, &name(INDEX_COPY), bytes)?;
        let hash = changed.after.as_ref().map(|_| ContentHash::of(bytes));
        let size = bytes.len() as u64;
        put(INDEX, Head { hash, size, modified: change.time, by_person });
    }
    for (path, shard) in shards {
        // A map of texts and numbers has no way to fail to serialise.
        hasty(state, &path, &serde_json::to_vec(&shard).unwrap_or_default())?;
    }
    Ok(())
}

fn hasty(state: &Dir, path: &RelPath, bytes: &[u8]) -> Result<(), FileError> {
    let replacement = Replacement { durability: Durability::Later, ..Replacement::of(bytes) };
    state.replace_with(path, &replacement)
}

/// The index as we last saw it, if the copy is whole.
pub(super) fn last_index(state: &Dir, head: &Head) -> Option<String> {
    let bytes = state.read(&name(INDEX_COPY)).ok()?;
    let whole = Some(ContentHash::of(&bytes)) == head.hash;
    String::from_utf8(bytes).ok().filter(|_| whole)
}
