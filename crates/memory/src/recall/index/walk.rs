//! Lists the memory files of a directory with time and size, without opening them.
//!
//! Which files are memories follows the rule of [`crate::scan`]; a test compares the two.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dormouse_base::{Dir, DirEntry, EntryKind, FileError, RelPath};
use dormouse_search::{DocumentInfo, FileStamp};

use crate::names::{INDEX, LOGS, MemoryFile, fold, is_markdown};
use crate::store::Store;

const MAX_DEPTH: usize = 8;

/// The stamp that the index has for a document.
pub(super) fn indexed_stamp(info: DocumentInfo) -> FileStamp {
    FileStamp { modified: info.modified, size: info.size }
}

fn entry_stamp(entry: &DirEntry) -> FileStamp {
    FileStamp { modified: nanoseconds(entry.modified), size: entry.size }
}

fn nanoseconds(time: SystemTime) -> i64 {
    let whole = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => whole(since),
        Err(before) => -whole(before.duration()),
    }
}

/// Lists every memory of a store.
pub(super) fn walk(store: &Store) -> Result<BTreeMap<String, FileStamp>, FileError> {
    let mut found = BTreeMap::new();
    folder(store.dir(), "", store.excluded_folders(), 0, &mut found)?;
    Ok(found)
}

fn folder(
    dir: &Dir,
    prefix: &str,
    excluded: &[String],
    depth: usize,
    found: &mut BTreeMap<String, FileStamp>,
) -> Result<(), FileError> {
    for entry in dir.entries()? {
        if entry.name.starts_with('.') || (depth == 0 && excluded.contains(&entry.name)) {
            continue;
        }
        let path = format!("{prefix}{}", entry.name);
        match entry.kind {
            EntryKind::File if is_memory(&path, &entry.name) => {
                found.insert(path, entry_stamp(&entry));
            }
            EntryKind::Folder if depth == 0 && fold(&entry.name) == LOGS => {}
            EntryKind::Folder if depth + 1 < MAX_DEPTH => {
                // A folder that cannot be listed has no memories.
                if let Some(below) =
                    RelPath::new(&entry.name).ok().and_then(|n| dir.open_folder(&n).ok())
                {
                    let _unreadable = folder(&below, &format!("{path}/"), &[], depth + 1, found);
                }
            }
            EntryKind::Folder | EntryKind::File | EntryKind::Other => {}
        }
    }
    Ok(())
}

fn is_memory(path: &str, name: &str) -> bool {
    is_markdown(name) && fold(name) != fold(INDEX) && MemoryFile::existing(path).is_ok()
}

/// The stamp of one file that the history names; `None` if it does not exist.
pub(super) fn stamp_of(dir: &Dir, path: &str) -> Option<FileStamp> {
    let file = MemoryFile::existing(path).ok()?;
    let entry = dir.entry(file.path()).ok()?;
    (entry.kind == EntryKind::File).then(|| entry_stamp(&entry))
}
