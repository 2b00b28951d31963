//! The memory crate from outside, on real folders: what no crash, race or trick may do to a file, instruction
//! files, secret rules.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests"
)]

mod child;
mod corpus;
mod crash;
mod doctor;
mod door;
mod drafts;
mod effect;
mod escapes;
mod hostile_agent;
mod import;
mod in_place;
mod instructions;
mod processes;
mod recall;
mod secrets;
mod undo;
mod vectors;
mod world;
