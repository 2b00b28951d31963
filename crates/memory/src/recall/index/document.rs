//! Reads a memory file for the index.

use std::io::Read;

use dormouse_base::Dir;
use dormouse_search::{
    DocumentFlags, DocumentInfo, DocumentTerms, FileStamp, SegmentBuilder, Tokenizer,
};

use super::document_fields::document_fields;
use crate::entry::{EntryProblem, LONGEST_MEMORY, MemoryEntry};
use crate::names::MemoryFile;

/// Adds a file as it is now. A file that cannot be read or is not text is added without words, so that it is not opened
/// again until it changes.
pub(super) fn add(
    builder: &mut SegmentBuilder,
    dir: &Dir,
    tokenizer: &Tokenizer,
    path: &str,
    stamp: FileStamp,
) {
    let Ok(file) = MemoryFile::existing(path) else { return };
    let bytes = read(dir, &file).unwrap_or_default();
    let entry = MemoryEntry::read(&bytes, stamp.size);
    let blank = bytes.is_empty() || entry.problems.contains(&EntryProblem::Binary);
    let text = if blank {
        DocumentTerms::default()
    } else {
        DocumentTerms::of(tokenizer, document_fields(&entry.header, file.stem(), &entry.body))
    };
    let flags = DocumentFlags::default()
        .with(DocumentFlags::BLANK, blank)
        .with(DocumentFlags::QUARANTINED, entry.header.quarantined)
        .with(DocumentFlags::TELLS_WHEN, text.tells_when);
    let stated = entry.header.modified.map(jiff::Timestamp::as_second);
    let changed = stated.unwrap_or(stamp.modified / 1_000_000_000);
    let info = DocumentInfo {
        modified: stamp.modified,
        size: stamp.size,
        changed: u32::try_from(changed.max(0)).unwrap_or(u32::MAX),
        length: text.length,
        flags,
    };
    builder.add(path, info, &text);
}

fn read(dir: &Dir, file: &MemoryFile) -> Option<Vec<u8>> {
    let opened = dir.open_file(file.path()).ok()?;
    let mut bytes = Vec::new();
    opened.take(LONGEST_MEMORY as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
