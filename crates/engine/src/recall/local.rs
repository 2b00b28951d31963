//! The local ranking as recall uses it: no model, no network.

use std::collections::BTreeSet;
use std::path::PathBuf;

use dormouse_base::FileError;
use dormouse_memory::recall::{
    ConfidentHits, MAX_CANDIDATES, MemoryHit, MemoryQuery, MemoryRanking, QuarantineFilter,
    RESCAN_INTERVAL,
};
use dormouse_memory::{FoundMemory, MemoryFile, ReachableMemories};
use dormouse_search::MatchKind;
use jiff::Timestamp;

/// Words that a reason names at most.
const NAMED_WORDS: usize = 6;

/// A memory that matches a query.
pub(super) struct LocalHit {
    pub(super) found: FoundMemory,
    /// Whether it matches well enough to be shown without the selector.
    pub(super) sure: bool,
    pub(super) why: String,
}

/// The result of the ranking.
pub(super) struct LocalRanking {
    /// Best first.
    pub(super) ranked: Vec<LocalHit>,
    /// How many memories were searched.
    pub(super) considered: usize,
    /// Whether the index is due to be refreshed.
    pub(super) is_old: bool,
}

/// The best matches for a query, without memories that the conversation has seen.
pub(super) fn rank(
    memories: &ReachableMemories,
    query: &str,
    seen: &[PathBuf],
    limit: usize,
    now: Timestamp,
) -> Result<LocalRanking, FileError> {
    let exclude = memories.excluded(&seen.iter().map(PathBuf::as_path));
    let ranking = memories.recall().query(&model_query(query, &exclude, limit, now))?;
    let sure = ConfidentHits::of(&ranking);
    let MemoryRanking { hits, searched, age, .. } = &ranking;
    let is_sure = |hit: &MemoryHit| sure.hits().iter().any(|known| known == hit);
    let ranked = hits.iter().filter_map(|hit| {
        Some(LocalHit { found: memories.found(hit)?, sure: is_sure(hit), why: why(hit) })
    });
    Ok(LocalRanking {
        ranked: ranked.collect(),
        considered: usize::try_from(*searched).unwrap_or(0),
        is_old: *age >= RESCAN_INTERVAL,
    })
}

/// The memories that the selector chooses from: all that were not seen, or the best matches among them.
pub(super) fn candidates(
    memories: &ReachableMemories,
    query: &str,
    seen: &[PathBuf],
    now: Timestamp,
) -> Result<Vec<FoundMemory>, FileError> {
    let exclude = memories.excluded(&seen.iter().map(PathBuf::as_path));
    let hits = memories.recall().candidates(&model_query(query, &exclude, MAX_CANDIDATES, now))?;
    Ok(hits.iter().filter_map(|hit| memories.found(hit)).collect())
}

/// A query for the model: quarantined memories are left out.
fn model_query<'a>(
    text: &'a str,
    exclude: &'a BTreeSet<(usize, MemoryFile)>,
    limit: usize,
    now: Timestamp,
) -> MemoryQuery<'a> {
    MemoryQuery {
        text,
        limit,
        store_index: None,
        exclude,
        quarantined: QuarantineFilter::Exclude,
        now,
    }
}

/// The matching words, and the share of the query that they cover.
fn why(hit: &MemoryHit) -> String {
    let matched = hit.matches.iter().filter(|why| why.kind != MatchKind::Company);
    let words: Vec<&str> = matched.map(|why| why.word.as_str()).take(NAMED_WORDS).collect();
    if let Some(near) = hit.fused_rank.filter(|_| words.is_empty()) {
        return format!("no word in common, but similar to the message ({:.2})", near.similarity);
    }
    let share = (hit.coverage * 100.0).round();
    format!("{} (score {:.1}, {share:.0} % of the message)", words.join(", "), hit.score)
}
