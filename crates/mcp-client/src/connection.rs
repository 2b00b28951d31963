//! One connection to a server, from the handshake to its end.
//!
//! Both eras are spoken: `server/discover` is tried first, and where that does not do, `initialize` (D.3).

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ProtocolVersion, SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, QuitReason, RunningService,
    RunningServiceCancellationToken,
};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, Peer, RoleClient};
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;
use crate::error_chain::innermost;
use crate::http;
use crate::message_limit::MessageOverflow;
use crate::server_spec::Transport;
use crate::setup::McpSetup;
use crate::stdio::ServerProcess;

/// How long a server may take from its start to its list of tools: some are fetched from a registry first.
const OPEN_TIMEOUT: Duration = Duration::from_mins(1);
/// How long the goodbye may take: over HTTP it is a request.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// Between the end of a stream of changes and asking for another.
const LISTEN_AGAIN: Duration = Duration::from_secs(5);

/// What is ours in the conversation with a server: nothing is offered, and changes are noticed.
#[derive(Clone)]
struct ClientEvents {
    changed: Arc<Notify>,
}

impl ClientHandler for ClientEvents {
    fn get_info(&self) -> ClientConfig {
        let software = Implementation::new("dormouse", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), software)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

/// An open connection.
pub(crate) struct McpConnection {
    pub(crate) peer: Peer<RoleClient>,
    /// Whether it was sent more than it takes.
    pub(crate) flooded: MessageOverflow,
    service: RunningService<RoleClient, ClientEvents>,
    program: Option<ServerProcess>,
    changed: Arc<Notify>,
}

/// Which handshake to use.
#[derive(Debug, Clone, Copy)]
enum Handshake {
    /// The new one, and the old one where the server says that it does not know that.
    Either,
    /// The old one.
    Old,
}

impl McpConnection {
    /// Connects, and asks what the server offers. The error is for people.
    pub(crate) async fn open(
        transport: &Transport,
        setup: &McpSetup,
    ) -> Result<(Self, Catalog), String> {
        let opened = tokio::time::timeout(OPEN_TIMEOUT, Self::try_both(transport, setup)).await;
        opened.unwrap_or_else(|_| {
            Err(format!("it did not answer within {} seconds", OPEN_TIMEOUT.as_secs()))
        })
    }

    /// A server that breaks off at the sight of the new handshake is tried with the old one.
    async fn try_both(transport: &Transport, setup: &McpSetup) -> Result<(Self, Catalog), String> {
        match Self::shake(transport, setup, Handshake::Either).await {
            Err(Refused::Protocol(_)) => {
                Self::shake(transport, setup, Handshake::Old).await.map_err(Refused::into_reason)
            }
            opened => opened.map_err(Refused::into_reason),
        }
    }

    async fn shake(
        transport: &Transport,
        setup: &McpSetup,
        handshake: Handshake,
    ) -> Result<(Self, Catalog), Refused> {
        let changed = Arc::new(Notify::new());
        let listener = ClientEvents { changed: Arc::clone(&changed) };
        let flooded = MessageOverflow::default();
        let (mut program, served) = match transport {
            Transport::Stdio { .. } => {
                let started = ServerProcess::start(transport, setup, flooded.clone()).await;
                let (program, pipes) = started.map_err(Refused::NotStarted)?;
                (Some(program), listener.serve_with_lifecycle(pipes, handshake.mode()).await)
            }
            Transport::Http { url, headers } => {
                let web =
                    http::transport(url, headers, flooded.clone()).map_err(Refused::NotStarted)?;
                (None, listener.serve_with_lifecycle(web, handshake.mode()).await)
            }
        };
        let service = match served {
            Ok(service) => service,
            Err(error) => return Err(refusal(&error, program.as_mut()).await),
        };
        let peer = service.peer().clone();
        let mut connection = Self { peer, flooded, service, program, changed };
        match Catalog::ask(&connection.peer).await {
            Ok(catalog) => Ok((connection, catalog)),
            Err(error) => {
                let gone = connection.why_gone().await;
                let why = gone.unwrap_or_else(|| format!("it would not list its tools: {error}"));
                connection.end().await;
                Err(Refused::NotStarted(why))
            }
        }
    }

    /// Why the server is gone, if it is a program that is.
    async fn why_gone(&mut self) -> Option<String> {
        match &mut self.program {
            Some(program) if self.peer.is_transport_closed() => Some(program.why_gone().await),
            _ => None,
        }
    }

    async fn end(self) {
        let mut kept = self.keep();
        kept.close().await;
    }

