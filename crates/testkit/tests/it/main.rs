//! The harness tried on itself: the scripted server over real sockets, and the hermetic home.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "tests"
)]

mod caching;
mod client;
mod faults;
mod framings;
mod homes;
mod strictness;
mod structure;
mod terminals;
