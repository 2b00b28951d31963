//! Finding memories: an index over each memory directory, and a ranking with reasons by `dormouse-search`.
//!
//! `index` keeps the index of a directory in sync with its files, `memory_search` queries several directories as
//! one, `choice` selects what is shown without being asked for, `vectors` makes missing vectors.

mod choice;
mod hit;
mod index;
mod memory_search;
mod vectors;

pub use choice::{
    MAX_LIKELY, MAX_SURE, RecallAddition, RecallChoice, recall_additions, shown_tiers,
};
pub use hit::{
    MAX_CANDIDATES, MemoryHit, MemoryQuery, MemoryRanking, QuarantineFilter, RESCAN_INTERVAL,
};
pub use memory_search::MemorySearch;