    /// What watches over it from now on.
    pub(crate) fn keep(self) -> WatchedConnection {
        let Self { peer, service, program, changed, .. } = self;
        let stop = service.cancellation_token();
        let mut running = JoinSet::new();
        running.spawn(service.waiting());
        let mut listening = JoinSet::new();
        listening.spawn(listen(peer.clone(), Arc::clone(&changed)));
        WatchedConnection { running, stop: Some(stop), program, changed, _listening: listening }
    }
}

/// New servers tell of changes only to who has asked; the old ones tell everybody.
async fn listen(peer: Peer<RoleClient>, changed: Arc<Notify>) {
    let asked = peer.peer_info().is_some_and(|info| {
        let tells = info.capabilities.tools.as_ref().and_then(|tools| tools.list_changed);
        info.protocol_version >= ProtocolVersion::V_2026_07_28 && tells == Some(true)
    });
    if !asked {
        return;
    }
    let mut wanted = SubscriptionFilter::new();
    wanted.tools_list_changed = Some(true);
    while let Ok(mut told) = peer.listen(wanted.clone()).await {
        while let Ok(Some(_)) = told.next().await {
            changed.notify_one();
        }
        // Over HTTP a quiet stream is cut sooner or later, and what came in between is not told.
        tokio::time::sleep(LISTEN_AGAIN).await;
        changed.notify_one();
    }
}

/// Something that came to pass with a connection.
pub(crate) enum ConnectionEvent {
    /// Its tools are others now.
    Changed,
    /// It is gone, and why.
    Gone(String),
}

/// An open connection, watched over. Dropping it ends it.
pub(crate) struct WatchedConnection {
    running: JoinSet<Result<QuitReason, JoinError>>,
    stop: Option<RunningServiceCancellationToken>,
    program: Option<ServerProcess>,
    changed: Arc<Notify>,
    _listening: JoinSet<()>,
}

impl WatchedConnection {
    /// Waits for something to come to pass; none when it is told to stop.
    pub(crate) async fn next(&mut self, stop: &CancellationToken) -> Option<ConnectionEvent> {
        tokio::select! {
            biased;
            () = stop.cancelled() => return None,
            _ended = self.running.join_next() => {}
            () = self.changed.notified() => return Some(ConnectionEvent::Changed),
        }
        Some(ConnectionEvent::Gone(match &mut self.program {
            Some(program) => program.why_gone().await,
            None => "the connection ended".to_owned(),
        }))
    }

    /// Says goodbye: closes a program's input and waits for its end, or ends it.
    pub(crate) async fn close(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop.cancel();
        }
        let gone = async { while self.running.join_next().await.is_some() {} };
        let _patience = tokio::time::timeout(CLOSE_TIMEOUT, gone).await;
        // What holds the pipes goes, and the program's input is closed for certain.
        self.running.abort_all();
        if let Some(program) = &mut self.program {
            program.end().await;
        }
    }
}

impl Handshake {
    fn mode(self) -> ClientLifecycleMode {
        match self {
            Self::Either => ClientLifecycleMode::Auto {
                preferred_versions: vec![ProtocolVersion::V_2026_07_28],
                legacy_version: Some(ProtocolVersion::V_2025_11_25),
            },
            Self::Old => ClientLifecycleMode::Initialize,
        }
    }
}

/// Why there is no connection.
enum Refused {
    /// There is nobody to talk to, or no use in another try.
    NotStarted(String),
    /// The handshake broke off.
    Protocol(String),
}

impl Refused {
    fn into_reason(self) -> String {
        match self {
            Self::NotStarted(reason) | Self::Protocol(reason) => reason,
        }
    }
}

/// What is told of a handshake that failed.
async fn refusal(error: &ClientInitializeError, program: Option<&mut ServerProcess>) -> Refused {
    let Some(program) = program else {
        return Refused::Protocol(told(error));
    };
    let reason = match error {
        ClientInitializeError::ConnectionClosed(_)
        | ClientInitializeError::TransportError { .. } => program.why_gone().await,
        other => format!("{}{}", told(other), program.complaints()),
    };
    program.end().await;
    Refused::Protocol(reason)
}

/// What a person can use of an error of the handshake.
fn told(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => on_the_way(error.error.as_ref()),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => told(fallback),
        ClientInitializeError::JsonRpcError(error) => format!("it refused: {}", error.message),
        other => other.to_string(),
    }
}

/// What a person can use of an error on the way to a server.
pub(crate) fn on_the_way(error: &(dyn std::error::Error + 'static)) -> String {
    http::told(error).unwrap_or_else(|| innermost(error))
}
