//! What is shown of a ranking without being asked for: one rule for sessions, MCP clients and hooks.

use dormouse_search::RecallTier;

use crate::excerpt::is_substantial;

use super::hit::{MemoryHit, MemoryRanking};

/// Maximum number of memories whose text is shown in a turn.
pub const MAX_SURE: usize = 5;
/// Maximum number of memories that are named in a turn.
pub const MAX_LIKELY: usize = 3;

/// The memories of a ranking that are shown without being asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RecallChoice {
    /// Shown whole, best first; at most [`MAX_SURE`] besides rules for the kind of task.
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
        let tiers = shown_tiers(&ranking.hits);
        for (hit, tier) in ranking.hits.into_iter().zip(tiers) {
            match tier {
                RecallTier::Sure => choice.sure.push(hit),
                RecallTier::Likely => choice.likely.push(hit),
                RecallTier::Unlikely => choice.passed_over.push(hit),
            }
        }
        choice
    }

    /// With rules for the kind of task, which come first.
    #[must_use]
    pub fn with_rules(mut self, rules: Vec<MemoryHit>) -> Self {
        let is_rule = |hit: &MemoryHit| {
            let is_same = |rule: &MemoryHit| {
                rule.store_index == hit.store_index && rule.memory.file == hit.memory.file
            };
            rules.iter().any(is_same)
        };
        for hits in [&mut self.sure, &mut self.likely, &mut self.passed_over] {
            hits.retain(|hit| !is_rule(hit));
        }
        self.sure = rules.into_iter().chain(self.sure).collect();
        self
    }
}

/// The tier at which each of these hits, best first, is shown: the numbers of both tiers are limited.
pub fn shown_tiers<'a>(hits: impl IntoIterator<Item = &'a MemoryHit>) -> Vec<RecallTier> {
    let mut likely = 0;
    let tier = |(place, hit): (usize, &MemoryHit)| {
        // Hits further down come from expansion terms, not from the message.
        let tier = if place < MAX_SURE { hit.tier } else { RecallTier::Unlikely };
        likely += usize::from(tier == RecallTier::Likely);
        let is_one_too_many = tier == RecallTier::Likely && likely > MAX_LIKELY;
        if is_one_too_many { RecallTier::Unlikely } else { tier }
    };
    hits.into_iter().enumerate().map(tier).collect()
}

/// How a memory would get into a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RecallAddition {
    /// Its text is added.
    Whole,
    /// A line that names it is added.
    Line,
    /// The small model may select it.
    IfSelected,
    /// A session does not read its directory.
    Never,
    /// A session does not search for this message: it is one word, or a bare reply.
    NotSearched,
}

/// How each of these hits, best first, would get into a conversation with this message. Of those that a session reads, only the
/// first few are added automatically.
pub fn recall_additions<'a>(
    message: &str,
    hits: impl IntoIterator<Item = &'a MemoryHit>,
    is_read: impl Fn(&MemoryHit) -> bool,
) -> Vec<RecallAddition> {
    let hits: Vec<&MemoryHit> = hits.into_iter().collect();
    let read = hits.iter().copied().filter(|hit| is_read(hit));
    let mut tiers = shown_tiers(read).into_iter();
    let is_searched_for = is_substantial(message);
    let addition = |hit: &&MemoryHit| {
        if !is_read(hit) {
            return RecallAddition::Never;
        }
        if !is_searched_for {
            return RecallAddition::NotSearched;
        }
        match tiers.next() {
            Some(RecallTier::Sure) => RecallAddition::Whole,
            Some(RecallTier::Likely) => RecallAddition::Line,
            Some(RecallTier::Unlikely) | None => RecallAddition::IfSelected,
        }
    };
    hits.iter().map(addition).collect()
}
