//! Why the MCP server ended.

use thiserror::Error;

/// Why the server ended before its client did.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The client did not start as the protocol requires.
    #[error("the client did not start as MCP requires: {0}; check that it speaks MCP over stdio")]
    Start(String),
    /// The port cannot be opened.
    #[error("cannot listen on 127.0.0.1:{port}: {error}; choose another port with --port")]
    Listen {
        /// The requested port.
        port: u16,
        /// The reason.
        error: std::io::Error,
    },
    /// The server itself failed.
    #[error("the MCP server failed: {0}")]
    Broken(String),
}
