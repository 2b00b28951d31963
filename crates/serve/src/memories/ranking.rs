//! Which memories fit a query. The one place in this crate that knows how that is judged.

use dormouse_memory::recall::{
    ConfidentHits, MAX_CONFIDENT, MemoryHit, MemoryQuery, MemoryRanking, MemorySearch,
    QuarantineFilter, RESCAN_INTERVAL,
};
use std::collections::BTreeSet;

use dormouse_base::FileError;
use dormouse_memory::{MemoryFile, Scope};

use super::{ClientMemories, FoundForClient, MemoryRequestError};

/// A memory, and how well it fits; more is better.
pub(crate) struct RankedForClient<'a> {
    pub(crate) found: FoundForClient<'a>,
    pub(crate) score: f64,
}

/// The memories that fit a query best, and how many more have something of it.
pub(crate) fn ranked<'a>(
    memories: &'a ClientMemories,
    query: &str,
    scope: Option<Scope>,
    most: usize,
) -> Result<(Vec<RankedForClient<'a>>, usize), MemoryRequestError> {
    let shelf = scope.and_then(|scope| memories.position(scope));
    let ranking = asked(memories, query, shelf, &BTreeSet::new(), most, MemorySearch::search)?;
    let found = |hit: &MemoryHit| {
        let found = found(memories, hit)?;
        Some(RankedForClient { found, score: hit.score })
    };
    Ok((ranking.hits.iter().filter_map(found).collect(), ranking.omitted))
}

/// The memories that are sure to bear on a text, at most five; without those that were seen.
pub(crate) fn recalled<'a>(
    memories: &'a ClientMemories,
    text: &str,
    seen: &BTreeSet<String>,
) -> Result<Vec<FoundForClient<'a>>, MemoryRequestError> {
    let ranking =
        asked(memories, text, None, &excluded(memories, seen), MAX_CONFIDENT, MemorySearch::query)?;
    Ok(ConfidentHits::of(&ranking).hits().iter().filter_map(|hit| found(memories, hit)).collect())
}

fn asked(
    memories: &ClientMemories,
    text: &str,
    shelf: Option<usize>,
    exclude: &BTreeSet<(usize, MemoryFile)>,
    limit: usize,
    ask: fn(&MemorySearch, &MemoryQuery<'_>) -> Result<MemoryRanking, FileError>,
) -> Result<MemoryRanking, MemoryRequestError> {
    let (now, quarantined) = (memories.now(), QuarantineFilter::Exclude);
    let query = MemoryQuery { text, limit, store_index: shelf, exclude, quarantined, now };
    let age = memories.recall.age(now)?;
    if age >= RESCAN_INTERVAL {
        // Nobody's turn waits here: another program's memory of a moment ago is worth a second look.
        memories.recall.rescan(now)?;
    }
    Ok(ask(&memories.recall, &query)?)
}

fn found<'a>(memories: &'a ClientMemories, hit: &MemoryHit) -> Option<FoundForClient<'a>> {
    let shelf = memories.shelves.get(hit.store_index)?;
    Some(FoundForClient { shelf, memory: hit.memory.clone() })
}

fn excluded(memories: &ClientMemories, seen: &BTreeSet<String>) -> BTreeSet<(usize, MemoryFile)> {
    let mut excluded = BTreeSet::new();
    for (at, shelf) in memories.shelves.iter().enumerate() {
        let folder = shelf.store.dir().path();
        let inside =
            seen.iter().filter_map(|path| std::path::Path::new(path).strip_prefix(folder).ok());
        let files = inside.filter_map(|file| MemoryFile::existing(file.to_str()?).ok());
        excluded.extend(files.map(|file| (at, file)));
    }
    excluded
}
