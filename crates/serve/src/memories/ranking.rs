//! Which memories fit a query. The one place in this crate that knows how that is judged.

use std::cmp::Reverse;

use dormouse_memory::{Quarantined, Scope};

use super::{AskError, Found, Memories};

/// What a memory must count to be recalled unasked: one word of the query in its name, or two in its
/// description. Less than that is chance.
const SURE: u32 = 4;
/// Shorter words are mostly those that stand in every sentence; scripts without spaces have short ones that
/// mean something.
const SHORTEST_WORD: usize = 4;

/// A memory, and how well it fits; more is better.
pub(crate) struct Ranked<'a> {
    pub(crate) found: Found<'a>,
    pub(crate) score: u32,
}

/// The memories with words of a query, best first.
pub(crate) fn ranked<'a>(
    memories: &'a Memories,
    query: &str,
    scope: Option<Scope>,
) -> Result<Vec<Ranked<'a>>, AskError> {
    let mut hits = Vec::new();
    for shelf in memories.shelves(scope) {
        let scan = shelf.scan()?;
        for hit in shelf.store.search(&scan.memories, query, Quarantined::LeaveOut)? {
            let found = Found { shelf, memory: hit.memory };
            hits.push(Ranked { found, score: hit.score });
        }
    }
    hits.sort_by_key(|hit| Reverse(hit.score));
    Ok(hits)
}

/// The memories that are sure to bear on a text, at most so many.
pub(crate) fn recalled<'a>(
    memories: &'a Memories,
    text: &str,
    most: usize,
) -> Result<Vec<Found<'a>>, AskError> {
    let words: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| word.chars().count() >= SHORTEST_WORD || !word.is_ascii())
        .filter(|word| !word.is_empty())
        .collect();
    if words.is_empty() {
        return Ok(Vec::new());
    }
    let hits = ranked(memories, &words.join(" "), None)?;
    let sure = hits.into_iter().filter(|hit| hit.score >= SURE);
    Ok(sure.take(most).map(|hit| hit.found).collect())
}
