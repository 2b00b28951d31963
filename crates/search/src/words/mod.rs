//! Splitting text into terms: the same rule for documents and for queries.
//!
//! Scripts with spaces give word stems; identifiers and compound names give the whole and its parts. Scripts without
//! spaces (Chinese, Japanese, Korean, Thai) give pairs of adjacent characters; the last character of a run is a term
//! of its own, so that every single character is the beginning of some term.

mod common;
mod form;
mod irregular;
mod lists;
mod rarity;
mod related;
mod reply;
mod split;
mod standing;
mod stem_cache;
mod stop;
mod wording;
mod work;

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

pub(crate) use common::{Commonness, pair_commonness, word_commonness};
pub(crate) use form::MessageForm;
pub use lists::start_reading_lists;
pub use rarity::share_letter;
pub(crate) use rarity::usual_share;
pub use related::related;
pub use reply::is_bare_reply;
use stem_cache::{KnownWord, StemCache};

pub use split::{TextPiece, is_unspaced, split_text};
pub(crate) use standing::{RuleAbout, kinds_of_rule, kinds_of_task, rule_term};
pub use stop::is_stop;
pub(crate) use stop::{function_characters, is_weak};
pub use wording::MessageWording;
pub(crate) use work::{kinds_of_work, work_term};

/// Turns words into terms by stemming. The stems of words seen before are known: one tokenizer should read many texts, on
/// one thread.
pub struct Tokenizer {
    stemmer: Stemmer,
    known: StemCache,
}

impl Default for Tokenizer {
    fn default() -> Self {
        Self::new()
    }
}

impl Tokenizer {
    /// A tokenizer for English stems; other languages keep their words whole.
    pub fn new() -> Self {
        Self { stemmer: Stemmer::create(Algorithm::English), known: StemCache::default() }
    }

    /// The term of a folded word; `None` for a stop word.
    pub fn term<'a>(&self, word: &'a str) -> Option<Cow<'a, str>> {
        if !has_stem(word) {
            return Some(Cow::Borrowed(word));
        }
        let term = |known: &KnownWord| (!known.is_stop).then(|| known.stem_of(word));
        self.known.read(word, || self.look_at(word), term)
    }

    /// The stem of a folded word, or of its base form if the word is irregular.
    pub fn stem<'a>(&self, word: &'a str) -> Cow<'a, str> {
        if !has_stem(word) {
            return Cow::Borrowed(word);
        }
        self.known.read(word, || self.look_at(word), |known| known.stem_of(word))
    }

    fn look_at(&self, word: &str) -> KnownWord {
        let stem = self.stemmer.stem(irregular::base_form(word).unwrap_or(word));
        let stem = (stem != word).then(|| stem.as_ref().into());
        KnownWord { is_stop: is_stop(word), stem }
    }

    /// Calls `give` with every term of a text, in order.
    pub fn each_term(&self, text: &str, mut give: impl FnMut(&str)) {
        split_text(text, |piece| match piece {
            TextPiece::Word { text, .. } | TextPiece::Part { text } => {
                if let Some(term) = self.term(text) {
                    give(&term);
                }
            }
            TextPiece::Run { text } => {
                character_pairs(text, &mut give);
                if let Some((last, _)) = text.char_indices().next_back() {
                    give(text.get(last..).unwrap_or_default());
                }
            }
        });
    }
}

/// Words of English letters have stems; all stop words are such.
fn has_stem(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_lowercase())
}

/// Calls `give` with every pair of adjacent characters of a run; not at all for a single character.
pub fn character_pairs(run: &str, mut give: impl FnMut(&str)) {
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
