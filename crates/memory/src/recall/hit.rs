//! A query to the memories and its result.

use std::collections::BTreeSet;
use std::sync::Arc;

use dormouse_search::{Calibration, Evidence, FusedRank, RecallTier, TermMatch, VectorUse};
use jiff::{SignedDuration, Timestamp};

use crate::anchor::Freshness;
use crate::names::MemoryFile;
use crate::scan::Scanned;

/// How often changes by other programs are looked for, at most.
pub const RESCAN_INTERVAL: SignedDuration = SignedDuration::from_secs(2);
/// Number of memories offered to the selector.
pub const MAX_CANDIDATES: usize = 200;

/// Whether quarantined memories are searched: for the user they may be, for a model never (M-17).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuarantineFilter {
    /// Only memories that are not quarantined.
    Exclude,
    /// All memories.
    Include,
}

/// A query to the memories.
#[derive(Debug, Clone)]
pub struct MemoryQuery<'a> {
    /// The user's words.
    pub text: &'a str,
    /// Files that the conversation has open, relative to the project: memories about them are likely to help.
    pub files: &'a [String],
    /// Maximum number of hits.
    pub limit: usize,
    /// Search only this store, by index in the list of stores; `None` searches all.
    pub store_index: Option<usize>,
    /// Memories to leave out: index of the store, and file.
    pub exclude: &'a BTreeSet<(usize, MemoryFile)>,
    /// Whether quarantined memories are searched; never for a model.
    pub quarantined: QuarantineFilter,
    /// Current time.
    pub now: Timestamp,
}

impl<'a> MemoryQuery<'a> {
    /// Searches all stores for these words, without open files; quarantined memories are not found.
    pub fn new(text: &'a str, limit: usize, now: Timestamp) -> Self {
        static NOTHING: BTreeSet<(usize, MemoryFile)> = BTreeSet::new();
        Self {
            text,
            files: &[],
            limit,
            store_index: None,
            exclude: &NOTHING,
            quarantined: QuarantineFilter::Exclude,
            now,
        }
    }
}

/// A memory that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryHit {
    /// Index of its store in the list of stores.
    pub store_index: usize,
    /// The memory as its file is now.
    pub memory: Arc<Scanned>,
    /// Comparable within one ranking only.
    pub score: f64,
    /// The probability that it helps with the message, 0 to 1.
    pub confidence: f64,
    /// Whether it may be shown without being asked for.
    pub tier: RecallTier,
    /// What speaks for it.
    pub evidence: Evidence,
    /// How the evidence was weighed.
    pub calibration: Calibration,
    /// State of the files it is about, if they changed; `None` if fresh or not checked.
    pub stale: Option<Freshness>,
    /// Ranks by words and by vectors; `None` if no vectors were used.
    pub fused_rank: Option<FusedRank>,
    /// Matching terms, highest gain first.
    pub matches: Vec<TermMatch>,
}

/// The result of a query.
#[derive(Debug, Clone, PartialEq)]
pub struct MemoryRanking {
    /// Best first.
    pub hits: Vec<MemoryHit>,
    /// Number of further memories with a match.
    pub omitted: usize,
    /// Number of memories searched.
    pub searched: u32,
    /// Time since changes by other programs were last looked for.
    pub age: SignedDuration,
    /// Whether vectors were used.
    pub vectors: VectorUse,
}
