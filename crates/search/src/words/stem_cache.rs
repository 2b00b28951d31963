//! What is known of words seen before: stemming a word takes much longer than looking it up, and few words make up most of
//! a text.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// With more words the cache is emptied.
const MOST: usize = 32 * 1024;

/// A word as the tokenizer sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct KnownWord {
    pub(super) is_stop: bool,
    /// `None` if the word is its own stem.
    pub(super) stem: Option<Box<str>>,
}

impl KnownWord {
    /// The stem of the word that this was made for.
    pub(super) fn stem_of<'a>(&self, word: &'a str) -> Cow<'a, str> {
        match &self.stem {
            Some(stem) => Cow::Owned(stem.to_string()),
            None => Cow::Borrowed(word),
        }
    }
}

/// Words seen before.
#[derive(Debug, Default)]
pub(super) struct StemCache(Mutex<HashMap<Box<str>, KnownWord>>);

impl StemCache {
    /// Reads what is known of a word; `make` says it if nothing is.
    pub(super) fn read<T>(
        &self,
        word: &str,
        make: impl FnOnce() -> KnownWord,
        read: impl FnOnce(&KnownWord) -> T,
    ) -> T {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = known.get(word) {
            return read(found);
        }
        let made = make();
        let answer = read(&made);
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(word.into(), made);
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_stemmed_once_and_again_when_the_cache_was_full() {
        let cache = StemCache::default();
        let known = KnownWord { is_stop: false, stem: Some("test".into()) };
        let stem = |made: &dyn Fn() -> KnownWord| {
            cache.read("tests", made, |known| known.stem_of("tests").into_owned())
        };
        assert_eq!(stem(&|| known.clone()), "test");
        assert_eq!(stem(&|| unreachable!()), "test");
        for number in 0..2 * MOST {
            let own = || KnownWord { is_stop: false, stem: None };
            let word = number.to_string();
            assert_eq!(cache.read(&word, own, |known| known.stem_of(&word).into_owned()), word);
        }
        assert_eq!(stem(&|| known.clone()), "test");
    }
}
