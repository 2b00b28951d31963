//! Text as terms: the same rule for memories and for questions about them.
//!
//! Spaced scripts give stems of words; identifiers and compound names give the whole and its parts. Scripts
//! without spaces (Chinese, Japanese, Korean, Thai) give pairs of neighbouring characters; the last character
//! of a run is a term of its own, so that a single character is always the beginning of some term.

mod irregular;
mod related;
mod split;
mod stop;

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

pub(crate) use related::related;
pub(crate) use split::{Piece, is_unspaced, pieces};
pub(crate) use stop::{function_characters, is_stop, is_weak};

/// Makes terms. Cheap to make, cheaper to keep.
pub(crate) struct Words {
    stemmer: Stemmer,
}

impl Words {
    pub(crate) fn new() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English) }
    }

    /// The term of a folded word; none if it says nothing.
    pub(crate) fn term<'a>(&self, word: &'a str) -> Option<Cow<'a, str>> {
        (!is_stop(word)).then(|| self.stem(word))
    }

    /// The stem of a folded word, of its base form where the language is irregular.
    pub(crate) fn stem<'a>(&self, word: &'a str) -> Cow<'a, str> {
        if !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return Cow::Borrowed(word);
        }
        match irregular::base_form(word) {
            Some(base) => Cow::Owned(self.stemmer.stem(base).into_owned()),
            None => self.stemmer.stem(word),
        }
    }

    /// The terms of a memory's text, in order.
    pub(crate) fn terms_of_text(&self, text: &str, mut give: impl FnMut(&str)) {
        pieces(text, |piece| match piece {
            Piece::Word { text, .. } | Piece::Part { text } => {
                if let Some(term) = self.term(text) {
                    give(&term);
                }
            }
            Piece::Run { text } => {
                pairs(text, &mut give);
                if let Some((last, _)) = text.char_indices().next_back() {
                    give(text.get(last..).unwrap_or_default());
                }
            }
        });
    }
}

/// The pairs of neighbouring characters of a run; nothing for a single one.
pub(crate) fn pairs(run: &str, mut give: impl FnMut(&str)) {
    let starts = || run.char_indices().map(|(at, _)| at);
    let ends = starts().skip(2).chain([run.len()]);
    for (start, end) in starts().zip(ends) {
        if let Some(pair) = run.get(start..end).filter(|pair| pair.chars().nth(1).is_some()) {
            give(pair);
        }
    }
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
