//! How much a word says: words that every request has, words that every project has, and the others.
//!
//! A memory that shares only common words with a message is rarely about it. The rarity of a word among a few dozen
//! memories cannot tell: `version` may be in one of them only.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::{Tokenizer, character_pairs};

/// How much a word says about the subject of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Commonness {
    /// A word of asking: `please`, `change`, `want`.
    Request,
    /// A word that requests in any project have: `file`, `button`, `version`.
    Common,
    /// Any other word.
    Specific,
}

pub(super) static REQUEST: LazyLock<HashSet<String>> =
    LazyLock::new(|| stems(include_str!("request_words.txt")));
pub(super) static COMMON: LazyLock<HashSet<String>> =
    LazyLock::new(|| stems(include_str!("common_words.txt")));
static COMMON_PAIRS: LazyLock<HashSet<String>> = LazyLock::new(|| {
    let mut pairs = HashSet::new();
    for word in include_str!("common_words_zh.txt").split_whitespace() {
        character_pairs(word, |pair| {
            pairs.insert(pair.to_owned());
        });
    }
    pairs
});

fn stems(list: &str) -> HashSet<String> {
    let words = Tokenizer::new();
    list.split_whitespace().map(|word| words.stem(word).into_owned()).collect()
}

/// How much a term of a script with spaces says.
pub(crate) fn word_commonness(term: &str) -> Commonness {
    // A number of one or two digits may count anything.
    let is_small_number = term.len() < 3 && term.bytes().all(|byte| byte.is_ascii_digit());
    if REQUEST.contains(term) {
        Commonness::Request
    } else if is_small_number || COMMON.contains(term) {
        Commonness::Common
    } else {
        Commonness::Specific
    }
}

/// How much a pair of characters says.
pub(crate) fn pair_commonness(pair: &str) -> Commonness {
    if COMMON_PAIRS.contains(pair) { Commonness::Common } else { Commonness::Specific }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inflected_words_are_found_by_their_stem() {
        let stem = |word: &str| Tokenizer::new().stem(word).into_owned();
        assert_eq!(word_commonness(&stem("changing")), Commonness::Request);
        assert_eq!(word_commonness(&stem("functions")), Commonness::Common);
        assert_eq!(word_commonness(&stem("12")), Commonness::Common);
        assert_eq!(word_commonness(&stem("capistrano")), Commonness::Specific);
        assert_eq!(pair_commonness("怎么"), Commonness::Common);
        assert_eq!(pair_commonness("锁账"), Commonness::Specific);
    }
}
