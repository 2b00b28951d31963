//! How one text relates to another.

use super::claims::Claims;
use super::cover;
use super::find_repeated;

/// How a text relates to a known one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextRelation {
    /// Everything that it says is said there.
    Repeats,
    /// One of its sentences says the opposite of one there: the same with a negation more or less.
    Contradicts,
}

impl TextRelation {
    /// How a proposed text relates to a known one; none if it says something else.
    pub fn of(proposed: &Claims, known: &Claims) -> Option<Self> {
        if find_repeated(proposed, [known]).is_some() {
            return Some(Self::Repeats);
        }
        let mut sentences = proposed.sentences.iter().filter(|sentence| sentence.has_content());
        sentences
            .any(|sentence| {
                cover::contradicts(known, sentence) && !cover::contains(known, sentence)
            })
            .then_some(Self::Contradicts)
    }
}
