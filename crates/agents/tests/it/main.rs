//! Subagents against a model server on the loopback interface.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "tests"
)]

#[path = "../../../engine/tests/it/loopback.rs"]
mod loopback;
mod subagents;
