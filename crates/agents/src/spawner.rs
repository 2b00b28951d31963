//! Where agents of one conversation are started: the tool Agent, and the way back of what runs in the background.
//!
//! Every conversation has a spawner of its own, agents too: what branches off does so from the conversation that called,
//! and what comes back goes there.

use std::sync::{Arc, Mutex, PoisonError};

use dormouse_engine::{
    EngineConfig, ForkPoint, ForkPoints, IncomingMessage, IncomingMessageSource,
};
use dormouse_permissions::Access;
use dormouse_tools::{CallContext, Tool, ToolError, ToolOutput, ToolSpec};
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;
use tokio::sync::watch;

use crate::agent_list::agent_list;
use crate::execution::{ProgressOutput, SubagentOutcome, work};
use crate::messages::{
    Address, AgentName, MessageQueue, MessageSender, NameTakenError, SendMessage,
};
use crate::preparation::{PreparedSubagent, prepare};
use crate::registry::{AgentListPosition, MessageRouting, SubagentRegistry};
use crate::tool_input::{AGENT_TOOL, AgentToolInput, spec};

/// Starts the agents of one conversation.
pub struct SubagentSpawner {
    pub(crate) registry: Arc<SubagentRegistry>,
    branches: ForkPoints,
    /// Where messages for it wait.
    room: MessageQueue,
    /// Where it is reached from outside the project, if anywhere.
    reply_to: Option<Address>,
    results: Mutex<Vec<IncomingMessage>>,
    /// How many run in the background.
    under_way: watch::Sender<usize>,
    forks: Mutex<Option<ForkGroup>>,
}

/// The forks of one answer: the first goes ahead.
struct ForkGroup {
    branch: Arc<ForkPoint>,
    begun: watch::Receiver<bool>,
}

/// A fork's place among those of its answer.
pub(crate) enum ForkPosition {
    /// It is alone, or goes ahead and says when its stream has begun.
    First(watch::Sender<bool>),
    /// It waits for that: only then is what they share in the cache.
    Later(watch::Receiver<bool>),
}

impl SubagentSpawner {
    /// A spawner for a conversation, under the name that messages reach it by.
    pub fn new(
        registry: Arc<SubagentRegistry>,
        name: &AgentName,
        reply_to: Option<Address>,
    ) -> Result<Arc<Self>, NameTakenError> {
        let room = registry.setup.routing.router.open(name)?;
        Ok(Arc::new(Self {
            registry,
            branches: ForkPoints::of_tool(AGENT_TOOL),
            room,
            reply_to,
            results: Mutex::default(),
            under_way: watch::Sender::new(0),
            forks: Mutex::default(),
        }))
    }

