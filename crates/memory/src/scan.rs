//! All memories below a directory, newest first, from the first lines of each file (M-8).
//!
//! A file with unchanged time and size is not opened again. Files that cannot be read are listed as skipped; a scan
//! fails only if the directory cannot be listed.

use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::sync::Arc;
use std::time::SystemTime;

use dormouse_base::{Dir, EntryKind, FileError, RelPath};
use jiff::Timestamp;

use crate::entry::as_text;
use crate::names::fold;
use crate::walk::{FoundFile, NOT_PLAIN, Skipped, WalkItem, walk};
use dormouse_frontmatter as frontmatter;

use crate::entry::Header;
use crate::names::MemoryFile;

/// Number of lines that are read of each file.
pub const HEADER_LINES: usize = 30;
/// Maximum size of those lines.
const HEADER_BYTES: usize = 64 * 1024;
const FIRST_READ: usize = 4 * 1024;

/// A memory as found by a scan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scanned {
    /// File of the memory.
    pub file: MemoryFile,
    /// Modification time of the file.
    pub modified: Timestamp,
    /// Size in bytes.
    pub size: u64,
    /// Frontmatter, as far as it is in the first lines.
    pub header: Header,
}

impl Scanned {
    /// Name in the frontmatter, or the file name if it has none.
    pub fn name(&self) -> &str {
        self.header.name.as_deref().unwrap_or(self.file.stem())
    }
}

/// The result of a scan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scan {
    /// The memories, newest first.
    pub memories: Vec<Arc<Scanned>>,
    /// Files that were skipped.
    pub skipped: Vec<Skipped>,
}

impl Scan {
    /// The memory with this file name, or with this name if exactly one has it.
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

/// The result of the previous scan, kept by the caller: unchanged files are not read again.
#[derive(Debug, Default)]
pub struct ScanCache {
    /// By path. Iteration order must not influence results.
    known: HashMap<String, Known>,
    scans: u64,
}

#[derive(Debug)]
struct Known {
    modified: SystemTime,
    scanned: Arc<Scanned>,
    /// Number of the last scan that found it.
    seen: u64,
}

/// Scans a directory, except the top-level folders named in `excluded`.
pub fn scan(dir: &Dir, excluded: &[&str], cache: &mut ScanCache) -> Result<Scan, FileError> {
    cache.scans += 1;
    let mut reader = Reader { cache, scan: Scan::default(), head: vec![0; FIRST_READ] };
    walk(dir, excluded, &mut |item| reader.take(item))?;
    let mut scan = reader.scan;
    let this = cache.scans;
    cache.known.retain(|_, known| known.seen == this);
    scan.memories.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.file.cmp(&b.file)));
    Ok(scan)
}

/// The newest memories of a directory.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewestMemories {
    /// The newest ones, newest first.
    pub memories: Vec<Arc<Scanned>>,
    /// The number of files that may be memories, those included.
    pub files: usize,
}

/// The newest memories by the times of their files, which are looked at; only those that are returned are opened.
pub(crate) fn newest(
    dir: &Dir,
    excluded: &[&str],
    most: usize,
) -> Result<NewestMemories, FileError> {
    let mut files: Vec<(SystemTime, String)> = Vec::new();
    walk(dir, excluded, &mut |item| {
        if let WalkItem::File(found) = item
            && let Ok(entry) = found.entry()
        {
            files.push((entry.modified, found.path));
        }
    })?;
    files.sort_unstable_by(|(a, path_a), (b, path_b)| b.cmp(a).then_with(|| path_a.cmp(path_b)));
    let mut head = vec![0; FIRST_READ];
    let count = files.len();
    // A file that cannot be read is no memory; a scan says why.
    let readable = files.into_iter().filter_map(|(_, path)| {
        let name = RelPath::new(&*path).ok()?;
        let (_, scanned) = read(&FoundFile { dir, name, path }, &mut head).ok()?;
        Some(Arc::new(scanned))
    });
    Ok(NewestMemories { memories: readable.take(most).collect(), files: count })
}

struct Reader<'a> {
    cache: &'a mut ScanCache,
    scan: Scan,
    /// Buffer for the first lines of a file, reused for every file.
    head: Vec<u8>,
}

impl Reader<'_> {
    fn take(&mut self, item: WalkItem<'_>) {
        match item {
            WalkItem::File(found) => self.file(&found),
            WalkItem::Skipped(skipped) => self.scan.skipped.push(skipped),
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

    /// The result of the previous scan, if the file has not changed since.
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

/// Opens the file once, so that time and size belong to the content that was read.
fn read(found: &FoundFile<'_>, head: &mut Vec<u8>) -> Result<(SystemTime, Scanned), String> {
    let file = MemoryFile::existing(&found.path).map_err(|error| error.to_string())?;
    let opened = found.dir.open_file(&found.name).map_err(|error| error.to_string())?;
    let (size, time) = size_and_time(&opened).map_err(|error| error.to_string())?;
    let first = first_lines(opened, size, head).map_err(|error| error.to_string())?;
    if first.contains(&0) {
        return Err("it is binary".to_owned());
    }
    let header = header_of(first);
    // A time that cannot be represented counts as the epoch.
    let modified = Timestamp::try_from(time).unwrap_or_default();
    Ok((time, Scanned { file, modified, size, header }))
}

/// Whether a scan treats a file with this content as binary.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    head_of(bytes).contains(&0)
}

/// The header that a scan will read from this content; less than the whole frontmatter if that is long.
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

/// At most [`HEADER_LINES`] lines and [`HEADER_BYTES`] bytes.
fn first_lines(mut file: impl Read, size: u64, head: &mut Vec<u8>) -> std::io::Result<&[u8]> {
    // A previous file may have enlarged the buffer.
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
        // At the known end: another read would double the time of a scan.
        if count == 0 || length as u64 == size || length >= HEADER_BYTES {
            break;
        }
        if length == head.len() {
            head.resize(HEADER_BYTES, 0);
        }
    }
    Ok(head.get(..length).unwrap_or_default())
}

#[expect(clippy::naive_bytecount, reason = "fast enough for a few kilobytes")]
fn end_of_lines(bytes: &[u8]) -> Option<usize> {
    // Counting is much faster than searching, and most files have fewer lines.
    if bytes.iter().filter(|byte| **byte == b'\n').count() < HEADER_LINES {
        return None;
    }
    let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    newlines.map(|(at, _)| at + 1).nth(HEADER_LINES - 1)
}

#[cfg(test)]
#[path = "scan_tests.rs"]
mod tests;
