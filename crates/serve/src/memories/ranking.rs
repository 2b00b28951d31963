//! Which memories match a query.

use std::collections::BTreeSet;
use std::path::Path;

use dormouse_memory::recall::{MemoryHit, RESCAN_INTERVAL};
use dormouse_memory::{FoundMemory, RecallMessage, Scope, UnaskedMemories};

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

/// The memories that a message brings unasked, without the files in `seen`.
pub(crate) fn unasked(
    memories: &ClientMemories,
    text: &str,
    seen: &BTreeSet<String>,
) -> Result<UnaskedMemories, MemoryRequestError> {
    refresh(memories)?;
    let seen = seen.iter().map(Path::new);
    let reachable = memories.reachable();
    // No turn waits here, so that a server may be asked.
    let vector = reachable.recall().remote_vector(text);
    let message = RecallMessage { text: text.to_owned(), files: Vec::new() };
    Ok(reachable.unasked(&message, &seen, 0, vector.as_deref(), memories.now())?)
}

/// Takes up recent changes by other programs. No turn waits here, so it need not be in the background.
fn refresh(memories: &ClientMemories) -> Result<(), MemoryRequestError> {
    let recall = memories.reachable().recall();
    if recall.age(memories.now())? >= RESCAN_INTERVAL {
        recall.rescan(memories.now())?;
    }
    Ok(())
}
