//! The memory crate on real folders: crashes, races and hostile input must not damage a file.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod change;
mod child;
mod corpus;
mod crash;
mod doctor;
mod drafts;
mod escapes;
mod hostile_agent;
mod import;
mod in_place;
mod long_messages;
mod memory_usage;
mod processes;
mod recall;
mod undo;
mod vectors;
mod world;
