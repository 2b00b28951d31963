//! Accepting connections, with or without TLS, until the server is told to stop.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use thiserror::Error;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;

use super::request::PeerAddress;
use super::routes::router;
use super::state::{ServerOptions, ServerState};
use crate::storage::TeamStore;

/// The pause after a connection that could not be accepted.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// How long requests may take after the server was told to stop.
const STOP_PATIENCE: Duration = Duration::from_secs(30);

/// Files of a certificate chain and its key, in PEM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The chain.
    pub certificate: PathBuf,
    /// The key.
    pub key: PathBuf,
}

/// Why a server does not start.
#[derive(Debug, Error)]
pub enum ServerError {
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {source}; choose another address with `--listen`")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        source: std::io::Error,
    },
    /// A certificate or key cannot be used.
    #[error("cannot use {}: {reason}; a PEM file is expected", path.display())]
    Tls {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
}

/// Connections that wait to be accepted. With the usual 128, a burst of clients waits a second for each that does not fit.
const BACKLOG: u32 = 4_096;

fn listener(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// A server that listens.
pub struct TeamServer {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<TlsAcceptor>,
}

impl TeamServer {
    /// Listens on an address; port 0 is any that is free.
    pub fn bind(address: SocketAddr, tls: Option<&TlsFiles>) -> Result<Self, ServerError> {
        let tls = tls.map(acceptor).transpose()?;
        let failed = |source| ServerError::Listen { address, source };
        let listener = listener(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, tls })
    }

    /// The address for clients.
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}", self.address)
    }

    /// Serves until `stop` is cancelled; then finishes the requests that are under way.
    pub async fn serve(self, store: TeamStore, options: ServerOptions, stop: CancellationToken) {
        let open = Arc::new(Semaphore::new(options.connections));
        let timeout = options.timeout;
        let router = router(Arc::new(ServerState::new(store, options, stop.clone())));
        let mut connections = JoinSet::new();
        loop {
            while connections.try_join_next().is_some() {}
            let Ok(permit) = Arc::clone(&open).acquire_owned().await else { break };
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = stop.cancelled() => break,
            };
            let Ok((stream, peer)) = accepted else {
                // The client has disconnected, or no file handle is left: try again later.
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let http =
                HttpService { router: router.clone(), peer: PeerAddress(peer.ip()), timeout };
            let (tls, stop) = (self.tls.clone(), stop.clone());
            connections.spawn(async move {
                serve_connection(stream, tls, http, stop).await;
                drop(permit);
            });
        }
        drop(self.listener);
        let finished = async { while connections.join_next().await.is_some() {} };
        let _in_time = tokio::time::timeout(STOP_PATIENCE, finished).await;
    }
}

async fn serve_connection(
    stream: TcpStream,
    tls: Option<TlsAcceptor>,
    http: HttpService,
    stop: CancellationToken,
) {
    // Answers are small: they should not wait for more.
    let _slower = stream.set_nodelay(true);
    match tls {
        None => serve_http(stream, http, stop).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = tokio::time::timeout(http.timeout, tls.accept(stream)).await {
                serve_http(stream, http, stop).await;
            }
        }
    }
}

/// What answers the requests of one connection.
struct HttpService {
    router: Router,
    peer: PeerAddress,
    timeout: Duration,
}

async fn serve_http(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin,
    HttpService { router, peer, timeout }: HttpService,
    stop: CancellationToken,
) {
    let routes = TowerToHyperService::new(router);
    // With each request, not as a layer for each connection: that would wrap every route anew.
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(peer);
        routes.call(request)
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(timeout)
        .max_buf_size(64 * 1024)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = std::pin::pin!(connection);
    // A connection that broke concerns only its client.
    tokio::select! {
        _broken = connection.as_mut() => return,
        () = stop.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let _broken = connection.await;
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, ServerError> {
    let wrong = |path: &PathBuf, reason: String| ServerError::Tls { path: path.clone(), reason };
    let in_chain =
        |error: rustls::pki_types::pem::Error| wrong(&files.certificate, error.to_string());
    let chain: Vec<_> = CertificateDer::pem_file_iter(&files.certificate)
        .map_err(in_chain)?
        .collect::<Result<_, _>>()
        .map_err(in_chain)?;
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| wrong(&files.key, error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| wrong(&files.certificate, error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
