//! The MCP server, for both versions of the protocol. Only this module and those below it use the MCP library.
//!
//! Invariants: standard output carries only the protocol; memory is opened with the first request that needs it, so that
//! the first response does not wait for it.

mod connection;
mod error;
mod http;
mod resources;
mod server;
mod snapshot;
mod source;
mod stdio;
mod surrogates;
mod token;
mod tools;
mod uri;
mod watch;

pub use error::ServeError;
pub use http::HttpListener;
pub use server::MemoryServer;
pub use source::{MemoryOpening, MemorySource, OpeningError};
pub use stdio::serve_stdio;
pub use token::AccessToken;
