//! The MCP server, both eras of the protocol. Only this module and those below it know the library
//! that speaks it.
//!
//! Invariants: standard output carries the protocol and nothing else; memory is opened with the first
//! request that needs it, so that the first answer does not wait for it.

mod connection;
mod error;
mod http;
mod resources;
mod server;
mod snapshot;
mod source;
mod stdio;
mod token;
mod tools;
mod uri;
mod watch;

use std::sync::Arc;

use rmcp::ServiceExt;

use connection::ClientConnection;
pub use error::ServeError;
pub use http::HttpListener;
pub use server::MemoryServer;
pub use source::{MemoryOpening, MemorySource};
use stdio::Stdio;
pub use token::AccessToken;

/// Serves one client on standard input and output, until it closes them.
pub async fn serve_stdio(server: MemoryServer) -> Result<(), ServeError> {
    let connection = ClientConnection::new(Arc::new(server));
    let running = match connection.serve(Stdio::of_process()).await {
        Ok(running) => running,
        // A client that only checked whether the program starts.
        Err(rmcp::service::ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(ServeError::Start(error.to_string())),
    };
    running.waiting().await.map(drop).map_err(|error| ServeError::Broken(error.to_string()))
}
