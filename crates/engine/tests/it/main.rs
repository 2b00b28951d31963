//! The engine against a model server on the loopback interface.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod loopback;
mod turns;
