//! The local ranking, as recall uses it: no model, no network.

use dormouse_memory::recall::{
    ConfidentHits, MAX_CANDIDATES, MemoryHit, MemoryQuery, MemoryRanking, QuarantineFilter,
    RESCAN_INTERVAL,
};
use dormouse_search::MatchKind;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_base::FileError;
use dormouse_memory::MemoryFile;

use crate::memory::{FoundMemory, SessionMemory};

/// A reason names so many words.
const NAMED_WORDS: usize = 6;

/// A memory, and how well it fits.
pub(super) struct LocalHit {
    pub(super) found: FoundMemory,
    /// Whether it fits so well that it is shown without anybody's second opinion.
    pub(super) sure: bool,
    pub(super) why: String,
}

/// What the ranking says.
pub(super) struct LocalRanking {
    /// The best first.
    pub(super) ranked: Vec<LocalHit>,
    /// How many memories there are to choose from.
    pub(super) considered: usize,
    /// Whether it is time to look for what others have changed.
    pub(super) is_old: bool,
}

/// The memories that fit a query best, but for those that were seen.
pub(super) fn rank(
    access: &SessionMemory,
    query: &str,
    seen: &[PathBuf],
    most: usize,
) -> Result<LocalRanking, FileError> {
    let exclude = excluded(access, seen);
    let ranking = access.recall().query(&asked(access, query, &exclude, most))?;
    let sure = ConfidentHits::of(&ranking);
    let MemoryRanking { hits, searched, age, .. } = ranking;
    let is_sure = |hit: &MemoryHit| sure.hits().iter().any(|known| known == hit);
    let ranked = hits.into_iter().filter_map(|hit| {
        let (sure, why) = (is_sure(&hit), why(&hit));
        Some(LocalHit { found: found(access, hit)?, sure, why })
    });
    Ok(LocalRanking {
        ranked: ranked.collect(),
        considered: usize::try_from(searched).unwrap_or(0),
        is_old: age >= RESCAN_INTERVAL,
    })
}

/// The memories that a selector chooses from: all that were not seen, or the most promising of them.
pub(super) fn candidates(
    access: &SessionMemory,
    query: &str,
    seen: &[PathBuf],
) -> Result<Vec<FoundMemory>, FileError> {
    let exclude = excluded(access, seen);
    let hits = access.recall().candidates(&asked(access, query, &exclude, MAX_CANDIDATES))?;
    Ok(hits.into_iter().filter_map(|hit| found(access, hit)).collect())
}

fn asked<'a>(
    access: &SessionMemory,
    text: &'a str,
    exclude: &'a BTreeSet<(usize, MemoryFile)>,
    limit: usize,
) -> MemoryQuery<'a> {
    let quarantined = QuarantineFilter::Exclude;
    MemoryQuery { text, limit, store_index: None, exclude, quarantined, now: access.clock().now() }
}

fn excluded(access: &SessionMemory, seen: &[PathBuf]) -> BTreeSet<(usize, MemoryFile)> {
    let mut excluded = BTreeSet::new();
    for (shelf, store) in access.stores().iter().enumerate() {
        let inside = seen.iter().filter_map(|path| path.strip_prefix(store.dir().path()).ok());
        let files = inside.filter_map(|file| MemoryFile::existing(file.to_str()?).ok());
        excluded.extend(files.map(|file| (shelf, file)));
    }
    excluded
}

fn found(access: &SessionMemory, hit: MemoryHit) -> Option<FoundMemory> {
    let store = Arc::clone(access.stores().get(hit.store_index)?);
    Some(FoundMemory { store, memory: hit.memory })
}

/// The words that brought a memory up, and how much of the query it covers.
fn why(hit: &MemoryHit) -> String {
    let asked = hit.matches.iter().filter(|why| why.kind != MatchKind::Company);
    let words: Vec<&str> = asked.map(|why| why.word.as_str()).take(NAMED_WORDS).collect();
    if let Some(near) = hit.fused_rank.filter(|_| words.is_empty()) {
        return format!("none of the words, but near the message ({:.2})", near.similarity);
    }
    let share = (hit.coverage * 100.0).round();
    format!("{} (score {:.1}, {share:.0} % of the message)", words.join(", "), hit.score)
}
