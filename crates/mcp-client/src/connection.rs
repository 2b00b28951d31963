//! A connection to a server, from the handshake to its end.
//!
//! Both handshakes are supported: `server/discover` is tried first, then `initialize` (D.3).

use std::sync::Arc;
use std::time::Duration;

use dormouse_tools::ProcessError;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCapability,
    ErrorData, FormElicitationCapability, Implementation, ProtocolVersion, ServerPeerInfo,
    SubscriptionFilter,
};
use rmcp::service::{
    ClientInitializeError, NotificationContext, QuitReason, RequestContext, RunningService,
    RunningServiceCancellationToken,
};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, Peer, RoleClient};
use thiserror::Error;
use tokio::sync::Notify;
use tokio::task::{JoinError, JoinSet};
use tokio_util::sync::CancellationToken;

use crate::catalog::Catalog;
use crate::elicitation::UserQuestions;
use crate::http::{self, HttpError};
use crate::message_limit::MessageOverflow;
use crate::oauth::ServerLogin;
use crate::server_spec::{ServerSpec, Transport};
use crate::setup::McpSetup;
use crate::stdio::{ServerCommand, ServerProcess};
use crate::transport::{ServerTransport, describe_transport};

/// How long a server may take from its start to its list of tools: some are fetched from a registry first.
const OPEN_TIMEOUT: Duration = Duration::from_mins(1);
/// How long closing a connection may take: over HTTP it is a request.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

/// The time between the end of a stream of changes and the request for another.
const LISTEN_AGAIN: Duration = Duration::from_secs(5);

/// The client side of a connection: asks the user what the server wants to know, and notices changes.
#[derive(Clone)]
struct ClientEvents {
    /// The server's name.
    server: String,
    questions: UserQuestions,
    changed: Arc<Notify>,
}

impl ClientHandler for ClientEvents {
    fn get_info(&self) -> ClientConfig {
        let software = Implementation::new("dormouse", env!("CARGO_PKG_VERSION"));
        let mut offers = ClientCapabilities::default();
        let form = FormElicitationCapability::default();
        offers.elicitation = Some(ElicitationCapability::new().with_form(form));
        ClientConfig::new(offers, software)
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.questions.ask(&self.server, request).await)
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_prompt_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }

    async fn on_resource_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.notify_one();
    }
}

/// An open connection.
pub(crate) struct McpConnection {
    pub(crate) peer: Peer<RoleClient>,
    /// Whether the server sent a message that is too long.
    pub(crate) flooded: MessageOverflow,
    service: RunningService<RoleClient, ClientEvents>,
    program: Option<ServerProcess>,
    changed: Arc<Notify>,
}

/// Which handshake to use.
#[derive(Debug, Clone, Copy)]
enum Handshake {
    /// The new one, and the old one if the server does not know the new one.
    Either,
    /// The old one.
    Old,
}

impl McpConnection {
    /// Connects, and asks which tools the server offers.
    pub(crate) async fn open(
        spec: &ServerSpec,
        login: Option<&Arc<ServerLogin>>,
        setup: &McpSetup,
    ) -> Result<(Self, Catalog), ConnectionError> {
        let opening = Self::try_both(spec, login, setup);
        let opened = tokio::time::timeout(OPEN_TIMEOUT, opening).await;
        opened.unwrap_or(Err(ConnectionError::TimedOut))
    }

    /// Uses the old handshake for a server that fails on the new one.
    async fn try_both(
        spec: &ServerSpec,
        login: Option<&Arc<ServerLogin>>,
        setup: &McpSetup,
    ) -> Result<(Self, Catalog), ConnectionError> {
        match Self::shake(spec, login, setup, Handshake::Either).await {
            Err(ConnectionError::Handshake(_)) => {
                Self::shake(spec, login, setup, Handshake::Old).await
            }
            opened => opened,
        }
    }

    async fn shake(
        spec: &ServerSpec,
        login: Option<&Arc<ServerLogin>>,
        setup: &McpSetup,
        handshake: Handshake,
    ) -> Result<(Self, Catalog), ConnectionError> {
        let changed = Arc::new(Notify::new());
        let (server, questions) = (spec.name.clone(), setup.questions.clone());
        let listener = ClientEvents { server, questions, changed: Arc::clone(&changed) };
        let flooded = MessageOverflow::default();
        let (mut program, transport) = match &spec.transport {
            Transport::Stdio { command, args, env, folder } => {
                let command =
                    ServerCommand { program: command, args, env, folder: folder.as_deref() };
                let (program, pipes) =
                    ServerProcess::start(command, setup, flooded.clone()).await?;
                (Some(program), ServerTransport::Pipes(pipes))
            }
            Transport::Http { url, headers, .. } => {
                let web = http::transport(url, headers, login.cloned(), flooded.clone())?;
                (None, ServerTransport::Web(web))
            }
        };
        let service = match listener.serve_with_lifecycle(transport, handshake.mode()).await {
            Ok(service) => service,
            Err(error) => return Err(handshake_error(&error, program.as_mut()).await),
        };
        let peer = service.peer().clone();
        let mut connection = Self { peer, flooded, service, program, changed };
        match Catalog::ask(&connection.peer).await {
            Ok(catalog) => Ok((connection, catalog)),
            Err(error) => {
                let ended = connection.why_gone().await.map(ConnectionError::Ended);
                connection.end().await;
                Err(ended.unwrap_or_else(|| ConnectionError::NoTools(error.to_string())))
            }
        }
    }

