//! The hooks of a session: chosen, run side by side, their answers put together in order.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dormouse_base::{Dir, IdSource, Redactor, SessionId};
use dormouse_permissions::PermissionGate;
use dormouse_tools::ToolSet;
use futures_util::future::join_all;
use serde_json::value::RawValue;
use tokio::sync::oneshot;
use tokio::task::JoinSet;

use super::answer::{Answer, Aside, Permission};
use super::choice::{are_twins, condition_fits};
use super::config::{Hook, Hooks};
use super::event::Refusing;
use super::handler::Waiting;
use super::input::{Common, Details, mode_name, render};
use super::judge::Judge;
use super::late::Late;
use super::present::presentable;
use super::run::{Performer, Place};
use super::watch::Watch;
use super::{HookEvent, HookLayer, HookOrigin};
use crate::{ForkSource, SmallModel};

/// What the hooks of an event come to.
#[derive(Debug, Default)]
pub(crate) struct Verdict {
    /// Why the action is blocked.
    pub(crate) block: Option<String>,
    /// Why everything is to stop.
    pub(crate) halt: Option<String>,
    /// Text for the model.
    pub(crate) notes: Vec<String>,
    pub(super) permission: Option<Permission>,
    pub(super) input: Option<Box<RawValue>>,
    pub(super) output: Option<Box<RawValue>>,
    pub(super) retry: bool,
    pub(super) opening: Vec<String>,
    pub(crate) title: Option<String>,
}

/// Who is running: what every hook is told.
#[derive(Debug, Clone)]
pub(crate) struct HookSession {
    pub(crate) id: SessionId,
    /// The session's transcript.
    pub(crate) transcript: PathBuf,
    pub(crate) own_folder: Dir,
    /// The agent below it whose conversation this is.
    pub(crate) agent: Option<HookAgent>,
}

/// An agent below a conversation.
#[derive(Debug, Clone)]
pub(crate) struct HookAgent {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) transcript: PathBuf,
}

/// Runs the hooks of one session.
#[derive(Debug)]
pub(crate) struct HookRunner {
    /// Those in force: the session's own, and those of skills in use.
    hooks: Mutex<Arc<Hooks>>,
    own: Arc<Hooks>,
    pub(super) session: HookSession,
    pub(super) performer: Arc<Performer>,
    tools: Arc<ToolSet>,
    gate: PermissionGate,
    redactor: Redactor,
    pub(super) late: Arc<Late>,
    /// Hooks that nobody waits for. They end with the session.
    pub(super) beside: Mutex<JoinSet<()>>,
    /// Those that run a single time and did.
    ran_once: Mutex<HashSet<usize>>,
    pub(super) watch: Arc<Mutex<Watch>>,
}

/// What a runner is made of beside its hooks.
pub(crate) struct RunnerParts {
    pub(crate) session: HookSession,
    pub(crate) place: Place,
    pub(crate) judge: Judge,
    pub(crate) tools: Arc<ToolSet>,
    pub(crate) gate: PermissionGate,
    pub(crate) redactor: Redactor,
    pub(crate) ids: Arc<dyn IdSource>,
}

