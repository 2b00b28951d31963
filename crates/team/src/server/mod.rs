//! The team server (T-10, T-17): HTTP over a [`TeamStore`](crate::TeamStore), in plain text or with TLS.
//!
//! Invariants: nothing is read without a limit on size and time; a change has the author of the token that it came with;
//! no token and no content is logged.

mod admin;
mod entries;
mod error;
mod events;
mod limiter;
mod listen;
mod metrics;
mod request;
mod routes;
#[cfg(test)]
mod server_tests;
mod snapshot_cache;
mod state;

pub use listen::{ServerError, TeamServer, TlsFiles};
pub use state::{LogSink, RequestLog, ServerOptions};
