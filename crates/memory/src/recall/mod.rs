//! Finding memories: an index over each memory directory, and a ranking with reasons by `dormouse-search`.
//!
//! `index` keeps the index of a directory in sync with its files, `memory_search` queries several directories as
//! one, `confident` selects the hits that are recalled automatically, `vectors` makes missing vectors.

mod confident;
mod hit;
mod index;
mod memory_search;
mod vectors;

pub use confident::{ConfidentHits, MAX_CONFIDENT};
pub use hit::{
    MAX_CANDIDATES, MemoryHit, MemoryQuery, MemoryRanking, QuarantineFilter, RESCAN_INTERVAL,
};
pub use memory_search::MemorySearch;
