//! Which files a memory directory has, by their times and sizes alone: no file is opened.
//!
//! The rule of what is a memory is that of [`crate::scan`]; a test holds the two together.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dormouse_base::{Dir, DirEntry, EntryKind, FileError, RelPath};

use crate::names::{LOGS, fold, is_markdown};
use crate::rank::segment::About;
use crate::{INDEX, MemoryFile, Store};

const DEEPEST: usize = 8;

/// What a file looks like from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Seen {
    /// In nanoseconds since 1970.
    pub(super) modified: i64,
    pub(super) size: u64,
}

impl Seen {
    pub(super) fn of(about: About) -> Self {
        Self { modified: about.modified, size: about.size }
    }

    fn entry(entry: &DirEntry) -> Self {
        Self { modified: nanoseconds(entry.modified), size: entry.size }
    }
}

fn nanoseconds(time: SystemTime) -> i64 {
    let whole = |time: Duration| i64::try_from(time.as_nanos()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => whole(since),
        Err(before) => -whole(before.duration()),
    }
}

/// Every memory of a store.
pub(super) fn walk(store: &Store) -> Result<BTreeMap<String, Seen>, FileError> {
    let mut found = BTreeMap::new();
    folder(store.dir(), "", store.apart(), 0, &mut found)?;
    Ok(found)
}

fn folder(
    dir: &Dir,
    prefix: &str,
    apart: &[String],
    depth: usize,
    found: &mut BTreeMap<String, Seen>,
) -> Result<(), FileError> {
    for entry in dir.entries()? {
        if entry.name.starts_with('.') || (depth == 0 && apart.contains(&entry.name)) {
            continue;
        }
        let path = format!("{prefix}{}", entry.name);
        match entry.kind {
            EntryKind::File if is_memory(&path, &entry.name) => {
                found.insert(path, Seen::entry(&entry));
            }
            EntryKind::Folder if depth == 0 && fold(&entry.name) == LOGS => {}
            EntryKind::Folder if depth + 1 < DEEPEST => {
                // A folder that can not be listed has no memories.
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

/// One file that the history names; none if it is not there.
pub(super) fn look(dir: &Dir, path: &str) -> Option<Seen> {
    let file = MemoryFile::existing(path).ok()?;
    let entry = dir.entry(file.path()).ok()?;
    (entry.kind == EntryKind::File).then(|| Seen::entry(&entry))
}
