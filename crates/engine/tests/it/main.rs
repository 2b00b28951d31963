//! The engine against a model server on the loopback interface.
#![expect(clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

mod loopback;
mod turns;
