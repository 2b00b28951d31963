//! The memory store as its users see it: files in a directory, and what no crash, race or trick may do to
//! them.

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
mod escapes;
mod import;
mod in_place;
mod processes;
mod undo;
mod world;
