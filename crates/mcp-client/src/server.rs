//! A server in a session: its status, the tools it offers, calls of its tools, and restarts.
//!
//! Invariant: a server that ended is started again by the next call, at most [`MAX_STARTS`] times within
//! [`STARTS_WITHIN`].

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, InputRequest, InputResponses, JsonObject,
};
use rmcp::service::ServiceError;
use rmcp::{Peer, RoleClient};
use thiserror::Error;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::catalog::{Catalog, OfferedPrompt, OfferedResource, OfferedTool, cut};
use crate::connection::{ConnectionEvent, McpConnection};
use crate::message_limit::MessageOverflow;
use crate::oauth::{ServerLogin, is_protected};
use crate::prompt_list::listed_prompts;
use crate::resource_list::listed_resources;
use crate::server_spec::{ServerSpec, Transport};
use crate::setup::McpSetup;
use crate::tool_name::tool_name;
use crate::tool_result::tool_output;
use crate::transport::describe_transport;
use dormouse_conversation::{Block, ResultContent};
use dormouse_tools::{ToolError, ToolOutput};

/// A server that keeps failing is not started again and again.
const MAX_STARTS: usize = 5;
const STARTS_WITHIN: Duration = Duration::from_mins(10);
/// The most rounds of questions of one call.
const MAX_ROUNDS: usize = 10;
/// The longest error text of a server, in characters.
const ERROR_CHARS: usize = 4_000;

/// Why a held server is not there.
pub(crate) const NOT_ALLOWED: &str = "the user has not allowed it yet";

/// The status of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServerStatus {
    /// It has not answered yet.
    Connecting,
    /// It can be called.
    Connected,
    /// It cannot be called, with the reason; a call tries to connect again.
    Down(String),
}

/// Why a server cannot be called.
#[derive(Debug, Error)]
pub(crate) enum ServerUnavailable {
    #[error(
        "it was started {MAX_STARTS} times within {} minutes and is not started again for now ({last_error}); the user \
         can retry with `/mcp reconnect {server}`",
        STARTS_WITHIN.as_secs() / 60
    )]
    TooManyStarts { server: String, last_error: String },
    #[error("{NOT_ALLOWED}")]
    NotAllowed,
    #[error("{0}")]
    Down(String),
    #[error("it ended again at once")]
    EndedAgain,
}

/// A server of a session.
pub(crate) struct McpServer {
    pub(crate) spec: ServerSpec,
    setup: Arc<McpSetup>,
    /// The user's login, for a server that may have one.
    login: Option<Arc<ServerLogin>>,
    status: watch::Sender<ServerStatus>,
    /// Told of every new list of what it offers.
    changes: watch::Sender<()>,
    inner: Mutex<Inner>,
    stop: Mutex<CancellationToken>,
    tasks: Mutex<JoinSet<()>>,
    /// Nobody starts it.
    is_held: AtomicBool,
}

#[derive(Default)]
struct Inner {
    peer: Option<Peer<RoleClient>>,
    flooded: MessageOverflow,
    /// The tools it listed last; kept while it is down.
    catalog: Arc<Catalog>,
    starts: Vec<Instant>,
    last_error: Option<String>,
}

impl McpServer {
    pub(crate) fn new(spec: ServerSpec, setup: Arc<McpSetup>, changes: watch::Sender<()>) -> Self {
        let nothing_yet = ServerStatus::Down("it was not started yet".to_owned());
        let (status, _) = watch::channel(nothing_yet);
        Self {
            login: login_at(&spec, &setup),
            spec,
            setup,
            status,
            changes,
            inner: Mutex::default(),
            stop: Mutex::default(),
            tasks: Mutex::default(),
            is_held: AtomicBool::new(false),
        }
    }

    pub(crate) fn status(&self) -> ServerStatus {
        self.status.borrow().clone()
    }

    pub(crate) fn catalog(&self) -> Arc<Catalog> {
        Arc::clone(&lock(&self.inner).catalog)
    }

    pub(crate) fn last_error(&self) -> Option<String> {
        lock(&self.inner).last_error.clone()
    }

    /// Nobody starts it until [`Self::admit`]. It must not have been started.
    pub(crate) fn hold(&self) {
        self.is_held.store(true, Ordering::Release);
        self.status.send_replace(ServerStatus::Down(NOT_ALLOWED.to_owned()));
    }

