//! Reads a memory file for the index.

use std::io::Read;

use dormouse_base::Dir;
use dormouse_search::{DocumentFlags, DocumentInfo, DocumentTerms, FileStamp, Tokenizer};

use super::document_fields::document_fields;
use crate::entry::{EntryProblem, LONGEST_MEMORY, MemoryEntry};
use crate::names::MemoryFile;

/// A memory file as the index has it.
pub(super) struct IndexDocument {
    pub(super) info: DocumentInfo,
    pub(super) text: DocumentTerms,
}

/// A file as it is now; `None` if it is no memory. One that cannot be read or is not text is without words, so that it is
/// not opened again until it changes.
pub(super) fn read(
    dir: &Dir,
    tokenizer: &Tokenizer,
    path: &str,
    stamp: FileStamp,
) -> Option<IndexDocument> {
    let file = MemoryFile::existing(path).ok()?;
    let bytes = read_bytes(dir, &file, stamp.size).unwrap_or_default();
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
    Some(IndexDocument { info, text })
}

fn read_bytes(dir: &Dir, file: &MemoryFile, size: u64) -> Option<Vec<u8>> {
    let opened = dir.open_file(file.path()).ok()?;
    // One byte more than the size, so that one call reads up to the end.
    let expected = usize::try_from(size).unwrap_or(LONGEST_MEMORY).min(LONGEST_MEMORY);
    let mut bytes = Vec::with_capacity(expected + 1);
    opened.take(LONGEST_MEMORY as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
