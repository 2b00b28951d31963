//! All memories below a directory, newest first, from the first lines of each file (M-8).
//!
//! A file whose time and size are those remembered is not opened again. What can not be read is counted
//! and left out; nothing here fails but a directory that can not be listed.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::time::SystemTime;

use dormouse_base::{Dir, EntryKind, FileError};
use jiff::Timestamp;

use crate::entry::as_text;
use crate::names::fold;
use crate::walk::{FoundFile, NOT_PLAIN, Step, walk};
use dormouse_frontmatter as frontmatter;

use crate::entry::Header;
use crate::names::MemoryFile;

/// The lines read of each file.
pub const HEADER_LINES: usize = 30;
/// The most bytes that those lines may have.
const HEADER_BYTES: usize = 64 * 1024;
const FIRST_READ: usize = 4 * 1024;

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
    let mut reader = Reader { cache, scan: Scan::default(), head: vec![0; FIRST_READ] };
    walk(dir, apart, &mut |step| reader.take(step))?;
    let mut scan = reader.scan;
    let this = cache.scans;
    cache.known.retain(|_, known| known.seen == this);
    scan.memories.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.file.cmp(&b.file)));
    Ok(scan)
}

struct Reader<'a> {
    cache: &'a mut ScanCache,
    scan: Scan,
    /// Room for the first lines of a file, used again for the next.
    head: Vec<u8>,
}

impl Reader<'_> {
    fn take(&mut self, step: Step<'_>) {
        match step {
            Step::File(found) => self.file(&found),
            Step::Skipped(skipped) => self.scan.skipped.push(skipped),
        }
    }

    fn file(&mut self, found: &FoundFile<'_>) {
        if let Some(scanned) = self.unchanged(found) {
            self.scan.memories.push(scanned);
            return;
        }
        let path = found.path.clone();
        match read(found, &mut self.head) {
            Ok((modified, scanned)) => {
                let scanned = Arc::new(scanned);
                self.scan.memories.push(Arc::clone(&scanned));
                self.cache.known.insert(path, Known { modified, scanned, seen: self.cache.scans });
            }
            Err(reason) => self.scan.skipped.push(Skipped { path, reason }),
        }
    }

    /// The file as the last scan saw it, if it has not changed since.
    fn unchanged(&mut self, found: &FoundFile<'_>) -> Option<Arc<Scanned>> {
        let known = self.cache.known.get_mut(&found.path)?;
        let entry = found.entry().ok()?;
        let same = entry.modified == known.modified && entry.size == known.scanned.size;
        (same && entry.kind == EntryKind::File).then(|| {
            known.seen = self.cache.scans;
            Arc::clone(&known.scanned)
        })
    }
}

/// Opens a file once: its time and size are those of what is read.
fn read(found: &FoundFile<'_>, head: &mut Vec<u8>) -> Result<(SystemTime, Scanned), String> {
    let file = MemoryFile::existing(&found.path).map_err(|error| error.to_string())?;
    let opened = found.dir.open_file(&found.name).map_err(|error| error.to_string())?;
    let (size, time) = size_and_time(&opened).map_err(|error| error.to_string())?;
    let first = first_lines(opened, size, head).map_err(|error| error.to_string())?;
    if first.contains(&0) {
        return Err("it is binary".to_owned());
    }
    let header = header_of(first);
    // A time before the epoch or beyond what can be said counts as the epoch.
    let modified = Timestamp::try_from(time).unwrap_or_default();
    Ok((time, Scanned { file, modified, size, header }))
}

/// Whether a scan takes a file of these bytes for binary.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    head_of(bytes).contains(&0)
}

/// What a scan will see of a file of these bytes, which may be less than its frontmatter says.
pub(crate) fn scanned_header(bytes: &[u8]) -> Header {
    header_of(head_of(bytes))
}

fn header_of(head: &[u8]) -> Header {
    Header::from_fields(&frontmatter::parse_head(&as_text(head)))
}

fn head_of(bytes: &[u8]) -> &[u8] {
    let head = bytes.get(..HEADER_BYTES).unwrap_or(bytes);
    end_of_lines(head).and_then(|end| head.get(..end)).unwrap_or(head)
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

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
