//! Runs the hooks of one event: selects them, runs them in parallel, and merges their responses in order.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dormouse_base::{Deadlines, Dir, IdSource, Redactor, SessionId};
use dormouse_conversation::Effort;
use dormouse_permissions::PermissionGate;
use dormouse_tools::ToolSet;
use futures_util::future::{BoxFuture, join_all};
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use crate::background::{BackgroundHook, BackgroundHooks};
use crate::config::{Hook, HookId, Hooks};
use crate::event::{BlockEffect, HookEvent};
use crate::execute::{HookEnvironment, HookExecutor, short_name};
use crate::handler::{HookHandler, WaitMode};
use crate::input::{CommonInput, EffortInput, EventInput, render};
use crate::mcp_tool::HookServers;
use crate::model_check::HookModel;
use crate::origin::{HookLayer, HookOrigin};
use crate::pending::{HookNotice, PendingOutput};
use crate::response::{AsyncRequest, HookPermission, HookResponse};
use crate::sanitize::sanitize;
use crate::selection::{are_duplicates, condition_matches};
use crate::watch::FileWatch;

/// The merged responses of all hooks of an event.
#[derive(Debug, Default)]
pub struct HookVerdict {
    /// Why the action is blocked.
    pub block: Option<String>,
    /// Why the turn is to end.
    pub halt: Option<String>,
    /// Text for the model.
    pub notes: Vec<String>,
    /// The title of the session.
    pub title: Option<String>,
    pub(crate) permission: Option<HookPermission>,
    pub(crate) input: Option<Box<RawValue>>,
    pub(crate) output: Option<Box<RawValue>>,
    pub(crate) retry: bool,
    pub(crate) initial_messages: Vec<String>,
}

/// The session as hooks see it.
#[derive(Debug, Clone)]
pub struct HookSession {
    /// The session's id. A subagent's hooks get the id of the session it belongs to.
    pub id: SessionId,
    /// The session's transcript.
    pub transcript: PathBuf,
    /// The session's own folder, for output that is too long to show.
    pub own_folder: Dir,
    /// The subagent whose hooks these are; `None` for the main conversation.
    pub subagent: Option<HookSubagent>,
}

/// A subagent as hooks see it.
#[derive(Debug, Clone)]
pub struct HookSubagent {
    /// The agent's id.
    pub id: String,
    /// The name of its definition.
    pub agent_type: String,
    /// Its own transcript.
    pub transcript: PathBuf,
}

/// Everything a [`crate::HookRunner`] needs besides the hooks.
pub struct HookRunnerParts {
    /// The session.
    pub session: HookSession,
    /// Where commands run.
    pub environment: HookEnvironment,
    /// Answers hooks of the kinds `prompt` and `agent`.
    pub model: Arc<dyn HookModel>,
    /// Whose tools hooks of the kind `mcp_tool` call; none in a conversation without MCP servers.
    pub servers: Option<Arc<dyn HookServers>>,
    /// The tools of the session, for `if` rules.
    pub tools: Arc<ToolSet>,
    /// The permission gate, for the current mode.
    pub gate: PermissionGate,
    /// Removes secrets from hook output.
    pub redactor: Redactor,
    /// Source of message ids.
    pub ids: Arc<dyn IdSource>,
    /// The hooks of the whole session that run in the background.
    pub background: BackgroundHooks,
    /// How long the end of the session waits.
    pub deadlines: Deadlines,
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the hooks of an event.
#[derive(Debug)]
pub(crate) struct HookDispatcher {
    /// The configured hooks and those of skills in use.
    active: Mutex<Arc<Hooks>>,
    configured: Arc<Hooks>,
    pub(crate) session: HookSession,
    executor: Arc<HookExecutor>,
    tools: Arc<ToolSet>,
    gate: PermissionGate,
    redactor: Redactor,
    pub(crate) pending: Arc<PendingOutput>,
    /// Hooks that run in the background, of the whole session.
    pub(crate) background: BackgroundHooks,
    pub(crate) deadlines: Deadlines,
    /// Hooks with `once` that have run.
    ran_once: Mutex<HashSet<HookId>>,
    pub(crate) watch: Arc<Mutex<FileWatch>>,
    /// The id of the user's prompt that is being worked on.
    prompt_id: Mutex<Option<String>>,
}

impl HookDispatcher {
    pub(crate) fn new(hooks: Arc<Hooks>, parts: HookRunnerParts) -> Self {
        let HookRunnerParts { session, environment, model, servers, tools, gate, .. } = parts;
        let HookRunnerParts { redactor, ids, background, deadlines, .. } = parts;
        let mut watch = FileWatch::new(&hooks.settings);
        watch.add(hooks.watched_names().map(PathBuf::from), &environment.folder);
        let pending = PendingOutput::new(ids);
        if session.subagent.is_none() {
            background.belong_to(&pending);
        }
        Self {
            active: Mutex::new(Arc::clone(&hooks)),
            configured: hooks,
            session,
            executor: Arc::new(HookExecutor { environment, model, servers }),
            tools,
            gate,
            redactor,
            pending,
            background,
            deadlines,
            ran_once: Mutex::default(),
            watch: Arc::new(Mutex::new(watch)),
            prompt_id: Mutex::default(),
        }
    }