    /// Ends a hold, and starts it.
    pub(crate) fn admit(self: &Arc<Self>) -> Result<(), ServerUnavailable> {
        self.is_held.store(false, Ordering::Release);
        self.start()
    }

    /// Starts it, unless it is starting, running or held.
    pub(crate) fn start(self: &Arc<Self>) -> Result<(), ServerUnavailable> {
        if !matches!(self.status(), ServerStatus::Down(_)) {
            return Ok(());
        }
        if self.is_held.load(Ordering::Acquire) {
            return Err(ServerUnavailable::NotAllowed);
        }
        self.count_start()?;
        self.status.send_replace(ServerStatus::Connecting);
        let stop = lock(&self.stop).clone();
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(Arc::clone(self).live(stop));
        Ok(())
    }

    fn count_start(&self) -> Result<(), ServerUnavailable> {
        let mut inner = lock(&self.inner);
        inner.starts.retain(|at| at.elapsed() < STARTS_WITHIN);
        if inner.starts.len() >= MAX_STARTS {
            return Err(ServerUnavailable::TooManyStarts {
                server: self.spec.name.clone(),
                last_error: inner.last_error.clone().unwrap_or_default(),
            });
        }
        inner.starts.push(Instant::now());
        Ok(())
    }

    /// Runs it from its start to its end.
    async fn live(self: Arc<Self>, stop: CancellationToken) {
        let opened = tokio::select! {
            biased;
            () = stop.cancelled() => return self.down("it was stopped"),
            opened = McpConnection::open(&self.spec, self.login.as_ref(), &self.setup) => opened,
        };
        let (connection, catalog) = match opened {
            Ok(opened) => opened,
            Err(error) => return self.down(&error.to_string()),
        };
        let (peer, flooded) = (connection.peer.clone(), connection.flooded.clone());
        let (resources, prompts) = self.listed(&peer).await;
        let catalog = Catalog { resources, prompts, ..catalog };
        let mut kept = connection.keep();
        {
            let mut inner = lock(&self.inner);
            inner.catalog = Arc::new(catalog);
            inner.flooded = flooded;
            inner.peer = Some(peer.clone());
        }
        self.status.send_replace(ServerStatus::Connected);
        self.changes.send_replace(());
        loop {
            match kept.next(&stop).await {
                Some(ConnectionEvent::Changed) => self.refresh_catalog(&peer).await,
                Some(ConnectionEvent::Gone(reason)) => {
                    self.down(&reason);
                    break kept.close().await;
                }
                None => {
                    self.down("it was stopped");
                    break kept.close().await;
                }
            }
        }
    }

    async fn refresh_catalog(&self, peer: &Peer<RoleClient>) {
        // A server that cannot list its tools any more is noticed by the next call.
        if let Ok(catalog) = Catalog::ask(peer).await {
            // The tools are wanted at once; the lists for the user may take longer.
            self.set_catalog(|before| Catalog {
                resources: before.resources.clone(),
                prompts: before.prompts.clone(),
                ..catalog
            });
            let (resources, prompts) = self.listed(peer).await;
            self.set_catalog(|before| Catalog { resources, prompts, ..before.clone() });
        }
    }

    /// What users can attach and call. Both lists are asked for at once.
    async fn listed(&self, peer: &Peer<RoleClient>) -> (Vec<OfferedResource>, Vec<OfferedPrompt>) {
        let patience = self.setup.deadlines.mcp_lists;
        tokio::join!(listed_resources(peer, patience), listed_prompts(peer, patience))
    }

    fn set_catalog(&self, change: impl FnOnce(&Catalog) -> Catalog) {
        let mut inner = lock(&self.inner);
        inner.catalog = Arc::new(change(&inner.catalog));
        drop(inner);
        self.changes.send_replace(());
    }

    fn down(&self, reason: &str) {
        let reason = self.redact(&cut(reason, ERROR_CHARS));
        {
            let mut inner = lock(&self.inner);
            inner.peer = None;
            inner.last_error = Some(reason.clone());
        }
        self.status.send_replace(ServerStatus::Down(reason));
    }

