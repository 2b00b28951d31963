//! How long a haul is, and which rows it has.

use std::path::PathBuf;

use super::rows::{HaulRow, Pace, ROWS};

/// How long the session is, and in what.
#[derive(Debug, Clone)]
pub(crate) struct Length {
    /// As shipped, and with everything off.
    pub(crate) turns: usize,
    /// In the other rows; where that differs, as shipped too.
    pub(crate) other_turns: usize,
    pub(crate) window: u32,
    /// A model that the table of prices knows.
    pub(crate) model: String,
    /// A build with the feature `movable-clock`, for the rows with pauses; without one they are left out.
    pub(crate) clock_binary: Option<PathBuf>,
    /// Only rows whose names hold one of these; all, where there is none.
    pub(crate) only: Vec<String>,
    /// So many rows are run side by side.
    pub(crate) at_once: usize,
    /// Turns from one dream to the next.
    pub(crate) dream_every: usize,
    /// Whether the server has a cache.
    pub(crate) has_cache: bool,
}

impl Length {
    /// The rows that are run, each with its turns; the longest first.
    pub(super) fn rows(&self) -> Vec<(&'static HaulRow, usize)> {
        let only = |row: &&HaulRow| {
            self.only.is_empty() || self.only.iter().any(|part| row.name.contains(part.as_str()))
        };
        let can = |row: &&HaulRow| row.pace == Pace::Steady || self.clock_binary.is_some();
        let rows: Vec<&HaulRow> = ROWS.iter().filter(only).filter(can).collect();
        let with = |turns| move |row: &&'static HaulRow| (*row, turns);
        let mut whole: Vec<_> =
            rows.iter().filter(|row| row.is_whole()).map(with(self.turns)).collect();
        let again = rows.iter().filter(|row| row.is_as_shipped() && self.turns != self.other_turns);
        whole.extend(again.map(with(self.other_turns)));
        whole.extend(rows.iter().filter(|row| !row.is_whole()).map(with(self.other_turns)));
        whole
    }
}
