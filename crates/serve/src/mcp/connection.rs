//! The connection of one client: answers its requests and notifies it of changes.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    Prompt, PromptMessage, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    ResourceUpdatedNotificationParam, Role, ServerCapabilities, ServerConfig,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, Peer, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::task::{JoinSet, spawn_blocking};

use super::resources;
use super::server::MemoryServer;
use super::snapshot::Snapshot;
use super::tools::{ServedTool, ToolAnswer, ToolCallError};
use super::watch::MemoryChanges;
use crate::memories::{Client, ClientMemories};

/// The prompt that carries the rules.
const RULES: &str = "memory_rules";
const RULES_ABOUT: &str =
    "What memory is for, what goes into it and what does not, how far to trust it";

const INSTRUCTIONS: &str = "\
A memory that outlasts this conversation and is shared with the user's other agents: markdown files about who the \
user is (`user`), how they want work done (`feedback`), what is going on that code and git do not tell (`project`), \
and where to look (`reference`). Call memory_recall with the task at hand when you begin, memory_search when asked \
what is known, memory_save when asked to remember or when you learn something that later conversations need. Never \
save secrets, what the code says, or the state of the task at hand. A memory is a claim about the past: check what it \
says about code before you act on it, and correct or remove it when it is wrong. The prompt `memory_rules` says more.";

const OFF: &str =
    "Memory is turned off in the settings: there is nothing here until the user turns it on.";

/// A client's connection.
pub(super) struct ClientConnection {
    server: Arc<MemoryServer>,
    /// The addresses that a client of the older protocol is subscribed to.
    subscribed: Arc<Mutex<BTreeSet<String>>>,
    telling: Mutex<JoinSet<()>>,
    /// The snapshot from when a subscription of the newer protocol was accepted.
    seen: Mutex<Option<Arc<Snapshot>>>,
}

impl ClientConnection {
    pub(super) fn new(server: Arc<MemoryServer>) -> Self {
        Self {
            server,
            subscribed: Arc::default(),
            telling: Mutex::default(),
            seen: Mutex::default(),
        }
    }

    /// Runs work on the memories on a blocking thread.
    async fn with_memories<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ClientMemories) -> T + Send + 'static,
    ) -> Result<T, ErrorData> {
        let source = self.server.source.as_ref();
        let source = source.ok_or_else(|| ErrorData::internal_error(OFF, None))?;
        let memories = source.get().await;
        let memories =
            memories.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let done = spawn_blocking(move || work(&memories)).await;
        done.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }

    fn tool(&self, name: &str) -> Result<&'static ServedTool, ErrorData> {
        let tool = self.server.tools.iter().find(|tool| tool.name == name);
        tool.copied().ok_or_else(|| {
            let name = dormouse_base::printable(name);
            ErrorData::invalid_params(
                format!("there is no tool `{name}`; tools/list names them"),
                None,
            )
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn client_of(context: &RequestContext<RoleServer>) -> Client {
    let info = context.client_info();
    Client::named(info.as_ref().map_or("", |info| info.name.as_str()))
}

/// A failed call is a result too: the model reads it and can try again.
fn result(answer: Result<ToolAnswer, ToolCallError>) -> CallToolResult {
    match answer {
        Ok(ToolAnswer { text, data }) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = data;
            result
        }
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
    }
}

impl ServerHandler for ClientConnection {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_prompts()
            .enable_resources()
            .enable_resources_list_changed()
            .enable_resources_subscribe()
            .build();
        let about = Implementation::new("dormouse", env!("CARGO_PKG_VERSION"));
        let said = if self.server.source.is_some() { INSTRUCTIONS } else { OFF };
        ServerConfig::new(capabilities).with_server_info(about).with_instructions(said)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.server.tools.iter().map(|tool| tool.definition()).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let tool = self.tool(&request.name)?;
        let client = client_of(&context);
        let arguments = request.arguments.unwrap_or_default();
        let answer = self.with_memories(move |memories| tool.run(memories, &client, arguments));
        Ok(result(answer.await?).into())
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if self.server.source.is_none() {
            return Ok(ListResourcesResult::default());
        }
        let cursor = request.and_then(|request| request.cursor);
        let listed =
            self.with_memories(move |memories| resources::list(memories, cursor.as_deref()));
        Ok(listed.await??.with_cache_scope(CacheScope::Private))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(ListResourceTemplatesResult::with_all_items(vec![resources::template()]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.with_memories(move |memories| resources::read(memories, &request.uri));
        let contents = read.await??;
        Ok(ReadResourceResult::new(vec![contents]).with_cache_scope(CacheScope::Private).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let rules = || Prompt::new(RULES, Some(RULES_ABOUT), None).with_title("Rules about memory");
        let prompts = self.server.source.iter().map(|_| rules()).collect();
        Ok(ListPromptsResult::with_all_items(prompts))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        if request.name != RULES {
            let said = format!("there is no such prompt; there is `{RULES}`");
            return Err(ErrorData::invalid_params(said, None));
        }
        let rules = self.with_memories(ClientMemories::rules).await?;
        let message = PromptMessage::new_text(Role::User, rules);
        Ok(GetPromptResult::new(vec![message]).with_description(RULES_ABOUT).into())
    }

    /// The older protocol: every client is notified of changes to the list and to its subscriptions.
    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let (server, subscribed) = (Arc::clone(&self.server), Arc::clone(&self.subscribed));
        lock(&self.telling).spawn(async move {
            let Some(mut following) = server.watch.follow(None).await else { return };
            while let Some(changes) = following.next().await {
                if tell(&context.peer, &changes, &subscribed).await.is_err() {
                    return;
                }
            }
        });
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.with_memories(|_| ()).await?;
        lock(&self.subscribed).insert(request.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        lock(&self.subscribed).remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        asked: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        *lock(&self.seen) = self.server.watch.latest();
        Some(asked.clone())
    }

    /// The newer protocol: a client is notified while it listens.
    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        // Without a snapshot, everything may be new to the client.
        let since = lock(&self.seen).take().unwrap_or_default();
        self.with_memories(|_| ()).await?;
        let watch = &self.server.watch;
        let Some(mut following) = watch.follow(Some(since)).await else { return Ok(()) };
        let sink = context.sink();
        let subscribed = sink.accepted().resource_subscriptions.clone().unwrap_or_default();
        loop {
            let changes = tokio::select! {
                () = context.cancelled() => return Ok(()),
                changes = following.next() => changes,
            };
            let Some(changes) = changes else { return Ok(()) };
            let gone = |error| ErrorData::internal_error(format!("{error}"), None);
            if changes.list && sink.accepted().resources_list_changed == Some(true) {
                sink.notify_resource_list_changed().await.map_err(gone)?;
            }
            for uri in changes.updated.into_iter().filter(|uri| subscribed.contains(uri)) {
                sink.notify_resource_updated(uri).await.map_err(gone)?;
            }
        }
    }
}

async fn tell(
    peer: &Peer<RoleServer>,
    changes: &MemoryChanges,
    subscribed: &Mutex<BTreeSet<String>>,
) -> Result<(), rmcp::ServiceError> {
    if changes.list {
        peer.notify_resource_list_changed().await?;
    }
    let subscribed = lock(subscribed).clone();
    for uri in changes.updated.iter().filter(|uri| subscribed.contains(*uri)) {
        peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await?;
    }
    Ok(())
}
