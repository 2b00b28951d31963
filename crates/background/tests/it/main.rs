//! Background tasks against a model server on the loopback interface.
#![expect(clippy::unwrap_used, reason = "tests")]

#[path = "../../../engine/tests/it/loopback.rs"]
mod loopback;
mod session_notes;
