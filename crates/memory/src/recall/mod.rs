//! Finding memories: an index over each memory directory, and a ranking with reasons by `dormouse-search`.
//!
//! `index` keeps the index of a directory in sync with its files, `memory_search` queries several directories as
//! one, `standing_rules` finds rules by the kind of task, `choice` selects what is shown without being asked for, `vectors` makes missing vectors.

mod choice;
mod hit;
mod index;
mod memory_search;
mod standing_rules;
mod vectors;

pub use choice::{
    MAX_LIKELY, MAX_SURE, RecallAddition, RecallChoice, recall_additions, shown_tiers,
};
pub use hit::{
    MAX_CANDIDATES, MemoryHit, MemoryQuery, MemoryRanking, QuarantineFilter, RESCAN_INTERVAL,
};
pub use memory_search::MemorySearch;
pub use standing_rules::{MAX_STANDING_RULES, MAX_USER_RULE_BYTES};