pub(super) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HookRunner {
    pub(crate) fn new(hooks: Arc<Hooks>, parts: RunnerParts) -> Self {
        let RunnerParts { session, place, judge, tools, gate, redactor, ids } = parts;
        let mut watch = Watch::new(&hooks.settings);
        watch.add(hooks.watched_names().map(PathBuf::from), &place.folder);
        Self {
            hooks: Mutex::new(Arc::clone(&hooks)),
            own: hooks,
            session,
            performer: Arc::new(Performer { place, judge }),
            tools,
            gate,
            redactor,
            late: Late::new(ids),
            beside: Mutex::default(),
            ran_once: Mutex::default(),
            watch: Arc::new(Mutex::new(watch)),
        }
    }

    /// Whether they are those of an agent below a conversation.
    pub(crate) fn is_of_agent(&self) -> bool {
        self.session.agent.is_some()
    }

    /// The hooks in force.
    pub(crate) fn hooks(&self) -> Arc<Hooks> {
        Arc::clone(&locked(&self.hooks))
    }

    /// A skill is in use: its hooks run as well, until the person speaks again.
    pub(crate) fn lend(&self, layer: HookLayer) {
        let (hooks, problems) = self.hooks().with([layer]);
        *locked(&self.hooks) = Arc::new(hooks);
        for problem in problems {
            self.note(format!("a hook will not run: {problem}"));
        }
    }

    /// What skills have lent ends.
    pub(crate) fn take_back(&self) {
        *locked(&self.hooks) = Arc::clone(&self.own);
    }

    /// Hooks that ask a model ask this one, and agents start from this.
    pub(crate) fn seat(&self, main: SmallModel, seed: ForkSource) {
        self.performer.judge.sit(main, seed);
    }

    /// What hooks have said to the person since this was last asked.
    pub(crate) fn take_notices(&self) -> Vec<String> {
        self.late.take_notices()
    }

    pub(super) fn note(&self, notice: String) {
        self.late.note(notice);
    }

    /// Runs the hooks of an event that are for it.
    pub(super) async fn fire(&self, event: HookEvent, details: Details<'_>) -> Verdict {
        let hooks = self.due(event, &details);
        if hooks.is_empty() {
            return Verdict::default();
        }
        let input: Arc<[u8]> = render(&self.common(event), &details).into();
        let answers = hooks.iter().map(|hook| self.ask(event, hook, &input));
        let answers = join_all(answers).await;
        let mut verdict = Verdict::default();
        for answer in answers {
            self.take(event, &mut verdict, answer);
        }
        verdict
    }

    /// Those that run now. One that runs a single time is not due again.
    fn due(&self, event: HookEvent, details: &Details<'_>) -> Vec<Arc<Hook>> {
        let mut hooks = self.matching(event, details);
        hooks.retain(|hook| {
            let of_component =
                matches!(hook.home.origin, HookOrigin::Skill(_) | HookOrigin::Agent(_));
            let once = hook.handler.once && of_component;
            !once || locked(&self.ran_once).insert(Arc::as_ptr(hook).addr())
        });
        for status in hooks.iter().filter_map(|hook| hook.handler.status.clone()) {
            self.note(status);
        }
        hooks
    }

    /// Those that fit, each once.
    fn matching(&self, event: HookEvent, details: &Details<'_>) -> Vec<Arc<Hook>> {
        let mut chosen: Vec<Arc<Hook>> = Vec::new();
        for hook in self.hooks().of(event) {
            let known = chosen.iter().any(|other| are_twins(other, hook));
            if !known
                && hook.matcher.matches(details.subject())
                && self.condition_holds(hook, details)
            {
                chosen.push(Arc::clone(hook));
            }
        }
        chosen
    }

    fn condition_holds(&self, hook: &Hook, details: &Details<'_>) -> bool {
        let Some(rule) = &hook.handler.condition else { return true };
        let Some(call) = details.call() else { return false };
        condition_fits(rule, &self.tools, call, &self.performer.place.folder)
    }

    fn common(&self, event: HookEvent) -> Common<'_> {
        let agent = self.session.agent.as_ref();
        Common {
            session_id: self.session.id,
            transcript_path: &self.session.transcript,
            cwd: &self.performer.place.folder,
            hook_event_name: event.name(),
            permission_mode: mode_name(self.gate.mode()),
            agent_id: agent.map(|agent| agent.id.as_str()),
            agent_type: agent.map(|agent| agent.kind.as_str()),
        }
    }

    /// Runs one hook, or lets it run beside.
    async fn ask(&self, event: HookEvent, hook: &Arc<Hook>, input: &Arc<[u8]>) -> Answer {
        match hook.handler.waiting {
            Waiting::Yes => self.ask_and_wait(event, hook, input).await,
            Waiting::No | Waiting::Rewake => {
                self.run_beside(event, hook, input);
                Answer::default()
            }
        }
    }

    /// Waits for a hook, unless it says that it need not be waited for. Whoever stops waiting ends it.
    async fn ask_and_wait(&self, event: HookEvent, hook: &Arc<Hook>, input: &Arc<[u8]>) -> Answer {
        let (tell, told) = oneshot::channel();
        let mut task = JoinSet::new();
        let (performer, its, input) =
            (Arc::clone(&self.performer), Arc::clone(hook), Arc::clone(input));
        task.spawn(async move {
            // Nobody listens any more where the waiting has ended.
            let aside = |aside| {
                let _unheard = tell.send(aside);
            };
            performer.perform(event, &its, &input, aside).await
        });
        let answer = tokio::select! {
            biased;
            answer = joined(&mut task) => answer,
            Ok(aside) = told => {
                self.leave_beside(task, aside);
                Answer::default()
            }
        };
        presentable(answer, &self.redactor, &self.session.own_folder)
    }

    /// A hook that was waited for goes on without that.
    fn leave_beside(&self, mut task: JoinSet<Answer>, aside: Aside) {
        let late = Arc::clone(&self.late);
        let (redactor, folder) = (self.redactor.clone(), self.session.own_folder.clone());
        self.spawn_beside(async move {
            let most = aside.timeout().unwrap_or(Duration::MAX);
            // One that takes too long has nothing more to say.
            if let Ok(answer) = tokio::time::timeout(most, joined(&mut task)).await {
                late.end(Waiting::No, presentable(answer, &redactor, &folder));
            }
        });
    }

    /// Those that have ended are forgotten when the next begins.
    fn spawn_beside(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut beside = locked(&self.beside);
        while beside.try_join_next().is_some() {}
        beside.spawn(work);
    }

    /// Runs the hooks of an event without waiting for them.
    pub(super) fn fire_beside(&self, event: HookEvent, details: &Details<'_>) {
        let hooks = self.due(event, details);
        if hooks.is_empty() {
            return;
        }
        let input: Arc<[u8]> = render(&self.common(event), details).into();
        for hook in &hooks {
            self.run_beside(event, hook, &input);
        }
    }

    fn run_beside(&self, event: HookEvent, hook: &Arc<Hook>, input: &Arc<[u8]>) {
        let (performer, late) = (Arc::clone(&self.performer), Arc::clone(&self.late));
        let (hook, input) = (Arc::clone(hook), Arc::clone(input));
        let (redactor, folder) = (self.redactor.clone(), self.session.own_folder.clone());
        let watch = Arc::clone(&self.watch);
        late.begin(hook.handler.waiting);
        self.spawn_beside(async move {
            let mut answer = performer.perform(event, &hook, &input, drop).await;
            let wanted = std::mem::take(&mut answer.watch);
            locked(&watch).add(wanted, &performer.place.folder);
            late.end(hook.handler.waiting, presentable(answer, &redactor, &folder));
        });
    }

    /// Adds an answer to those before. A denial wins over a question, a question over a permission; of
    /// other arguments and results the last counts.
    fn take(&self, event: HookEvent, verdict: &mut Verdict, answer: Answer) {
        answer.notices.into_iter().for_each(|notice| self.note(notice));
        match (event.refusing(), answer.block) {
            (_, None) => {}
            (Refusing::TellsPerson, Some(why)) => {
                self.note(format!("a hook at {}: {why}", event.name()));
            }
            (Refusing::Blocks | Refusing::TellsModel, Some(why)) => {
                verdict.block.get_or_insert(why);
            }
        }
        verdict.halt = verdict.halt.take().or(answer.halt);
        verdict.notes.extend(answer.context);
        verdict.input = answer.input.or(verdict.input.take());
        verdict.output = answer.output.or(verdict.output.take());
        verdict.retry |= answer.retry;
        verdict.opening.extend(answer.opening);
        verdict.title = answer.title.or(verdict.title.take());
        locked(&self.watch).add(answer.watch, &self.performer.place.folder);
        verdict.permission = match (verdict.permission.take(), answer.permission) {
            (deny @ Some(Permission::Deny(_)), _) | (_, deny @ Some(Permission::Deny(_))) => deny,
            (ask @ Some(Permission::Ask(_)), _) | (_, ask @ Some(Permission::Ask(_))) => ask,
            (before, answer) => before.or(answer),
        };
    }
}

/// What a hook's task came to.
async fn joined(task: &mut JoinSet<Answer>) -> Answer {
    match task.join_next().await {
        Some(Ok(answer)) => answer,
        Some(Err(error)) => Answer::told(format!("a hook was lost: {error}; it decides nothing")),
        None => Answer::default(),
    }
}
