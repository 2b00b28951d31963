//! A memory's file, read for the index.

use std::io::Read;

use dormouse_base::Dir;

use super::walk::Seen;
use crate::rank::segment::{About, Builder, Marks};
use crate::rank::text::MemoryText;
use crate::rank::words::Words;
use crate::{Entry, EntryProblem, LONGEST_MEMORY, MemoryFile};

/// Adds a file as it is now. One that can not be read, or is no text, is remembered without any words: so it
/// is not opened again until it changes.
pub(super) fn add(builder: &mut Builder, dir: &Dir, words: &Words, path: &str, seen: Seen) {
    let Ok(file) = MemoryFile::existing(path) else { return };
    let bytes = read(dir, &file).unwrap_or_default();
    let entry = Entry::read(&bytes, seen.size);
    let blank = bytes.is_empty() || entry.problems.contains(&EntryProblem::Binary);
    let text = if blank {
        MemoryText::default()
    } else {
        MemoryText::of(words, &entry.header, file.stem(), &entry.body)
    };
    let marks = Marks::default()
        .with(Marks::BLANK, blank)
        .with(Marks::QUARANTINED, entry.header.quarantined)
        .with(Marks::TELLS_WHEN, text.tells_when);
    let stated = entry.header.modified.map(jiff::Timestamp::as_second);
    let changed = stated.unwrap_or(seen.modified / 1_000_000_000);
    let about = About {
        modified: seen.modified,
        size: seen.size,
        changed: u32::try_from(changed.max(0)).unwrap_or(u32::MAX),
        length: text.length,
        marks,
    };
    builder.add(path, about, &text);
}

fn read(dir: &Dir, file: &MemoryFile) -> Option<Vec<u8>> {
    let opened = dir.open_file(file.path()).ok()?;
    let mut bytes = Vec::new();
    opened.take(LONGEST_MEMORY as u64).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
