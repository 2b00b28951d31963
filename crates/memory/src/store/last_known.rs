//! The last known content of each file: small files in the state folder.
//!
//! They are a cache. If an entry is lost, the next comparison takes the file for one changed by another program and
//! records that; who wrote it is then unknown. The same holds for the copy of the index.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use dormouse_base::{Dir, FileError, RelPath};
use jiff::Timestamp;
use memchr::memmem;
use serde::{Deserialize, Serialize};

use super::change_origin::ChangeAuthor;
use super::content::ContentHash;
use super::disk_file::IndexNow;
use super::fixed_path::name;
use super::journal::{self, IndexChange, RecordedChange};
use crate::names::INDEX;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LastKnownFile {
    /// `None` if the file was deleted.
    pub(super) hash: Option<ContentHash>,
    pub(super) size: u64,
    pub(super) modified: Timestamp,
    /// Whether the user wrote this content.
    #[serde(rename = "by_person")]
    pub(super) by_user: bool,
    /// Whether the file came with this content from elsewhere: its time is then that of a copy, perhaps.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_adopted: bool,
    /// The member of the team who wrote this content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) teammate: Option<String>,
}

pub(super) const FOLDER: &str = "heads";
const INDEX_COPY: &str = "index.last";

/// Files share 256 shards: a change adds a line to one small file, and reading all of them opens few.
fn shard_of(file: &str) -> RelPath {
    let key: String = blake3::hash(file.as_bytes()).to_hex().chars().take(2).collect();
    name(&format!("{FOLDER}/{key}.json"))
}

type Shard = BTreeMap<String, LastKnownFile>;

/// A shard as the file has it: lines with one or more entries each, of which the last one counts. A change adds a line.
struct ShardText(Vec<u8>);

/// With more lines than these a shard is written anew, as one.
const MOST_LINES: usize = 64;

impl ShardText {
    fn read(state: &Dir, path: &RelPath) -> Self {
        // Unreadable entries count as missing.
        Self(state.read(path).unwrap_or_default())
    }

    fn entries(&self) -> Shard {
        self.lines().flat_map(entries_in).collect()
    }

    /// The entry of a file, without reading lines that do not have it.
    fn entry(&self, file: &str) -> Option<LastKnownFile> {
        let key = serde_json::to_string(file).ok()?;
        let key = memmem::Finder::new(&key);
        let mut lines = self.lines().rev().filter(|line| key.find(line).is_some());
        lines.find_map(|line| entries_in(line).remove(file))
    }

    fn lines(&self) -> impl DoubleEndedIterator<Item = &[u8]> {
        self.0.split(|byte| *byte == b'\n')
    }

    /// Writes these entries.
    fn put(&self, state: &Dir, path: &RelPath, added: Shard) -> Result<(), FileError> {
        if self.lines().count() <= MOST_LINES {
            let is_ended = self.0.last().is_none_or(|last| *last == b'\n');
            let mut line = if is_ended { Vec::new() } else { b"\n".to_vec() };
            line.extend(line_of(&added));
            if state.extend_cache(path, self.0.len() as u64, &line) {
                return Ok(());
            }
        }
        let mut entries = self.entries();
        entries.extend(added);
        state.write_cache(path, &line_of(&entries))
    }
}

fn entries_in(line: &[u8]) -> Shard {
    serde_json::from_slice(line).unwrap_or_default()
}

fn line_of(entries: &Shard) -> Vec<u8> {
    // A map of texts and numbers always serializes.
    let mut line = serde_json::to_vec(entries).unwrap_or_default();
    line.push(b'\n');
    line
}

pub(super) fn read(state: &Dir, file: &str) -> Option<LastKnownFile> {
    ShardText::read(state, &shard_of(file)).entry(file)
}

/// Shards already read, with their time and size: reading many memories opens each shard once.
#[derive(Debug, Default)]
pub(super) struct LastKnownCache {
    shards: Mutex<HashMap<RelPath, KnownShard>>,
}

#[derive(Debug)]
struct KnownShard {
    modified: SystemTime,
    size: u64,
    shard: Arc<Shard>,
}

