//! The MCP server, both eras of the protocol. Only this module and those below it know the library
//! that speaks it.
//!
//! Invariants: standard output carries the protocol and nothing else; memory is opened with the first
//! request that needs it, so that the first answer does not wait for it.

mod connection;
mod http;
mod resources;
mod source;
mod stdio;
mod token;
mod tools;
mod uri;
mod watch;

use std::sync::Arc;

use rmcp::ServiceExt;
use thiserror::Error;

use connection::ClientConnection;
pub use http::HttpListener;
pub use source::{MemoryOpening, MemorySource};
use stdio::Stdio;
pub use token::AccessToken;
use tools::ServedTool;
use watch::MemoryWatch;

/// Why the server ended before its client did.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The client did not begin as the protocol says.
    #[error("the client did not begin as MCP says: {0}; check that it speaks MCP over stdio")]
    Start(String),
    /// No place to listen.
    #[error("can not listen on 127.0.0.1:{port}: {error}; choose another port with --port")]
    Listen {
        /// The port that was asked for.
        port: u16,
        /// Why not.
        error: std::io::Error,
    },
    /// The server itself broke.
    #[error("the MCP server ended by a fault of its own: {0}")]
    Broken(String),
}

/// What the server offers, and where its memories are. Several connections may share one.
pub struct MemoryServer {
    /// None where memory is off: then there is nothing to offer.
    source: Option<Arc<MemorySource>>,
    tools: Vec<&'static ServedTool>,
    watch: MemoryWatch,
}

impl MemoryServer {
    /// A server for the memories of a source.
    pub fn new(source: MemorySource) -> Self {
        let source = Arc::new(source);
        let watch = MemoryWatch::of(Arc::clone(&source));
        Self { source: Some(source), tools: tools::ALL.iter().collect(), watch }
    }

    /// Whether there is memory to offer.
    pub fn offers_memory(&self) -> bool {
        self.source.is_some()
    }

    /// The same, with the memory tool beside the others.
    #[must_use]
    pub fn with_memory_tool(mut self) -> Self {
        self.tools.push(&tools::MEMORY_TOOL);
        self
    }

    /// A server that has nothing, because memory is off.
    pub fn off() -> Self {
        Self { source: None, tools: Vec::new(), watch: MemoryWatch::default() }
    }
}

/// Serves one client on standard input and output, until it closes them.
pub async fn serve_stdio(server: MemoryServer) -> Result<(), ServeError> {
    let connection = ClientConnection::new(Arc::new(server));
    let running = match connection.serve(Stdio::of_process()).await {
        Ok(running) => running,
        // A client that only looked whether the program starts.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Start(error.to_string())),
    };
    running.waiting().await.map(drop).map_err(|error| ServeError::Broken(error.to_string()))
}
