//! The subagent spawner of one conversation: its message queue, the results of its background subagents, and the tools
//! that it adds to the conversation.
//!
//! Every conversation has its own spawner, subagents included: forks start from the conversation that called the tool,
//! and results return to it.

use std::sync::{Arc, Mutex, PoisonError};

use dormouse_engine::{
    EngineConfig, ForkPoint, ForkPoints, IncomingMessage, IncomingMessageSource,
};
use dormouse_permissions::PermissionGate;
use dormouse_tools::{Tool, ToolSpec};
use futures_util::future::BoxFuture;
use tokio::sync::watch;

use crate::agent_list::agent_list;
use crate::fork_sequence::ForkSequence;
use crate::messages::{
    Address, AgentMessageQueue, AgentName, MessageSender, NameTakenError, OpenRequests,
    ResponseStanding, SendMessage, SentMessage, ShutdownAgreement, incoming_message,
};
use crate::registry::{AgentListPosition, MessageRouting, SubagentRegistry};
use crate::tool_input::{AGENT_TOOL, spec};

/// Creates the Agent tool of a spawner.
type CreateTool = fn(Arc<SubagentSpawner>, ToolSpec) -> Arc<dyn Tool>;

/// Starts the subagents of one conversation.
pub struct SubagentSpawner {
    pub(crate) registry: Arc<SubagentRegistry>,
    create_tool: CreateTool,
    branches: ForkPoints,
    messages: AgentMessageQueue,
    /// The requests that the conversation has sent.
    requests: Arc<OpenRequests>,
    /// The gate of a subagent that plans until its leader approves.
    planning: Mutex<Option<PlanningMember>>,
    /// Whether a subagent has agreed to end; the session itself ends only by its user.
    shutdown: Option<Arc<ShutdownAgreement>>,
    /// The address for replies from outside the project.
    reply_to: Option<Address>,
    results: Mutex<Vec<IncomingMessage>>,
    /// The number of background subagents.
    running: watch::Sender<usize>,
    pub(crate) forks: ForkSequence,
}

/// A subagent in plan mode of its own.
struct PlanningMember {
    leader: AgentName,
    gate: PermissionGate,
}

impl SubagentSpawner {
    pub(crate) fn new(
        registry: Arc<SubagentRegistry>,
        name: &AgentName,
        reply_to: Option<Address>,
        shutdown: Option<Arc<ShutdownAgreement>>,
        create_tool: CreateTool,
    ) -> Result<Arc<Self>, NameTakenError> {
        let messages = registry.setup.routing.router.open(name)?;
        Ok(Arc::new(Self {
            registry,
            create_tool,
            branches: ForkPoints::of_tool(AGENT_TOOL),
            messages,
            requests: Arc::default(),
            planning: Mutex::default(),
            shutdown,
            reply_to,
            results: Mutex::default(),
            running: watch::Sender::new(0),
            forks: ForkSequence::default(),
        }))
    }

    /// Creates the spawner of a subagent.
    pub(crate) fn for_subagent(&self, name: &AgentName) -> Result<Arc<Self>, NameTakenError> {
        Self::new(Arc::clone(&self.registry), name, None, Some(Arc::default()), self.create_tool)
    }

    /// Releases the fork points when the conversation is over; they hold its configuration and, through the tools, this
    /// spawner with its name.
    pub(crate) fn close(&self) {
        self.branches.clear();
        self.forks.clear();
    }

    /// Adds the `Agent` and `SendMessage` tools, the list of agents and the message source to a conversation.
    pub fn configure(self: &Arc<Self>, config: &mut EngineConfig) {
        self.configure_messages(config);
        let list = (self.registry.setup.list_in == AgentListPosition::Description)
            .then(|| agent_list(&self.registry.agents(), config.model.budget.prompt.size));
        let tool = (self.create_tool)(Arc::clone(self), spec(list));
        config.tools.set = Arc::new(config.tools.set.as_ref().clone().with([tool]));
        config.extensions.fork_points = Some(self.branches.clone());
        config.extensions.announcers.push(Arc::clone(&self.registry) as _);
    }

    /// Adds messages only, for a conversation that may not start subagents.
    pub(crate) fn configure_messages(self: &Arc<Self>, config: &mut EngineConfig) {
        let MessageRouting { router, mailboxes } = self.registry.setup.routing.clone();
        let from = self.messages.name().clone();
        let sender = MessageSender { from, reply_to: self.reply_to.clone(), router, mailboxes };
        let ids = Arc::clone(&self.registry.setup.ids);
        let tool = SendMessage::new(sender, ids, Arc::clone(&self.requests), self.shutdown.clone());
        config.tools.set =
            Arc::new(config.tools.set.as_ref().clone().with([Arc::new(tool) as Arc<dyn Tool>]));
        config.extensions.message_sources.push(Arc::clone(self) as _);
    }

    /// Then nothing keeps it going any more.
    fn has_agreed_to_end(&self) -> bool {
        self.shutdown.as_ref().is_some_and(|shutdown| shutdown.agreed().is_some())
    }

    /// The conversation is a subagent's that only plans; it may do more once its leader has approved a plan of its.
    pub(crate) fn plan_until_approved(&self, leader: &Self, gate: &PermissionGate) {
        let member = PlanningMember { leader: leader.messages.name().clone(), gate: gate.clone() };
        *self.planning.lock().unwrap_or_else(PoisonError::into_inner) = Some(member);
    }

    /// Reads a message; the leader's approval of a plan ends plan mode.
    fn receive(&self, message: &SentMessage) -> IncomingMessage {
        let standing = self.requests.settle(&message.draft);
        if standing == ResponseStanding::Expected && message.draft.content.approves_plan() {
            let mut planning = self.planning.lock().unwrap_or_else(PoisonError::into_inner);
            let approved = planning.take_if(|member| member.leader == message.draft.from);
            if let Some(PlanningMember { gate, .. }) = approved {
                gate.take_mode_of_session();
            }
        }
        incoming_message(message, standing)
    }

    pub(crate) fn fork_point(&self) -> Option<Arc<ForkPoint>> {
        self.branches.newest()
    }

    /// Counts a background subagent as running until the guard is dropped.
    pub(crate) fn count_running(self: &Arc<Self>) -> RunningGuard {
        self.running.send_modify(|count| *count += 1);
        RunningGuard(Arc::clone(self))
    }

    /// Queues the result of a background subagent for the conversation.
    pub(crate) fn add_result(&self, result: IncomingMessage) {
        self.results.lock().unwrap_or_else(PoisonError::into_inner).push(result);
    }
}

/// Counts a background subagent as running.
pub(crate) struct RunningGuard(Arc<SubagentSpawner>);

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.0.running.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl IncomingMessageSource for SubagentSpawner {
    fn take(&self) -> Vec<IncomingMessage> {
        if self.has_agreed_to_end() {
            return Vec::new();
        }
        let results =
            std::mem::take(&mut *self.results.lock().unwrap_or_else(PoisonError::into_inner));
        let messages = self.messages.take_messages();
        let messages = messages.iter().map(|message| self.receive(message));
        results.into_iter().chain(messages).collect()
    }

    fn under_way(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let mut count = self.running.subscribe();
            let before = *count.borrow_and_update();
            if before == 0 || self.has_agreed_to_end() {
                return;
            }
            tokio::select! {
                // The sender lives as long as `self`.
                _ = count.wait_for(|now| *now < before) => {}
                () = self.messages.wait() => {}
            }
        })
    }
}
