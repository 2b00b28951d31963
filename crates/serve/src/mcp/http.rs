//! The server over streamable HTTP: on loopback only, for the token holder.
//!
//! Invariants: a connection without a request in time is closed; nothing is read without a limit.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONNECTION, HOST, HeaderValue, ORIGIN, WWW_AUTHENTICATE};
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;

use super::connection::ClientConnection;
use super::error::ServeError;
use super::server::MemoryServer;
use super::token::AccessToken;
use crate::connections::{ConnectionAdmission, ConnectionLimits, serve_connections};
use crate::loopback::LoopbackGuard;

/// The only path.
const PATH: &str = "/mcp";
/// Pages from this machine are admitted. They need the token as well.
const GUARD: LoopbackGuard = LoopbackGuard::any_port();

/// Time and size limits for clients.
#[derive(Debug, Clone, Copy)]
struct Limits {
    /// For the head of a request, and the pause before the next one on the same connection.
    head: Duration,
    /// For the body of a request, from its first byte to its last.
    body: Duration,
    /// The longest body.
    body_bytes: usize,
    /// Connections at once; more wait.
    connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(30),
            body: Duration::from_secs(30),
            body_bytes: 4 * 1024 * 1024,
            connections: 64,
        }
    }
}

type Body = BoxBody<Bytes, Infallible>;
type Service = StreamableHttpService<ClientConnection, LocalSessionManager>;

/// An open port.
pub struct HttpListener {
    listener: TcpListener,
    address: SocketAddr,
    limits: Limits,
}

impl HttpListener {
    /// Listens on a port of this machine; 0 is any that is free.
    pub async fn on(port: u16) -> Result<Self, ServeError> {
        let failed = |error| ServeError::Listen { port, error };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, limits: Limits::default() })
    }

    /// The address for clients.
    pub fn url(&self) -> String {
        format!("http://{}{PATH}", self.address)
    }

    /// Serves clients until the future is dropped.
    pub async fn serve(
        self,
        server: MemoryServer,
        token: AccessToken,
    ) -> Result<Infallible, ServeError> {
        let server = Arc::new(server);
        let config = StreamableHttpServerConfig::default()
            // Host and origin are checked before a request gets here.
            .disable_allowed_hosts()
            .with_max_request_body_bytes(self.limits.body_bytes);
        let service = StreamableHttpService::new(
            move || Ok(ClientConnection::new(Arc::clone(&server))),
            Arc::new(LocalSessionManager::default()),
            config,
        );
        let guarded = Arc::new(GuardedService { service, token, limits: self.limits });
        let limits =
            ConnectionLimits { head: self.limits.head, connections: self.limits.connections };
        Ok(serve_connections(&self.listener, limits, move |admission| {
            let guarded = Arc::clone(&guarded);
            service_fn(move |request| {
                let (guarded, admission) = (Arc::clone(&guarded), admission.clone());
                async move { Ok::<_, Infallible>(guarded.answer(request, &admission).await) }
            })
        })
        .await)
    }
}

struct GuardedService {
    service: Service,
    token: AccessToken,
    limits: Limits,
}

impl GuardedService {
    async fn answer(
        &self,
        request: Request<Incoming>,
        admission: &ConnectionAdmission,
    ) -> Response<Body> {
        let given = request.headers().get(AUTHORIZATION).map(HeaderValue::as_bytes);
        if !self.token.is_in(given) {
            let mut refusal = closing(
                StatusCode::UNAUTHORIZED,
                "this server needs the header `Authorization: Bearer TOKEN`; the token is in the file mcp-token \
                 in the program's own folder\n",
            );
            let challenge = HeaderValue::from_static("Bearer");
            refusal.headers_mut().insert(WWW_AUTHENTICATE, challenge);
            return refusal;
        }
        admission.admit();
        let header = |name| request.headers().get(name).map(HeaderValue::as_bytes);
        if !GUARD.admits_host(header(HOST)) || !GUARD.admits_origin(header(ORIGIN)) {
            return closing(
                StatusCode::FORBIDDEN,
                "requests of pages and host names other than this machine's are refused\n",
            );
        }
        if request.uri().path() != PATH {
            return plain(StatusCode::NOT_FOUND, "the server is at /mcp\n");
        }
        match self.read(request).await {
            Ok(request) => self.service.handle(request).await,
            Err(refusal) => refusal,
        }
    }

    /// The whole request, if it comes in time and is not too long.
    async fn read(
        &self,
        request: Request<Incoming>,
    ) -> Result<Request<Full<Bytes>>, Response<Body>> {
        let (head, body) = request.into_parts();
        let body = Limited::new(body, self.limits.body_bytes).collect();
        match tokio::time::timeout(self.limits.body, body).await {
            Ok(Ok(body)) => Ok(Request::from_parts(head, Full::new(body.to_bytes()))),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                Err(closing(StatusCode::PAYLOAD_TOO_LARGE, "a message may have 4 MiB\n"))
            }
            Ok(Err(_)) => Err(closing(StatusCode::BAD_REQUEST, "the message was cut off\n")),
            Err(_) => {
                Err(closing(StatusCode::REQUEST_TIMEOUT, "the message took too long to come\n"))
            }
        }
    }
}

/// A response that closes the connection: the rest of the request is not read.
fn closing(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = plain(status, text);
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() = status;
    response
}

#[cfg(test)]
#[path = "http_tests.rs"]
mod tests;
