//! A file of the project as anchors see it: its content, the hash of that, and the symbols in it.

use std::io::Read;

use dormouse_base::{Dir, RelPath};

/// Content beyond this size is neither hashed nor searched.
const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Digits of a content hash.
pub(super) const HASH_LENGTH: usize = 16;

pub(super) fn hash_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().chars().take(HASH_LENGTH).collect()
}

/// The content of a file, up to the limit. `None` for what cannot be read or is no plain file: an anchor cannot be
/// checked against it, so it counts as gone.
pub(super) fn read(project: &Dir, path: &RelPath) -> Option<Vec<u8>> {
    let file = project.open_file(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Whether a symbol occurs in a text as a whole word.
pub(super) fn has_symbol(text: &str, symbol: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(symbol).any(|(at, _)| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let after = text.get(at + symbol.len()..).and_then(|tail| tail.chars().next());
        !before.is_some_and(part_of_word) && !after.is_some_and(part_of_word)
    })
}
