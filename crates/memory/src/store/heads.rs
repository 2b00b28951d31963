//! For each file, the content it had when we last looked: a small file in the state folder.
//!
//! Heads are a cache. A head that is lost makes the next look take the file for one changed from outside,
//! which is recorded, and harmless.

use dormouse_base::{Dir, Durability, FileError, RelPath, Replacement};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::history::Change;
use super::{ContentHash, name};
use crate::INDEX;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Head {
    pub(super) file: String,
    /// None: it was deleted.
    pub(super) hash: Option<ContentHash>,
    pub(super) size: u64,
    pub(super) modified: Timestamp,
    /// Whether a person made it so.
    pub(super) by_person: bool,
}

pub(super) const FOLDER: &str = "heads";
const INDEX_COPY: &str = "index.last";

fn path_of(file: &str) -> RelPath {
    let key: String = blake3::hash(file.as_bytes()).to_hex().chars().take(32).collect();
    name(&format!("{FOLDER}/{key}"))
}

pub(super) fn read(state: &Dir, file: &str) -> Option<Head> {
    // A head that can not be read is as good as none.
    let bytes = state.read(&path_of(file)).ok()?;
    serde_json::from_slice(&bytes).ok()
}

pub(super) fn all(state: &Dir) -> Result<Vec<Head>, FileError> {
    let folder = match state.below(&name(FOLDER)) {
        Ok(folder) => folder,
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let names = folder.names()?;
    let paths = names.iter().filter_map(|name| RelPath::new(name).ok());
    let heads = paths.filter_map(|path| folder.read(&path).ok());
    Ok(heads.filter_map(|bytes| serde_json::from_slice(&bytes).ok()).collect())
}

/// Writes the heads of a change that is in place.
pub(super) fn write(state: &Dir, change: &Change, index: Option<&[u8]>) -> Result<(), FileError> {
    let by_person = change.author.is_person();
    for file in &change.files {
        let version = file.after.as_ref();
        let content = version.and_then(|version| version.content.as_ref());
        put(
            state,
            &Head {
                file: file.file.as_str().to_owned(),
                hash: version.map(|version| version.hash.clone()),
                size: content.map_or(0, |content| content.bytes().len() as u64),
                modified: version.map_or(change.time, |version| version.modified),
                by_person,
            },
        )?;
    }
    if let Some(changed) = &change.index {
        let bytes = index.unwrap_or_default();
        hasty(state, &name(INDEX_COPY), bytes)?;
        let head = Head {
            file: INDEX.to_owned(),
            hash: changed.after.as_ref().map(|_| ContentHash::of(bytes)),
            size: bytes.len() as u64,
            modified: change.time,
            by_person,
        };
        put(state, &head)?;
    }
    Ok(())
}

fn put(state: &Dir, head: &Head) -> Result<(), FileError> {
    // A struct of texts and numbers has no way to fail to serialise.
    hasty(state, &path_of(&head.file), &serde_json::to_vec(head).unwrap_or_default())
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
