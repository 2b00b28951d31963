//! All memories below a directory, newest first, from the first lines of each file (M-8).
//!
//! A file whose time and size are those remembered is not opened again. What can not be read is counted
//! and left out; nothing here fails but a directory that can not be listed.

use std::collections::BTreeMap;
use std::io::Read;
use std::sync::Arc;
use std::time::SystemTime;

use dormouse_base::{Dir, DirEntry, EntryKind, FileError, RelPath};
use jiff::Timestamp;

use crate::names::{LOGS, fold, is_markdown};
use crate::{Header, INDEX, MemoryFile, frontmatter};

/// The lines read of each file.
pub const HEADER_LINES: usize = 30;
/// The most bytes that those lines may have.
const HEADER_BYTES: usize = 64 * 1024;
const FIRST_READ: usize = 4 * 1024;
const DEEPEST: usize = 8;

/// A memory as a scan sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scanned {
    /// Where it is.
    pub file: MemoryFile,
    /// When the file last changed.
    pub modified: Timestamp,
    /// Its length in bytes.
    pub size: u64,
    /// What its first lines say.
    pub header: Header,
}

impl Scanned {
    /// Its name: the one it says, else that of its file.
    pub fn name(&self) -> &str {
        self.header.name.as_deref().unwrap_or(self.file.stem())
    }
}

/// A file that was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// Where it is.
    pub path: String,
    /// Why.
    pub reason: String,
}

/// What a scan found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// The memories, newest first.
    pub memories: Vec<Arc<Scanned>>,
    /// What was left out.
    pub skipped: Vec<Skipped>,
}

impl Scan {
    /// The memory of this file, or of this name where only one has it.
    pub fn find(&self, file_or_name: &str) -> Option<&Arc<Scanned>> {
        let wanted = fold(file_or_name);
        let by_file = |memory: &&Arc<Scanned>| {
            fold(memory.file.as_str()) == wanted || fold(memory.file.stem()) == wanted
        };
        let mut by_name = self.memories.iter().filter(|memory| fold(memory.name()) == wanted);
        self.memories.iter().find(by_file).or_else(|| {
            let first = by_name.next();
            first.filter(|_| by_name.next().is_none())
        })
    }
}

/// What the last scan of a directory saw; the caller keeps it.
#[derive(Debug, Default)]
pub struct ScanCache {
    known: BTreeMap<String, (SystemTime, Arc<Scanned>)>,
}

/// Scans a directory. Folders at its top that are named in `apart` are other directories' business.
pub fn scan(dir: &Dir, apart: &[&str], cache: &mut ScanCache) -> Result<Scan, FileError> {
    let mut walk =
        Walk { known: std::mem::take(&mut cache.known), fresh: cache, scan: Scan::default() };
    walk.folder(dir, "", apart, 0)?;
    let mut scan = walk.scan;
    scan.memories.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.file.cmp(&b.file)));
    Ok(scan)
}

struct Walk<'a> {
    known: BTreeMap<String, (SystemTime, Arc<Scanned>)>,
    fresh: &'a mut ScanCache,
    scan: Scan,
}

impl Walk<'_> {
    fn folder(
        &mut self,
        dir: &Dir,
        prefix: &str,
        apart: &[&str],
        depth: usize,
    ) -> Result<(), FileError> {
        for entry in dir.entries()? {
            if entry.name.starts_with('.') || (depth == 0 && apart.contains(&entry.name.as_str())) {
                continue;
            }
            let path = format!("{prefix}{}", entry.name);
            match entry.kind {
                EntryKind::File if is_markdown(&entry.name) => self.file(dir, path, &entry),
                EntryKind::Folder if depth == 0 && fold(&entry.name) == LOGS => {}
                EntryKind::Folder if depth + 1 < DEEPEST => {
                    self.below(dir, &path, &entry.name, depth);
                }
                EntryKind::Folder => self.skip(path, "it is too deep"),
                EntryKind::Other if is_markdown(&entry.name) => {
                    self.skip(path, "it is a link or no plain file");
                }
                EntryKind::File | EntryKind::Other => {}
            }
        }
        Ok(())
    }

    fn below(&mut self, dir: &Dir, path: &str, name: &str, depth: usize) {
        let listed = RelPath::new(name)
            .map_err(|error| error.to_string())
            .and_then(|name| dir.below(&name).map_err(|error| error.to_string()))
            .and_then(|below| {
                self.folder(&below, &format!("{path}/"), &[], depth + 1)
                    .map_err(|error| error.to_string())
            });
        if let Err(reason) = listed {
            self.skip(path.to_owned(), &reason);
        }
    }

    fn file(&mut self, dir: &Dir, path: String, entry: &DirEntry) {
        if fold(&entry.name) == fold(INDEX) {
            return;
        }
        let known = self.known.remove(&path);
        let scanned = match known {
            Some((modified, scanned))
                if modified == entry.modified && scanned.size == entry.size =>
            {
                Ok(scanned)
            }
            _ => read(dir, &path, entry).map(Arc::new),
        };
        match scanned {
            Ok(scanned) => {
                self.fresh.known.insert(path, (entry.modified, Arc::clone(&scanned)));
                self.scan.memories.push(scanned);
            }
            Err(reason) => self.skip(path, &reason),
        }
    }

    fn skip(&mut self, path: String, reason: &str) {
        self.scan.skipped.push(Skipped { path, reason: reason.to_owned() });
    }
}

fn read(dir: &Dir, path: &str, entry: &DirEntry) -> Result<Scanned, String> {
    let file = MemoryFile::existing(path).map_err(|error| error.to_string())?;
    let name = RelPath::new(&entry.name).map_err(|error| error.to_string())?;
    let opened = dir.open_file(&name).map_err(|error| error.to_string())?;
    let head = first_lines(opened, entry.size).map_err(|error| error.to_string())?;
    if head.contains(&0) {
        return Err("it is binary".to_owned());
    }
    let header = Header::from_fields(&frontmatter::parse_head(&String::from_utf8_lossy(&head)));
    // A time before the epoch or beyond what can be said counts as the epoch.
    let modified = Timestamp::try_from(entry.modified).unwrap_or_default();
    Ok(Scanned { file, modified, size: entry.size, header })
}

/// At most [`HEADER_LINES`] lines, or as many bytes as they may have.
fn first_lines(mut file: impl Read, size: u64) -> std::io::Result<Vec<u8>> {
    let mut head = vec![0; FIRST_READ];
    let mut length = 0;
    while let Some(room) = head.get_mut(length..) {
        let count = file.read(room)?;
        length += count;
        let end = head.get(..length).and_then(end_of_lines);
        if let Some(end) = end {
            length = end;
            break;
        }
        // The end is known: asking for it again would double the time of a scan.
        if count == 0 || length as u64 == size || length >= HEADER_BYTES {
            break;
        }
        if length == head.len() {
            head.resize(HEADER_BYTES, 0);
        }
    }
    head.truncate(length);
    Ok(head)
}

fn end_of_lines(bytes: &[u8]) -> Option<usize> {
    let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    newlines.map(|(at, _)| at + 1).nth(HEADER_LINES - 1)
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