    /// Waits until it is connected or down.
    pub(crate) async fn settled(&self) {
        let mut status = self.status.subscribe();
        // Cannot fail: `self` holds the sender.
        let _settled = status.wait_for(|status| *status != ServerStatus::Connecting).await;
    }

    /// The connection to call, connecting again if necessary.
    pub(crate) async fn peer(self: &Arc<Self>) -> Result<Peer<RoleClient>, ServerUnavailable> {
        if let Some(peer) = self.open_peer() {
            return Ok(peer);
        }
        self.start()?;
        self.settled().await;
        match (self.open_peer(), self.status()) {
            (Some(peer), _) => Ok(peer),
            (None, ServerStatus::Down(reason)) => Err(ServerUnavailable::Down(reason)),
            (None, _) => Err(ServerUnavailable::EndedAgain),
        }
    }

    fn open_peer(&self) -> Option<Peer<RoleClient>> {
        lock(&self.inner).peer.clone().filter(|peer| !peer.is_transport_closed())
    }

    /// Calls a tool by its own name.
    pub(crate) async fn call(
        self: &Arc<Self>,
        tool: &str,
        arguments: JsonObject,
        cancel: &CancellationToken,
    ) -> Result<ToolOutput, ToolError> {
        let work = async {
            // A connection that has just ended is noticed a moment later.
            tokio::task::yield_now().await;
            let peer = self.peer().await.map_err(|error| self.not_available(&error))?;
            self.check_offered(tool)?;
            let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
            let answered = self.call_with_questions(&peer, params).await;
            self.answer(tool, answered).await
        };
        let timeout = self.call_timeout();
        // Dropping the call tells the server that it was cancelled.
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(ToolError::interrupted()),
            answered = work => answered,
            () = tokio::time::sleep(timeout) => Err(self.failed(&format!(
                "`{tool}` did not answer within {} ms; it was told to stop. `timeout` in its entry, or \
                 `tools.mcpTimeoutMs`, allows more",
                timeout.as_millis()
            ))),
        }
    }

    /// Calls a tool. What it needs to know from the user is asked, and the call is made again with that (servers that speak the
    /// new revision; others ask while the call runs).
    async fn call_with_questions(
        &self,
        peer: &Peer<RoleClient>,
        mut params: CallToolRequestParams,
    ) -> Result<CallToolResponse, ServiceError> {
        for _ in 0..MAX_ROUNDS {
            let wanted = match peer.call_tool_once(params.clone()).await? {
                CallToolResponse::InputRequired(wanted) => wanted,
                done => return Ok(done),
            };
            let mut answers = InputResponses::new();
            for (key, request) in wanted.input_requests.clone().unwrap_or_default() {
                let InputRequest::Elicitation(request) = request else {
                    return Ok(CallToolResponse::InputRequired(wanted));
                };
                let answer = self.setup.questions.ask(&self.spec.name, request.params).await;
                answers.insert(key, serde_json::to_value(answer).unwrap_or_default());
            }
            params.input_responses = Some(answers);
            params.request_state = wanted.request_state;
        }
        Err(ServiceError::InputRequiredRoundsExceeded { max_rounds: MAX_ROUNDS })
    }

    /// How long a request may take.
    pub(crate) fn call_timeout(&self) -> Duration {
        self.spec.timeout.unwrap_or(self.setup.call_timeout)
    }

    fn check_offered(&self, tool: &str) -> Result<(), ToolError> {
        let inner = lock(&self.inner);
        if inner.catalog.tools.contains_key(tool) {
            return Ok(());
        }
        let names: Vec<&str> = inner.catalog.tools.keys().map(String::as_str).collect();
        let names = cut(&names.join(", "), ERROR_CHARS);
        Err(self.failed(&format!("there is no tool `{tool}` any more; its tools are now: {names}")))
    }

    async fn answer(
        &self,
        tool: &str,
        answered: Result<CallToolResponse, ServiceError>,
    ) -> Result<ToolOutput, ToolError> {
        match answered {
            Ok(CallToolResponse::Complete(done)) => Ok(self.without_tokens(tool_output(done))),
            Ok(CallToolResponse::InputRequired(_)) => Err(self.failed(&format!(
                "`{tool}` wants something of the client during the call that is not supported"
            ))),
            Ok(_) => Err(self.failed(&format!(
                "`{tool}` wants to continue in the background as a task, which is not supported"
            ))),
            Err(ServiceError::McpError(error)) => {
                let message = cut(&error.message, ERROR_CHARS);
                Err(self
                    .failed(&format!("`{tool}` was refused: {message} (code {})", error.code.0)))
            }
            Err(ServiceError::TransportClosed | ServiceError::Cancelled { .. }) => {
                if matches!(self.spec.transport, Transport::Http { .. })
                    && lock(&self.inner).flooded.take()
                {
                    return Err(
                        self.failed(&format!("`{tool}` failed: {}", MessageOverflow::reason()))
                    );
                }
                self.settled_as_down().await;
                Err(self.failed(&format!(
                    "it ended during the call of `{tool}` ({}), which may have taken effect; the next call \
                     starts it again",
                    self.last_error().unwrap_or_default()
                )))
            }
            Err(error) => {
                let reason = match &error {
                    ServiceError::TransportSend(error) => describe_transport(error.error.as_ref()),
                    other => other.to_string(),
                };
                let reason = cut(&reason, ERROR_CHARS);
                Err(self.failed(&format!("the call of `{tool}` failed: {reason}")))
            }
        }
    }

    /// A result in which the server does not repeat the user's tokens.
    fn without_tokens(&self, mut output: ToolOutput) -> ToolOutput {
        let Some(login) = &self.login else { return output };
        match &mut output.content {
            ResultContent::Text(text) => *text = login.redact(text),
            ResultContent::Blocks(blocks) => {
                for block in blocks {
                    if let Some(text) = block.as_text() {
                        *block = Block::text(&login.redact(&text));
                    }
                }
            }
        }
        output
    }

    /// Waits for the reason of its end, which is known a moment after the end.
    async fn settled_as_down(&self) {
        let mut status = self.status.subscribe();
        let down = status.wait_for(|status| matches!(status, ServerStatus::Down(_)));
        let _patience = tokio::time::timeout(Duration::from_secs(2), down).await;
    }

    pub(crate) fn not_available(&self, error: &ServerUnavailable) -> ToolError {
        self.failed(&format!("it is not available: {error}"))
    }

    pub(crate) fn failed(&self, what: &str) -> ToolError {
        let message = format!("MCP server `{}`: {what}", self.spec.name);
        ToolError::Failed { message: self.redact(&message) }
    }

    /// A text without what is secret about this server.
    pub(crate) fn redact(&self, text: &str) -> String {
        let text = self.setup.redactor.redact(text);
        self.login.as_ref().map(|login| login.redact(&text)).unwrap_or(text)
    }

    /// Ends it and waits until it has ended.
    pub(crate) async fn close(&self) {
        let stop = std::mem::take(&mut *lock(&self.stop));
        stop.cancel();
        let mut tasks = std::mem::take(&mut *lock(&self.tasks));
        while tasks.join_next().await.is_some() {}
    }

    /// Ends it and starts it again, however often it was started before.
    pub(crate) async fn reconnect(self: &Arc<Self>) -> ServerStatus {
        self.close().await;
        {
            let mut inner = lock(&self.inner);
            inner.starts.clear();
            // The stop was intended and is no error.
            inner.last_error = None;
        }
        // No start is counted; one that is held stays down.
        let _started = self.start();
        self.settled().await;
        self.status()
    }

    /// Its tools, by the names under which the model calls them.
    pub(crate) fn offered(&self) -> BTreeMap<String, (String, Arc<OfferedTool>)> {
        let catalog = self.catalog();
        let named = catalog.tools.iter().map(|(tool, offered)| {
            (tool_name(&self.spec.name, tool), (tool.clone(), Arc::clone(offered)))
        });
        named.collect()
    }
}

/// The login at a server, unless its entry has other means, or a token would not be safe on the way there.
fn login_at(spec: &ServerSpec, setup: &McpSetup) -> Option<Arc<ServerLogin>> {
    let Transport::Http { url, headers, oauth } = &spec.transport else { return None };
    let has_own = headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
    let store = setup.tokens.clone().filter(|_| !has_own && is_protected(url))?;
    Some(Arc::new(ServerLogin::new(store, &spec.name, url, oauth.clone())))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
