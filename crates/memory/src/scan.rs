//! All memories below a directory, newest first, from the first lines of each file (M-8).
//!
//! A file whose time and size are those remembered is not opened again. What can not be read is counted
//! and left out; nothing here fails but a directory that can not be listed.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::time::SystemTime;

use dormouse_base::{Dir, EntryKind, FileError, Listed, RelPath};
use jiff::Timestamp;

use crate::names::{LOGS, fold, is_index, is_markdown};
use crate::{Header, MemoryFile, frontmatter};

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
    /// By path; the order in it never shows.
    known: HashMap<String, Known>,
    scans: u64,
}

#[derive(Debug)]
struct Known {
    modified: SystemTime,
    scanned: Arc<Scanned>,
    /// The last scan that saw it.
    seen: u64,
}

/// Scans a directory. Folders at its top that are named in `apart` are other directories' business.
pub fn scan(dir: &Dir, apart: &[&str], cache: &mut ScanCache) -> Result<Scan, FileError> {
    cache.scans += 1;
    let mut walk = Walk { cache, scan: Scan::default(), head: vec![0; FIRST_READ] };
    walk.folder(dir, "", apart, 0)?;
    let mut scan = walk.scan;
    let this = cache.scans;
    cache.known.retain(|_, known| known.seen == this);
    scan.memories.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.file.cmp(&b.file)));
    Ok(scan)
}

struct Walk<'a> {
    cache: &'a mut ScanCache,
    scan: Scan,
    /// Room for the first lines of a file, used again for the next.
    head: Vec<u8>,
}

impl Walk<'_> {
    fn folder(
        &mut self,
        dir: &Dir,
        prefix: &str,
        apart: &[&str],
        depth: usize,
    ) -> Result<(), FileError> {
        let listing = dir.list()?;
        for name in listing.not_utf8.iter().filter(|name| is_markdown(name)) {
            self.skip(format!("{prefix}{name}"), "its name is not UTF-8; give it another");
        }
        for listed in listing.listed {
            let name = listed.name.as_str();
            if name.starts_with('.') || (depth == 0 && apart.contains(&name)) {
                continue;
            }
            let path = format!("{prefix}{name}");
            match kind(dir, &listed) {
                Some(EntryKind::File) if is_index(name) || !is_markdown(name) => {}
                Some(EntryKind::File) => self.file(dir, path, name),
                Some(EntryKind::Folder) if depth == 0 && fold(name) == LOGS => {}
                Some(EntryKind::Folder) if depth + 1 < DEEPEST => {
                    self.below(dir, &path, name, depth);
                }
                Some(EntryKind::Folder) => self.skip(path, "it is too deep"),
                Some(EntryKind::Other) if is_markdown(name) => self.skip(path, NOT_PLAIN),
                Some(EntryKind::Other) | None => {}
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

    fn file(&mut self, dir: &Dir, path: String, name: &str) {
        if let Some(scanned) = self.unchanged(dir, &path, name) {
            self.scan.memories.push(scanned);
            return;
        }
        match read(dir, &path, name, &mut self.head) {
            Ok((modified, scanned)) => {
                let scanned = Arc::new(scanned);
                self.scan.memories.push(Arc::clone(&scanned));
                self.cache.known.insert(path, Known { modified, scanned, seen: self.cache.scans });
            }
            Err(reason) => self.skip(path, &reason),
        }
    }

    /// The file as the last scan saw it, if it has not changed since.
    fn unchanged(&mut self, dir: &Dir, path: &str, name: &str) -> Option<Arc<Scanned>> {
        let known = self.cache.known.get_mut(path)?;
        let entry = dir.entry(&RelPath::new(name).ok()?).ok()?;
        let same = entry.modified == known.modified && entry.size == known.scanned.size;
        (same && entry.kind == EntryKind::File).then(|| {
            known.seen = self.cache.scans;
            Arc::clone(&known.scanned)
        })
    }

    fn skip(&mut self, path: String, reason: &str) {
        self.scan.skipped.push(Skipped { path, reason: reason.to_owned() });
    }
}

const NOT_PLAIN: &str = "it is a link or no plain file";

/// What an entry is; none if it has gone meanwhile.
fn kind(dir: &Dir, listed: &Listed) -> Option<EntryKind> {
    listed.kind.or_else(|| Some(dir.entry(&RelPath::new(&listed.name).ok()?).ok()?.kind))
}

/// Opens a file once: its time and size are those of what is read.
fn read(
    dir: &Dir,
    path: &str,
    name: &str,
    head: &mut Vec<u8>,
) -> Result<(SystemTime, Scanned), String> {
    let file = MemoryFile::existing(path).map_err(|error| error.to_string())?;
    let name = RelPath::new(name).map_err(|error| error.to_string())?;
    let opened = dir.open_file(&name).map_err(|error| error.to_string())?;
    let (size, time) = size_and_time(&opened).map_err(|error| error.to_string())?;
    let first = first_lines(opened, size, head).map_err(|error| error.to_string())?;
    if first.contains(&0) {
        return Err("it is binary".to_owned());
    }
    let header = Header::from_fields(&frontmatter::parse_head(&as_text(first)));
    // A time before the epoch or beyond what can be said counts as the epoch.
    let modified = Timestamp::try_from(time).unwrap_or_default();
    Ok((time, Scanned { file, modified, size, header }))
}

fn size_and_time(file: &File) -> std::io::Result<(u64, SystemTime)> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(std::io::Error::other(NOT_PLAIN));
    }
    Ok((metadata.len(), metadata.modified()?))
}

/// At most [`HEADER_LINES`] lines, or as many bytes as they may have.
fn first_lines(mut file: impl Read, size: u64, head: &mut Vec<u8>) -> std::io::Result<&[u8]> {
    // A long file before this one may have made more room than most need.
    head.truncate(FIRST_READ);
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
    Ok(head.get(..length).unwrap_or_default())
}

#[expect(
    clippy::naive_bytecount,
    reason = "the compiler makes it quick enough for a few kilobytes"
)]
fn end_of_lines(bytes: &[u8]) -> Option<usize> {
    // Counting is many times quicker than finding, and most files have fewer lines.
    if bytes.iter().filter(|byte| **byte == b'\n').count() < HEADER_LINES {
        return None;
    }
    let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    newlines.map(|(at, _)| at + 1).nth(HEADER_LINES - 1)
}

/// The same as `String::from_utf8_lossy`, which takes longer for what is text.
fn as_text(bytes: &[u8]) -> Cow<'_, str> {
    std::str::from_utf8(bytes).map_or_else(|_| String::from_utf8_lossy(bytes), Cow::Borrowed)
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