    /// Why the server ended, if it is a program that ended.
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

    /// Turns it into a connection that is watched.
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

/// Subscribes to changes of what a server offers: new servers send them only to subscribers.
async fn listen(peer: Peer<RoleClient>, changed: Arc<Notify>) {
    let Some(wanted) = peer.peer_info().and_then(|info| subscription(&info)) else { return };
    while let Ok(mut told) = peer.listen(wanted.clone()).await {
        while let Ok(Some(_)) = told.next().await {
            changed.notify_one();
        }
        // Over HTTP a quiet stream ends sooner or later, and changes in between are missed.
        tokio::time::sleep(LISTEN_AGAIN).await;
        changed.notify_one();
    }
}

/// The changes that a server tells subscribers of; none if it tells everybody, or nobody.
fn subscription(info: &ServerPeerInfo) -> Option<SubscriptionFilter> {
    if info.protocol_version < ProtocolVersion::V_2026_07_28 {
        return None;
    }
    let told = |tells: Option<bool>| tells.filter(|tells| *tells);
    let offers = &info.capabilities;
    let mut wanted = SubscriptionFilter::new();
    wanted.tools_list_changed = told(offers.tools.as_ref().and_then(|tools| tools.list_changed));
    wanted.prompts_list_changed =
        told(offers.prompts.as_ref().and_then(|prompts| prompts.list_changed));
    wanted.resources_list_changed =
        told(offers.resources.as_ref().and_then(|resources| resources.list_changed));
    Some(wanted).filter(|wanted| *wanted != SubscriptionFilter::new())
}

/// An event of a connection.
pub(crate) enum ConnectionEvent {
    /// What it offers has changed.
    Changed,
    /// It ended, with the reason.
    Gone(String),
}

/// An open connection that is watched. Dropping it ends it.
pub(crate) struct WatchedConnection {
    running: JoinSet<Result<QuitReason, JoinError>>,
    stop: Option<RunningServiceCancellationToken>,
    program: Option<ServerProcess>,
    changed: Arc<Notify>,
    _listening: JoinSet<()>,
}

impl WatchedConnection {
    /// Waits for an event; none when `stop` is cancelled.
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

    /// Closes it: closes a program's input and waits for its end, or ends it.
    pub(crate) async fn close(&mut self) {
        if let Some(stop) = self.stop.take() {
            stop.cancel();
        }
        let gone = async { while self.running.join_next().await.is_some() {} };
        let _patience = tokio::time::timeout(CLOSE_TIMEOUT, gone).await;
        // Drops the pipes, so that the program's input is closed for certain.
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

/// Why there is no connection to a server, in words for the user.
#[derive(Debug, Error)]
pub(crate) enum ConnectionError {
    #[error("it did not answer within {} seconds", OPEN_TIMEOUT.as_secs())]
    TimedOut,
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Http(#[from] HttpError),
    /// The handshake failed; another one may succeed.
    #[error("{0}")]
    Handshake(String),
    /// The server's program ended.
    #[error("{0}")]
    Ended(String),
    #[error("it did not list its tools: {0}")]
    NoTools(String),
}

async fn handshake_error(
    error: &ClientInitializeError,
    program: Option<&mut ServerProcess>,
) -> ConnectionError {
    let Some(program) = program else {
        return ConnectionError::Handshake(describe(error));
    };
    let reason = match error {
        ClientInitializeError::ConnectionClosed(_)
        | ClientInitializeError::TransportError { .. } => program.why_gone().await,
        other => format!("{}{}", describe(other), program.stderr_note()),
    };
    program.end().await;
    ConnectionError::Handshake(reason)
}

/// The useful part of an error of the handshake.
fn describe(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::TransportError { error, .. } => {
            describe_transport(error.error.as_ref())
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => describe(fallback),
        ClientInitializeError::JsonRpcError(error) => format!("it refused: {}", error.message),
        other => other.to_string(),
    }
}
