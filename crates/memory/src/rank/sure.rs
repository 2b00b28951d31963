//! When the ranking is sure enough to put a memory into a conversation unasked: sure or nothing.
//!
//! What counts is which share of the question a memory covers, by how rare its words are, and not the score,
//! which grows with the collection.

use super::recall::{Hit, Ranking};
use super::tuning::Tuning;

/// The most memories of a turn.
pub const MOST_SURE: usize = 5;
/// How many of its words, unless the question has only one. Related words count in part.
const WORDS: f64 = 1.9;

/// Whether a memory that covers this much of a question with this many words may be put in.
pub(super) fn is_sure(tuning: Tuning, coverage: f64, words: f64, asked: usize) -> bool {
    let needed = if asked < 2 { 1.0 } else { WORDS };
    coverage >= tuning.coverage && words >= needed
}

/// The memories that may be put into a conversation without asking: those the ranking is sure of, the best
/// first, at most [`MOST_SURE`].
#[derive(Debug, Clone, PartialEq)]
pub struct Sure(Vec<Hit>);

impl Sure {
    /// Takes them out of a ranking.
    pub fn of(ranking: &Ranking) -> Self {
        // What stands below the first few is there because others said so, not because it was asked for.
        let best = ranking.hits.iter().take(MOST_SURE);
        Self(best.filter(|hit| hit.sure).cloned().collect())
    }

    /// The memories.
    pub fn hits(&self) -> &[Hit] {
        &self.0
    }
}
