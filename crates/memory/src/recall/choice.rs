//! What is shown of a ranking without being asked for: one rule for sessions, MCP clients and hooks.

use dormouse_search::RecallTier;

use super::hit::{MemoryHit, MemoryRanking};

/// Maximum number of memories whose text is shown in a turn.
pub const MAX_SURE: usize = 5;
/// Maximum number of memories that are named in a turn.
pub const MAX_LIKELY: usize = 3;

/// The memories of a ranking that are shown without being asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecallChoice {
    /// Shown whole, best first; at most [`MAX_SURE`].
    pub sure: Vec<MemoryHit>,
    /// Named in a line, best first; at most [`MAX_LIKELY`].
    pub likely: Vec<MemoryHit>,
    /// The others.
    pub passed_over: Vec<MemoryHit>,
}

impl RecallChoice {
    /// Chooses among the first [`MAX_SURE`] of a ranking.
    pub fn of(ranking: MemoryRanking) -> Self {
        let mut choice = Self::default();
        for (place, hit) in ranking.hits.into_iter().enumerate() {
            // Hits further down come from expansion terms, not from the message.
            let tier = if place < MAX_SURE { hit.tier } else { RecallTier::Unlikely };
            match tier {
                RecallTier::Sure => choice.sure.push(hit),
                RecallTier::Likely if choice.likely.len() < MAX_LIKELY => choice.likely.push(hit),
                RecallTier::Likely | RecallTier::Unlikely => choice.passed_over.push(hit),
            }
        }
        choice
    }
}
