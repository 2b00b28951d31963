//! Connections to a port on loopback: a bounded number, each with a time limit for the head of a request.
//!
//! Used by every HTTP server of the program that listens on loopback: the MCP server and the viewer.

use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::service::HttpService;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{AbortHandle, JoinSet};

/// The pause after a connection that could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Limits of the connections to a port.
#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    /// The time for the head of a request, and for the pause before the next one on the same connection.
    pub head: Duration,
    /// Connections at once. When there are more, the oldest that was not admitted is closed; if all were, more wait.
    pub connections: usize,
}

/// Whether a request on a connection has shown the server's secret. All requests of a connection share it.
#[derive(Debug, Clone, Default)]
pub struct ConnectionAdmission(Arc<AtomicBool>);

impl ConnectionAdmission {
    /// A request has shown the secret: the connection gives way to no other.
    pub fn admit(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn is_admitted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A connection, the oldest first among others.
struct OpenConnection {
    task: AbortHandle,
    admission: ConnectionAdmission,
}

/// Serves each connection with a service of its own until the future is dropped.
pub async fn serve_connections<S>(
    listener: &TcpListener,
    limits: ConnectionLimits,
    service: impl Fn(ConnectionAdmission) -> S,
) -> Infallible
where
    S: HttpService<Incoming> + Send + 'static,
    S::Future: Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    S::ResBody: Send + 'static,
    <S::ResBody as Body>::Data: Send,
    <S::ResBody as Body>::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut connections = JoinSet::new();
    let mut open = Vec::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // The client has disconnected, or no file handle is left: try again later.
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        loop {
            while connections.try_join_next().is_some() {}
            open.retain(|connection: &OpenConnection| !connection.task.is_finished());
            if connections.len() < limits.connections {
                break;
            }
            // Whoever has not shown the secret must not keep out those who have it.
            if let Some(silent) = open.iter().find(|one| !one.admission.is_admitted()) {
                silent.task.abort();
            }
            connections.join_next().await;
        }
        let admission = ConnectionAdmission::default();
        let serving = serve_one(stream, limits.head, service(admission.clone()));
        open.push(OpenConnection { task: connections.spawn(serving), admission });
    }
}

async fn serve_one<S>(stream: TcpStream, patience: Duration, service: S)
where
    S: HttpService<Incoming>,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    S::ResBody: 'static,
    <S::ResBody as Body>::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let served = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .serve_connection(TokioIo::new(stream), service);
    // How a connection ends does not matter here.
    drop(served.await);
}
