//! Which memories match a query.

use std::collections::BTreeSet;
use std::path::Path;

use dormouse_memory::recall::{
    ConfidentHits, MAX_CONFIDENT, MemoryHit, MemoryQuery, QuarantineFilter, RESCAN_INTERVAL,
};
use dormouse_memory::{FoundMemory, Scope};

use super::client_memories::ClientMemories;
use super::error::MemoryRequestError;

/// A match; a higher score is better.
pub(crate) struct RankedForClient {
    pub(crate) found: FoundMemory,
    pub(crate) score: f64,
}

/// The best matches for a query, and the number of further ones.
pub(crate) fn search(
    memories: &ClientMemories,
    query: &str,
    scope: Option<Scope>,
    limit: usize,
) -> Result<(Vec<RankedForClient>, usize), MemoryRequestError> {
    refresh(memories)?;
    let reachable = memories.reachable();
    let ranking = reachable.search(query, scope, limit, memories.now())?;
    let ranked =
        |hit: &MemoryHit| Some(RankedForClient { found: reachable.found(hit)?, score: hit.score });
    Ok((ranking.hits.iter().filter_map(ranked).collect(), ranking.omitted))
}

/// The confident matches for a text, at most five, without the files in `seen`.
pub(crate) fn recalled(
    memories: &ClientMemories,
    text: &str,
    seen: &BTreeSet<String>,
) -> Result<Vec<FoundMemory>, MemoryRequestError> {
    refresh(memories)?;
    let reachable = memories.reachable();
    let exclude = reachable.excluded(&seen.iter().map(Path::new));
    let ranking = reachable.recall().query(&MemoryQuery {
        text,
        limit: MAX_CONFIDENT,
        store_index: None,
        exclude: &exclude,
        quarantined: QuarantineFilter::Exclude,
        now: memories.now(),
    })?;
    let confident = ConfidentHits::of(&ranking);
    Ok(confident.hits().iter().filter_map(|hit| reachable.found(hit)).collect())
}

/// Takes up recent changes by other programs. No turn waits here, so it need not be in the background.
fn refresh(memories: &ClientMemories) -> Result<(), MemoryRequestError> {
    let recall = memories.reachable().recall();
    if recall.age(memories.now())? >= RESCAN_INTERVAL {
        recall.rescan(memories.now())?;
    }
    Ok(())
}
