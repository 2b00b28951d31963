//! What a step of recall has found.

use std::time::Duration;

use dormouse_conversation::RecallRanking;
use dormouse_memory::{FoundMemory, RecalledMemoryText, UnaskedMemory};

use super::receipt::SkippedMemory;
use crate::spending::SpentDollars;

/// A memory that is ready to be shown.
#[derive(Debug)]
pub(super) struct LoadedMemory {
    pub(super) found: FoundMemory,
    pub(super) shown: RecalledMemoryText,
    pub(super) why: String,
    /// How the local ranking judged it; none where the small model chose.
    pub(super) ranking: Option<RecallRanking>,
}

/// The result of a step.
#[derive(Debug, Default)]
pub(super) struct RecallResult {
    pub(super) memories: Vec<LoadedMemory>,
    /// Memories that are only named.
    pub(super) likely: Vec<UnaskedMemory>,
    pub(super) skipped: Vec<SkippedMemory>,
    pub(super) considered: usize,
    pub(super) note: Option<String>,
    pub(super) took: Duration,
    pub(super) spent: SpentDollars,
    /// The search did not end before the request had to go.
    pub(super) is_late: bool,
    /// The index is due to be refreshed.
    pub(super) is_old: bool,
}

impl RecallResult {
    pub(super) fn empty(why: impl Into<String>) -> Self {
        Self { note: Some(why.into()), ..Self::default() }
    }
}