    /// The user has sent a prompt, and the model is to think this hard from here on.
    pub(crate) fn begin_prompt(&self, effort: Option<Effort>) {
        self.pending.reset_rewakes();
        *lock(&self.prompt_id) = Some(self.pending.new_id());
        self.executor.environment.set_effort(effort);
    }

    /// The hooks that currently apply.
    pub(crate) fn hooks(&self) -> Arc<Hooks> {
        Arc::clone(&lock(&self.active))
    }

    /// Adds the hooks of a skill until [`Self::remove_skill_hooks`].
    pub(crate) fn add_skill_hooks(&self, layer: HookLayer) {
        let (hooks, problems) = self.hooks().with([layer]);
        *lock(&self.active) = Arc::new(hooks);
        for problem in problems {
            self.notice(format!("invalid hook, not run: {problem}"));
        }
    }

    pub(crate) fn remove_skill_hooks(&self) {
        *lock(&self.active) = Arc::clone(&self.configured);
    }

    /// Queues a message for the user.
    pub(crate) fn notice(&self, notice: String) {
        self.pending.notice(notice);
    }

    /// Runs the hooks of an event and waits for those that are not asynchronous.
    pub(crate) fn fire<'a>(
        &'a self,
        event: HookEvent,
        details: EventInput<'a>,
    ) -> BoxFuture<'a, HookVerdict> {
        Box::pin(async move {
            let hooks = self.select(event, &details);
            if hooks.is_empty() {
                return HookVerdict::default();
            }
            let input: Arc<[u8]> = render(&self.common_input(event), &details).into();
            let responses = hooks.iter().map(|hook| self.run(event, hook, &input));
            let responses = join_all(responses).await;
            let mut verdict = HookVerdict::default();
            for response in responses {
                self.merge(event, &mut verdict, response);
            }
            verdict
        })
    }

    /// Runs the hooks of an event without waiting for them.
    pub(crate) fn fire_in_background(&self, event: HookEvent, details: &EventInput<'_>) {
        let hooks = self.select(event, details);
        if hooks.is_empty() {
            return;
        }
        let input: Arc<[u8]> = render(&self.common_input(event), details).into();
        for hook in &hooks {
            self.run_in_background(event, hook, &input);
        }
    }

    /// The hooks to run now. Marks those with `once` as run and shows status messages.
    fn select(&self, event: HookEvent, details: &EventInput<'_>) -> Vec<Arc<Hook>> {
        let mut hooks = self.matching(event, details);
        hooks.retain(|hook| {
            let of_component =
                matches!(hook.source.origin, HookOrigin::Skill(_) | HookOrigin::Agent(_));
            let once = hook.handler.once && of_component;
            !once || lock(&self.ran_once).insert(hook.id.clone())
        });
        for status in hooks.iter().filter_map(|hook| hook.handler.status.clone()) {
            self.notice(status);
        }
        hooks
    }

    /// The hooks whose matcher and condition match, without duplicates.
    fn matching(&self, event: HookEvent, details: &EventInput<'_>) -> Vec<Arc<Hook>> {
        let mut chosen: Vec<Arc<Hook>> = Vec::new();
        for hook in self.hooks().of(event) {
            let is_duplicate = chosen.iter().any(|other| are_duplicates(other, hook));
            if !is_duplicate
                && hook.matcher.matches(details.subject())
                && self.condition_holds(hook, details)
            {
                chosen.push(Arc::clone(hook));
            }
        }
        chosen
    }

    fn condition_holds(&self, hook: &Hook, details: &EventInput<'_>) -> bool {
        let Some(rule) = &hook.handler.condition else { return true };
        let Some(call) = details.call() else { return false };
        condition_matches(rule, &self.tools, call, self.folder())
    }

    fn folder(&self) -> &Path {
        &self.executor.environment.folder
    }

    fn common_input(&self, event: HookEvent) -> CommonInput<'_> {
        let subagent = self.session.subagent.as_ref();
        CommonInput {
            session_id: self.session.id,
            transcript_path: &self.session.transcript,
            cwd: self.folder(),
            hook_event_name: event.name(),
            permission_mode: self.gate.mode().name(),
            prompt_id: lock(&self.prompt_id).clone(),
            effort: self.executor.environment.effort().map(|level| EffortInput { level }),
            agent_id: subagent.map(|subagent| subagent.id.as_str()),
            agent_type: subagent.map(|subagent| subagent.agent_type.as_str()),
        }
    }

    async fn run(&self, event: HookEvent, hook: &Arc<Hook>, input: &Arc<[u8]>) -> HookResponse {
        match hook.handler.wait_mode {
            WaitMode::Wait => self.run_and_wait(event, hook, input).await,
            WaitMode::Background | WaitMode::BackgroundRewake => {
                self.run_in_background(event, hook, input);
                HookResponse::default()
            }
        }
    }

    /// Waits for a hook, unless its first line asks to continue in the background. Dropping the future kills the hook.
    async fn run_and_wait(
        &self,
        event: HookEvent,
        hook: &Arc<Hook>,
        input: &Arc<[u8]>,
    ) -> HookResponse {
        let (request_async, async_requested) = oneshot::channel();
        let mut task = JoinSet::new();
        let executor = Arc::clone(&self.executor);
        let waited = Arc::clone(hook);
        let hook = Arc::clone(hook);
        let input = Arc::clone(input);
        task.spawn(async move {
            // The receiver is gone if the wait has ended.
            let on_async = |request| {
                let _receiver_gone = request_async.send(request);
            };
            executor.execute(event, &hook, &input, on_async).await
        });
        let response = tokio::select! {
            biased;
            response = join(&mut task) => response,
            Ok(request) = async_requested => {
                self.continue_in_background(event, &waited, task, request);
                HookResponse::default()
            }
        };
        sanitize(response, &self.redactor, &self.session.own_folder)
    }

    fn continue_in_background(
        &self,
        event: HookEvent,
        hook: &Hook,
        mut task: JoinSet<HookResponse>,
        request: AsyncRequest,
    ) {
        let pending = Arc::clone(&self.pending);
        let redactor = self.redactor.clone();
        let folder = self.session.own_folder.clone();
        self.background.spawn(background_hook(event, hook), async move {
            let limit = request.timeout().unwrap_or(Duration::MAX);
            // After its timeout a hook is dropped without a response.
            if let Ok(response) = tokio::time::timeout(limit, join(&mut task)).await {
                pending.finish(WaitMode::Background, sanitize(response, &redactor, &folder));
            }
        });
    }

    fn run_in_background(&self, event: HookEvent, hook: &Arc<Hook>, input: &Arc<[u8]>) {
        let executor = Arc::clone(&self.executor);
        let pending = Arc::clone(&self.pending);
        let hook = Arc::clone(hook);
        let input = Arc::clone(input);
        let redactor = self.redactor.clone();
        let folder = self.session.own_folder.clone();
        let watch = Arc::clone(&self.watch);
        pending.start(hook.handler.wait_mode);
        self.background.spawn(background_hook(event, &hook), async move {
            let mut response = executor.execute(event, &hook, &input, drop).await;
            let watch_paths = std::mem::take(&mut response.watch);
            lock(&watch).add(watch_paths, &executor.environment.folder);
            pending.finish(hook.handler.wait_mode, sanitize(response, &redactor, &folder));
        });
    }

    /// Adds a response to the verdict. A denial wins over `defer`, that over `ask`, `ask` over `allow`; of replaced arguments and results
    /// the last one counts.
    fn merge(&self, event: HookEvent, verdict: &mut HookVerdict, response: HookResponse) {
        response.notices.into_iter().for_each(|notice| self.notice(notice));
        if let Some(sequence) = response.terminal_sequence {
            self.pending.add(HookNotice::TerminalSequence(sequence));
        }
        match (event.block_effect(), response.block) {
            (_, None) => {}
            (BlockEffect::TellsUser, Some(reason)) => {
                self.notice(format!("{} hook: {reason}", event.name()));
            }
            (BlockEffect::Blocks | BlockEffect::TellsModel, Some(reason)) => {
                verdict.block.get_or_insert(reason);
            }
        }
        verdict.halt = verdict.halt.take().or(response.halt);
        verdict.notes.extend(response.context);
        verdict.input = response.input.or(verdict.input.take());
        verdict.output = response.output.or(verdict.output.take());
        verdict.retry |= response.retry;
        verdict.initial_messages.extend(response.initial_message);
        verdict.title = response.title.or(verdict.title.take());
        lock(&self.watch).add(response.watch, self.folder());
        verdict.permission = match (verdict.permission.take(), response.permission) {
            (deny @ Some(HookPermission::Deny(_)), _)
            | (_, deny @ Some(HookPermission::Deny(_))) => deny,
            (defer @ Some(HookPermission::Defer(_)), _)
            | (_, defer @ Some(HookPermission::Defer(_))) => defer,
            (ask @ Some(HookPermission::Ask(_)), _) | (_, ask @ Some(HookPermission::Ask(_))) => {
                ask
            }
            (before, new) => before.or(new),
        };
    }
}

/// A subagent's hooks may outlive it: what they still have to say goes to the session.
impl Drop for HookDispatcher {
    fn drop(&mut self) {
        if self.session.subagent.is_some()
            && let Some(session) = self.background.session_output()
        {
            self.pending.hand_over_to(&session);
        }
    }
}

fn background_hook(event: HookEvent, hook: &Hook) -> BackgroundHook {
    let HookHandler { timeout, timeout_is_set, .. } = hook.handler;
    BackgroundHook {
        name: format!("{} hook {}", event.name(), short_name(&hook.handler.summary())),
        set_timeout: timeout_is_set.then_some(timeout),
    }
}

async fn join(task: &mut JoinSet<HookResponse>) -> HookResponse {
    match task.join_next().await {
        Some(Ok(response)) => response,
        Some(Err(error)) => HookResponse::ignored(format!("a hook failed: {error}; ignored")),
        None => HookResponse::default(),
    }
}
