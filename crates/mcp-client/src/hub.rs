//! All servers of a session: started at once, asked for their tools, told apart from what the model was told.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use dormouse_conversation::PromptSize;
use dormouse_conversation::known_tools::MCP_CALL;
use futures_util::future::join_all;
use rmcp::model::JsonObject;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::elicitation::UserQuestions;
use crate::oauth::TokenStore;
use crate::server::{McpServer, NOT_ALLOWED, ServerStatus};
use crate::server_spec::ServerSpec;
use crate::setup::McpSetup;
use crate::tools::{McpCall, McpTool};
use dormouse_permissions::MCP_TOOL_PREFIX;
use dormouse_tools::{Tool, ToolError, ToolOutput, ToolSet, ToolSpec, definition};

/// The most that is told of tools that came later, in characters for each server.
const LATER_CHARS: usize = 12_000;

/// The servers of a session.
pub struct McpHub {
    servers: BTreeMap<String, Arc<McpServer>>,
    setup: Arc<McpSetup>,
    changes: watch::Sender<()>,
}

/// How a server stands, for people.
#[derive(Debug, Clone)]
pub struct ServerView {
    /// What it was set up as.
    pub spec: ServerSpec,
    /// Whether it can be called.
    pub status: ServerStatus,
    /// The revision of the protocol; empty before it has answered.
    pub revision: String,
    /// What it calls itself.
    pub software: String,
    /// Its tools, as the model calls them.
    pub tools: Vec<String>,
    /// Tools that were left out, and why.
    pub left_out: Vec<String>,
    /// What last went wrong with it.
    pub last_error: Option<String>,
}

impl McpHub {
    /// These servers, none of them started.
    pub fn new(specs: Vec<ServerSpec>, setup: McpSetup) -> Self {
        Self::with_setup(specs, Arc::new(setup))
    }

    fn with_setup(specs: Vec<ServerSpec>, setup: Arc<McpSetup>) -> Self {
        let (changes, _) = watch::channel(());
        let server = |spec: ServerSpec| {
            let name = spec.name.clone();
            (name, Arc::new(McpServer::new(spec, Arc::clone(&setup), changes.clone())))
        };
        let servers = specs.into_iter().map(server).collect();
        Self { servers, setup, changes }
    }

    /// Tells when a server has connected or changed what it offers, from now on.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.changes.subscribe()
    }

    /// Where the tokens of the user's logins are.
    pub fn tokens(&self) -> Option<TokenStore> {
        self.setup.tokens.clone()
    }

    /// How servers ask the user.
    pub fn questions(&self) -> UserQuestions {
        self.setup.questions.clone()
    }

    pub(crate) fn servers(&self) -> impl Iterator<Item = &Arc<McpServer>> {
        self.servers.values()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Starts all of them, side by side.
    pub fn start(&self) {
        for server in self.servers.values() {
            // The first start is never one too many.
            let _started = server.start();
        }
    }

    /// Nobody starts these until they are admitted. None of them may have been started.
    pub fn hold(&self, names: &[String]) {
        for server in names.iter().filter_map(|name| self.servers.get(name)) {
            server.hold();
        }
    }

    /// Starts these, which were held.
    pub fn admit(&self, names: &[String]) {
        for server in names.iter().filter_map(|name| self.servers.get(name)) {
            // The first start is never one too many.
            let _started = server.admit();
        }
    }

    /// Waits until each is known to be there or not, but no longer than this.
    pub async fn settled(&self, patience: Duration) {
        let all = join_all(self.servers.values().map(|server| server.settled()));
        let _patience = tokio::time::timeout(patience, all).await;
    }

    /// Whether one has not answered yet.
    pub fn is_waiting(&self) -> bool {
        self.servers.values().any(|server| server.status() == ServerStatus::Connecting)
    }

    /// Other servers with the same set-up, such as an agent's own. Nobody starts them, or ends them, but who asked.
    #[must_use]
    pub fn beside(&self, specs: Vec<ServerSpec>) -> Self {
        Self::with_setup(specs, Arc::clone(&self.setup))
    }

    /// The tools of one server as they are now; none if there is no such server.
    pub fn tools_of(&self, name: &str) -> Option<Vec<Arc<dyn Tool>>> {
        self.servers.get(name).map(tools_of)
    }

    /// Calls a tool of a server, by its own name; none if there is no such server. Dropping the call tells the server.
    pub async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: JsonObject,
    ) -> Option<Result<ToolOutput, ToolError>> {
        let server = self.servers.get(server)?;
        Some(server.call(tool, arguments, &CancellationToken::new()).await)
    }

    /// Ends all of them, side by side, and waits for that.
    pub async fn close(&self) {
        join_all(self.servers.values().map(|server| server.close())).await;
    }

    /// Ends one and starts it again; none if there is none of that name.
    pub async fn reconnect(&self, name: &str) -> Option<ServerStatus> {
        Some(self.servers.get(name)?.reconnect().await)
    }

    /// How they stand, in the order of their names.
    pub fn views(&self) -> Vec<ServerView> {
        let view = |server: &Arc<McpServer>| {
            let catalog = server.catalog();
            ServerView {
                spec: server.spec.clone(),
                status: server.status(),
                revision: catalog.revision.clone(),
                software: catalog.software.clone(),
                tools: server.offered().into_keys().collect(),
                left_out: catalog.left_out.clone(),
                last_error: server.last_error(),
            }
        };
        self.servers.values().map(view).collect()
    }

    /// The tools of all servers as they are now, and the one through which those that come later are called.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(McpCall::new(self.servers.clone()))];
        tools.extend(self.servers.values().flat_map(tools_of));
        tools
    }

    /// The tools of these servers that a conversation was told of earlier, as it was told: by name, description and
    /// schema. What is not a tool of theirs any more is left out.
    pub fn tools_as_told<'a>(
        &self,
        told: impl IntoIterator<Item = (&'a str, &'a str, &'a str)>,
    ) -> Vec<Arc<dyn Tool>> {
        let now: BTreeMap<String, Arc<dyn Tool>> =
            self.tools().into_iter().map(|tool| (tool.name().to_owned(), tool)).collect();
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for (name, description, schema) in told {
            let Some(tool) = now.get(name) else { continue };
            match self.mcp_tool(name).filter(|_| !reads_as(&**tool, description, schema)) {
                Some(other) => tools.push(Arc::new(other.told_as(description, schema))),
                None => tools.push(Arc::clone(tool)),
            }
        }
        tools
    }

    fn mcp_tool(&self, name: &str) -> Option<McpTool> {
        self.servers.values().find_map(|server| {
            let (tool, offered) = server.offered().remove(name)?;
            Some(McpTool::new(Arc::clone(server), tool, name.to_owned(), &offered))
        })
    }

    /// What each server says about its use, by name; those that say nothing are left out.
    pub fn instructions(&self) -> Vec<(String, String)> {
        let said = self
            .servers
            .values()
            .map(|server| (server.spec.name.clone(), server.catalog().instructions.clone()));
        said.filter(|(_, text)| !text.is_empty()).collect()
    }

    /// How each server stands beside what a conversation has in its list of tools, by name.
    pub fn standing(&self, listed: &ToolSet) -> Vec<(String, String)> {
        let servers = self.servers.values();
        servers.map(|server| (server.spec.name.clone(), standing(server, listed))).collect()
    }
}

