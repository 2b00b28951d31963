//! Which runs of words of a text are covered by which source.

use std::collections::{BTreeMap, HashSet};

use dormouse_memory::Trust;

use crate::words::WordSequence;

/// A shared run of this many words is no coincidence.
pub(crate) const SHINGLE_WORDS: usize = 8;
/// A whole line of a page counts from this many words on.
const SHORT_LINE_WORDS: usize = 5;
/// Shorter texts occur everywhere.
const LEAST_WORDS: usize = 3;

/// Shingles by their length in words.
type ShinglesByLength = BTreeMap<usize, HashSet<String>>;

/// The shingles of a text for which no source was found yet.
pub(crate) struct UncoveredShingles {
    /// Of the whole text; a short text is one shingle.
    text: ShinglesByLength,
    /// Its short lines, which count only where they come from outside.
    short_lines: ShinglesByLength,
}

impl UncoveredShingles {
    pub(crate) fn of(text: &str) -> Self {
        let words = WordSequence::of(text);
        let length = SHINGLE_WORDS.min(words.count());
        let mut whole = ShinglesByLength::new();
        if length >= LEAST_WORDS {
            whole.insert(length, words.shingles(length).map(str::to_owned).collect());
        }
        let mut short_lines = ShinglesByLength::new();
        for line in text.lines().map(WordSequence::of) {
            let length = line.count();
            if (SHORT_LINE_WORDS..SHINGLE_WORDS).contains(&length) {
                let alike = short_lines.entry(length).or_default();
                alike.extend(line.shingles(length).map(str::to_owned));
            }
        }
        Self { text: whole, short_lines }
    }

    /// Removes the shingles that occur in a source. Returns whether the text repeats the source.
    pub(crate) fn cover(&mut self, source: &WordSequence, trust: Trust) -> bool {
        let repeats = remove(&mut self.text, source);
        // A line that the user typed is no line of a page.
        let lines =
            matches!(trust, Trust::Outside | Trust::Typed) && remove(&mut self.short_lines, source);
        repeats || (lines && trust == Trust::Outside)
    }
}

fn remove(uncovered: &mut ShinglesByLength, source: &WordSequence) -> bool {
    let mut found = false;
    for (length, shingles) in uncovered.iter_mut().filter(|(_, shingles)| !shingles.is_empty()) {
        for shingle in source.shingles(*length) {
            found |= shingles.remove(shingle);
        }
    }
    found
}