impl LastKnownCache {
    /// Like [`read`], but cached: for the age of a memory only. Decisions about a change read again.
    pub(super) fn read(&self, state: &Dir, file: &str) -> Option<LastKnownFile> {
        let path = shard_of(file);
        let entry = state.entry(&path).ok()?;
        let mut shards = self.shards.lock().unwrap_or_else(PoisonError::into_inner);
        let same =
            |known: &&KnownShard| known.modified == entry.modified && known.size == entry.size;
        let shard = match shards.get(&path).filter(same) {
            Some(known) => Arc::clone(&known.shard),
            None => {
                let shard = Arc::new(ShardText::read(state, &path).entries());
                let (modified, size) = (entry.modified, entry.size);
                shards.insert(path, KnownShard { modified, size, shard: Arc::clone(&shard) });
                shard
            }
        };
        shard.get(file).cloned()
    }
}

/// All entries, by file.
pub(super) fn all(state: &Dir) -> Result<Shard, FileError> {
    let folder = match state.open_folder(&name(FOLDER)) {
        Ok(folder) => folder,
        Err(error) if error.is_not_found() => return Ok(Shard::new()),
        Err(error) => return Err(error),
    };
    let names = folder.names()?;
    let paths = names.iter().filter_map(|name| RelPath::new(name).ok());
    Ok(paths.flat_map(|path| ShardText::read(&folder, &path).entries()).collect())
}

/// Writes the entries of a change that was made. `index` is the index after it, if the change wrote one.
pub(super) fn write(
    state: &Dir,
    change: &RecordedChange,
    index: Option<IndexNow<'_>>,
) -> Result<(), FileError> {
    let mut shards: BTreeMap<RelPath, Shard> = BTreeMap::new();
    let mut put = |file: &str, head: LastKnownFile| {
        shards.entry(shard_of(file)).or_default().insert(file.to_owned(), head);
    };
    let by_user = change.author.is_user();
    let teammate = match &change.author {
        ChangeAuthor::Teammate(name) => Some(name.clone()),
        _ => None,
    };
    for file in &change.files {
        let version = file.after.as_ref();
        let content = version.and_then(|version| version.content.as_ref());
        let head = LastKnownFile {
            hash: version.map(|version| version.hash.clone()),
            size: content.map_or(0, |content| content.length() as u64),
            modified: version.map_or(change.time, |version| version.modified),
            by_user,
            is_adopted: change.author == ChangeAuthor::Outside && file.before.is_none(),
            teammate: teammate.clone(),
        };
        put(file.file.as_str(), head);
    }
    if let Some(changed) = &change.index {
        let hash = changed.after.as_ref().and(index).map(|index| index.hash.clone());
        let size = index.map_or(0, |index| index.length);
        let bytes = index.map_or(Some(&[][..]), |index| index.bytes);
        if let Some(bytes) = bytes {
            state.write_cache(&name(INDEX_COPY), bytes)?;
        }
        put(
            INDEX,
            LastKnownFile {
                hash,
                size,
                modified: change.time,
                by_user,
                is_adopted: false,
                teammate: None,
            },
        );
    }
    for (path, shard) in shards {
        ShardText::read(state, &path).put(state, &path, shard)?;
    }
    Ok(())
}

/// Adds a line to the copy of the index, which has this length before; returns whether there is one.
pub(super) fn extend_index_copy(state: &Dir, length: u64, line: &str) -> bool {
    state.extend_cache(&name(INDEX_COPY), length, line.as_bytes())
}

/// The last known index, if it can be determined: the copy with the later changes from the history.
pub(super) fn last_index(state: &Dir, head: &LastKnownFile) -> Option<String> {
    let mut text = String::from_utf8(state.read(&name(INDEX_COPY)).ok()?).ok()?;
    let mut hash = ContentHash::of(text.as_bytes());
    if Some(&hash) != head.hash.as_ref() {
        let changes = journal::read_outline(state).ok()?;
        let changes: Vec<&IndexChange> =
            changes.iter().filter_map(|change| change.index.as_ref()).collect();
        let copied = changes.iter().rposition(|change| change.after.as_ref() == Some(&hash))?;
        for change in changes.iter().skip(copied + 1) {
            text = change.splice.apply(&text)?;
        }
        hash = ContentHash::of(text.as_bytes());
    }
    (Some(&hash) == head.hash.as_ref()).then_some(text)
}

/// Copies the last known index before contents are purged from the history: an older copy would still contain them, and
/// could not be updated.
pub(super) fn renew_index_copy(state: &Dir) -> Result<(), FileError> {
    let head = read(state, INDEX);
    match head.and_then(|head| last_index(state, &head)) {
        Some(text) => state.write_cache(&name(INDEX_COPY), text.as_bytes()),
        None => match state.remove_file(&name(INDEX_COPY)) {
            Err(error) if !error.is_not_found() => Err(error),
            Ok(()) | Err(_) => Ok(()),
        },
    }
}
