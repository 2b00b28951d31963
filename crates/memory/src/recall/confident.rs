//! The hits that are recalled without being asked for.

use super::hit::{MemoryHit, MemoryRanking};

/// Maximum number of memories recalled automatically in a turn.
pub const MAX_CONFIDENT: usize = 5;

/// The confident hits of a ranking, best first, at most [`MAX_CONFIDENT`].
#[derive(Debug, Clone, PartialEq)]
pub struct ConfidentHits(Vec<MemoryHit>);

impl ConfidentHits {
    /// Selects the confident hits among the first [`MAX_CONFIDENT`] of a ranking.
    pub fn of(ranking: &MemoryRanking) -> Self {
        // Hits further down come from expansion terms, not from the query.
        let best = ranking.hits.iter().take(MAX_CONFIDENT);
        Self(best.filter(|hit| hit.is_confident).cloned().collect())
    }

    /// The memories, best first.
    pub fn hits(&self) -> &[MemoryHit] {
        &self.0
    }
}
