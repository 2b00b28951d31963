//! Subagents against a model server on the loopback interface.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

#[path = "../../../engine/tests/it/loopback.rs"]
mod loopback;
mod subagents;
