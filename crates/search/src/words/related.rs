//! Groups of related words: a document says `repository`, the query `repo`.
//!
//! General vocabulary of software and daily life, not tuned to single queries. A related word has a lower weight than
//! the word itself, so a group that is too broad does little harm.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::Tokenizer;

/// One group per line; a word may be in several. A word of a script without spaces is one pair of characters.
const GROUPS: &str = include_str!("related_words.txt");

pub(super) static RELATED: LazyLock<HashMap<String, Vec<String>>> = LazyLock::new(|| {
    let words = Tokenizer::new();
    let mut related: HashMap<String, Vec<String>> = HashMap::new();
    for group in GROUPS.lines() {
        let stems: Vec<Cow<'_, str>> =
            group.split_whitespace().map(|word| words.stem(word)).collect();
        for stem in &stems {
            let others = related.entry(stem.clone().into_owned()).or_default();
            for other in stems.iter().filter(|other| *other != stem) {
                if !others.iter().any(|known| known == other) {
                    others.push(other.clone().into_owned());
                }
            }
        }
    }
    related
});

/// Stems of the words related to this stem.
pub fn related(stem: &str) -> &'static [String] {
    RELATED.get(stem).map(Vec::as_slice).unwrap_or_default()
}