    /// The conversation is over. What it would start agents from is let go, and with it the name.
    pub(crate) fn close(&self) {
        self.branches.clear();
        *self.forks.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Gives a conversation the tools, the list, and the way back.
    pub fn configure(self: &Arc<Self>, config: &mut EngineConfig) {
        self.configure_messages(config);
        let list = (self.registry.setup.list_in == AgentListPosition::Description)
            .then(|| agent_list(&self.registry.agents(), config.model.budget.prompt.size));
        let tool: Arc<dyn Tool> =
            Arc::new(AgentTool { spawner: Arc::clone(self), spec: spec(list) });
        config.tools.set = Arc::new(config.tools.set.as_ref().clone().with([tool]));
        config.extensions.fork_points = Some(self.branches.clone());
        config.extensions.announcers.push(Arc::clone(&self.registry) as _);
    }

    /// Messages alone, for a conversation that starts no agents.
    pub(crate) fn configure_messages(self: &Arc<Self>, config: &mut EngineConfig) {
        let MessageRouting { router, mailboxes } = self.registry.setup.routing.clone();
        let from = self.room.name().clone();
        let routes = MessageSender { from, reply_to: self.reply_to.clone(), router, mailboxes };
        let tool = SendMessage::new(routes, Arc::clone(&self.registry.setup.ids));
        config.tools.set =
            Arc::new(config.tools.set.as_ref().clone().with([Arc::new(tool) as Arc<dyn Tool>]));
        config.extensions.message_sources.push(Arc::clone(self) as _);
    }

    pub(crate) fn place(&self, branch: &Arc<ForkPoint>) -> ForkPosition {
        let mut forks = self.forks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(group) = forks.as_ref().filter(|group| Arc::ptr_eq(&group.branch, branch)) {
            return ForkPosition::Later(group.begun.clone());
        }
        let (sender, begun) = watch::channel(false);
        *forks = Some(ForkGroup { branch: Arc::clone(branch), begun });
        ForkPosition::First(sender)
    }

    async fn start(
        self: &Arc<Self>,
        order: AgentToolInput,
        context: &CallContext,
    ) -> Result<ToolOutput, ToolError> {
        let failed = |message: String| ToolError::Failed { message };
        let branch = self.branches.newest().ok_or_else(|| {
            failed("no agent can be started here: the conversation was not found".to_owned())
        })?;
        let prepared = prepare(self, &branch, &order).await.map_err(failed)?;
        if prepared.background {
            return Ok(ToolOutput::text(self.in_background(&branch, prepared)));
        }
        let watcher = ProgressOutput::of_call(context);
        let ended = work(&self.registry, prepared, &context.cancel, watcher).await;
        if context.cancel.is_cancelled() {
            return Err(ToolError::Interrupted { partial: ended.text });
        }
        if ended.is_error { Err(failed(ended.text)) } else { Ok(ToolOutput::text(ended.text)) }
    }

    /// Lets it work beside the conversation; says so to the model.
    fn in_background(self: &Arc<Self>, branch: &ForkPoint, prepared: PreparedSubagent) -> String {
        let (name, id) = (prepared.run.name.clone(), prepared.run.id);
        self.under_way.send_modify(|count| *count += 1);
        let spawner = Arc::clone(self);
        let leaving = RunningGuard(Arc::clone(self));
        branch.jobs().spawn("agent", move |job| async move {
            let cancel = job.cancel.clone();
            let run = prepared.run.id;
            let ended =
                work(&spawner.registry, prepared, &cancel, ProgressOutput::of_job(&job)).await;
            spawner.bring(run, &ended);
            drop(leaving);
            ended.job_end()
        });
        format!(
            "Started in the background as `{name}` (agent {id}). Its result comes to you as a message when it is done. Until then go on with other work, or end your turn and tell the person what is under way; do not guess the result."
        )
    }

    fn bring(&self, run: dormouse_base::AgentId, ended: &SubagentOutcome) {
        let Some(run) = self.registry.runs.of(run) else { return };
        let arrival = ended.arrival(&run);
        self.results.lock().unwrap_or_else(PoisonError::into_inner).push(arrival);
    }
}

/// One of those in the background is no longer under way, however it ended.
struct RunningGuard(Arc<SubagentSpawner>);

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.0.under_way.send_modify(|count| *count = count.saturating_sub(1));
    }
}

impl IncomingMessageSource for SubagentSpawner {
    fn take(&self) -> Vec<IncomingMessage> {
        let results =
            std::mem::take(&mut *self.results.lock().unwrap_or_else(PoisonError::into_inner));
        results.into_iter().chain(self.room.take()).collect()
    }

    fn under_way(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            let mut count = self.under_way.subscribe();
            let before = *count.borrow_and_update();
            if before == 0 {
                return;
            }
            tokio::select! {
                // The sender lives as long as this.
                _ = count.wait_for(|now| *now < before) => {}
                () = self.room.wait() => {}
            }
        })
    }
}

struct AgentTool {
    spawner: Arc<SubagentSpawner>,
    spec: ToolSpec,
}

impl Tool for AgentTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    /// To start an agent changes nothing; what it does goes through a gate of its own.
    fn access(&self, _: &RawValue, _: &std::path::Path) -> Access {
        Access::Reads
    }

    fn call<'a>(
        &'a self,
        input: &'a RawValue,
        context: &'a CallContext,
    ) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async move { self.spawner.start(AgentToolInput::read(input)?, context).await })
    }
}