impl fmt::Debug for McpHub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.servers.keys()).finish()
    }
}

fn tools_of(server: &Arc<McpServer>) -> Vec<Arc<dyn Tool>> {
    let offered = server.offered().into_iter();
    let tools = offered.map(|(name, (tool, offered))| {
        Arc::new(McpTool::new(Arc::clone(server), tool, name, &offered)) as Arc<dyn Tool>
    });
    tools.collect()
}

/// Whether a tool reads as a conversation was told, in either size.
fn reads_as(tool: &dyn Tool, description: &str, schema: &str) -> bool {
    [PromptSize::Full, PromptSize::Short].into_iter().any(|size| {
        let now = definition(tool, size);
        now.description == description && now.input_schema.get() == schema
    })
}

/// A server's state, and how its tools differ from those in the list.
fn standing(server: &McpServer, listed: &ToolSet) -> String {
    let name = &server.spec.name;
    let mut lines = vec![match server.status() {
        ServerStatus::Connecting => "still starting; its tools are told when it answers".to_owned(),
        ServerStatus::Connected => "connected".to_owned(),
        ServerStatus::Down(reason) if reason == NOT_ALLOWED => format!("not started: {reason}"),
        ServerStatus::Down(reason) => format!("not connected: {reason}; a call starts it again"),
    }];
    let offered = server.offered();
    let prefix = format!("{MCP_TOOL_PREFIX}{name}__");
    let known = server.status() == ServerStatus::Connected || !offered.is_empty();
    let gone: Vec<&str> = listed
        .names()
        .filter(|listed| known && listed.starts_with(&prefix) && !offered.contains_key(*listed))
        .collect();
    if !gone.is_empty() {
        lines.push(format!(
            "Gone since your list of tools was made, a call fails: {}",
            gone.join(", ")
        ));
    }
    let door = listed.get(MCP_CALL.name);
    lines.extend(door.and_then(|door| later(name, server, listed, &**door)));
    lines.join("\n")
}

/// Tools that are not in the list, or otherwise there, as far as they can be called.
fn later(name: &str, server: &McpServer, listed: &ToolSet, door: &dyn Tool) -> Option<String> {
    let mut text = String::new();
    let mut left_out = 0;
    for (called, (tool, offered)) in server.offered() {
        let known = listed.get(&called).is_some_and(|listed| same(listed.spec(), &offered));
        if known || !door.reaches(&called) {
            continue;
        }
        let entry = format!("- {tool}: {}\n  arguments: {}\n", offered.description, offered.schema);
        if text.len() + entry.len() > LATER_CHARS {
            left_out += 1;
        } else {
            text.push_str(&entry);
        }
    }
    if left_out > 0 {
        text.push_str(&format!("- {left_out} more, for which there is no room here\n"));
    }
    (!text.is_empty()).then(|| {
        format!(
            "New or changed since your list of tools was made; call them with {} {{\"server\": \"{name}\", \
             \"tool\": …, \"arguments\": …}}:\n{}",
            MCP_CALL.name,
            text.trim_end()
        )
    })
}

fn same(listed: &ToolSpec, now: &crate::catalog::OfferedTool) -> bool {
    listed.full == now.description && listed.schema == now.schema
}
