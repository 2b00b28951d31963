//! The hooks of a session: chosen, run side by side, their answers put together in order.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dormouse_base::{Dir, Redactor, RelPath, SessionId};
use dormouse_conversation::transcript::Trigger;
use dormouse_memory::instructions::Loaded;
use dormouse_tools::{Gate, ProcessError, ToolSet};
use futures_util::future::join_all;
use serde_json::value::RawValue;
use tokio::task::JoinSet;

use super::answer::{Answer, Permission, read};
use super::config::{Hook, Hooks};
use super::handler::Waiting;
use super::input::{Common, Details, mode_name, render};
use super::run::{Place, run};
use super::{HookEvent, SessionEndReason, SessionSource};

/// The longest text that a hook adds; the rest goes to a file.
const LONGEST: usize = 10_000;
/// All that hooks get when the program is about to end.
const END_PATIENCE: Duration = Duration::from_millis(1_500);
/// The folder of what was too long, in the session's own.
const FOLDER: &str = "hook-output";

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
}

/// Who is running: what every hook is told.
#[derive(Debug, Clone)]
pub(crate) struct HookSession {
    pub(crate) id: SessionId,
    pub(crate) transcript: PathBuf,
    pub(crate) own_folder: Dir,
}

/// Runs the hooks of one session.
#[derive(Debug)]
pub(crate) struct HookRunner {
    hooks: Arc<Hooks>,
    session: HookSession,
    place: Place,
    tools: Arc<ToolSet>,
    gate: Gate,
    redactor: Redactor,
    /// What the person should see, until somebody shows it.
    notices: Mutex<Vec<String>>,
    /// Hooks that nobody waits for. They end with the session.
    beside: Mutex<JoinSet<()>>,
}

impl HookRunner {
    pub(crate) fn new(
        hooks: Arc<Hooks>,
        session: HookSession,
        place: Place,
        tools: Arc<ToolSet>,
        gate: Gate,
        redactor: Redactor,
    ) -> Self {
        Self {
            hooks,
            session,
            place,
            tools,
            gate,
            redactor,
            notices: Mutex::default(),
            beside: Mutex::default(),
        }
    }

    /// What hooks have said to the person since this was last asked.
    pub(crate) fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) async fn session_start(&self, source: SessionSource, model: &str) -> Verdict {
        self.fire(HookEvent::SessionStart, Details::Start { source, model }).await
    }

    /// At the end there is little time for all of them together.
    pub(crate) async fn session_end(&self, reason: SessionEndReason) {
        let mut beside =
            std::mem::take(&mut *self.beside.lock().unwrap_or_else(PoisonError::into_inner));
        let all = async {
            self.fire(HookEvent::SessionEnd, Details::End { reason }).await;
            while beside.join_next().await.is_some() {}
        };
        if tokio::time::timeout(END_PATIENCE, all).await.is_err() {
            self.note("hooks took too long at the end of the session and were ended".to_owned());
        }
    }

    /// Why a compaction is not to be, if a hook says so.
    pub(crate) async fn before_compaction(
        &self,
        trigger: Trigger,
        custom_instructions: Option<&str>,
    ) -> Option<String> {
        let details = Details::PreCompact { trigger, custom_instructions };
        self.fire(HookEvent::PreCompact, details).await.block
    }

    pub(crate) async fn after_compaction(&self, trigger: Trigger, compact_summary: &str) {
        let details = Details::PostCompact { trigger, compact_summary };
        self.fire(HookEvent::PostCompact, details).await;
    }

    pub(crate) async fn prompt(&self, prompt: &str) -> Verdict {
        self.fire(HookEvent::UserPromptSubmit, Details::Prompt { prompt }).await
    }

    pub(crate) async fn stop(&self, last_assistant_message: &str, again: bool) -> Verdict {
        let details = Details::Stop { stop_hook_active: again, last_assistant_message };
        self.fire(HookEvent::Stop, details).await
    }

    /// Instruction files were loaded: told, not waited for.
    pub(crate) fn instructions(&self, loaded: &[Loaded]) {
        for file in loaded {
            let details = Details::Instructions {
                file_path: &file.path,
                memory_type: file.kind.as_str(),
                load_reason: file.reason.as_str(),
                globs: &file.globs,
                trigger_file_path: file.trigger.as_deref(),
                parent_file_path: file.parent.as_deref(),
            };
            self.fire_beside(HookEvent::InstructionsLoaded, &details);
        }
    }

    pub(crate) async fn stop_failure(&self, error: &str) {
        self.fire(HookEvent::StopFailure, Details::StopFailure { error }).await;
    }

    /// Runs the hooks of an event that are for it.
    pub(super) async fn fire(&self, event: HookEvent, details: Details<'_>) -> Verdict {
        let hooks = self.matching(event, &details);
        if hooks.is_empty() {
            return Verdict::default();
        }
        let input = render(&self.common(event), &details);
        let answers = hooks.iter().map(|hook| self.ask(event, hook, &input));
        let answers = join_all(answers).await;
        let mut verdict = Verdict::default();
        for answer in answers {
            self.take(&mut verdict, answer);
        }
        verdict
    }

    /// Those that fit, each command once.
    fn matching(&self, event: HookEvent, details: &Details<'_>) -> Vec<&Hook> {
        let mut chosen: Vec<&Hook> = Vec::new();
        for hook in self.hooks.of(event) {
            let known = chosen.iter().any(|other| other.handler.is_same_as(&hook.handler));
            if !known
                && hook.matcher.matches(details.subject())
                && self.condition_holds(hook, details)
            {
                chosen.push(hook);
            }
        }
        chosen
    }

    fn condition_holds(&self, hook: &Hook, details: &Details<'_>) -> bool {
        let Some(rule) = &hook.handler.condition else { return true };
        let Some((name, input)) = details.call() else { return false };
        self.tools.get(name).is_some_and(|tool| rule.touches(&**tool, input, &self.place.folder))
    }

    fn common(&self, event: HookEvent) -> Common<'_> {
        Common {
            session_id: self.session.id,
            transcript_path: &self.session.transcript,
            cwd: &self.place.folder,
            hook_event_name: event.name(),
            permission_mode: mode_name(self.gate.mode()),
        }
    }

    /// Runs one hook. One that fails or takes too long has decided nothing.
    async fn ask(&self, event: HookEvent, hook: &Hook, input: &[u8]) -> Answer {
        let name = shown(&hook.handler.command);
        if hook.handler.waiting == Waiting::No {
            self.run_beside(hook, input);
            return Answer::default();
        }
        match run(hook, &self.place, input).await {
            Ok(ended) => read(event, &name, &ended),
            Err(error) => {
                let problem = match error {
                    ProcessError::TimedOut { timeout, .. } => {
                        format!("took longer than {} s and was ended", timeout.as_secs_f32())
                    }
                    error => format!("could not be run: {error}"),
                };
                Answer {
                    notices: vec![format!("the hook `{name}` {problem}; it decides nothing")],
                    ..Answer::default()
                }
            }
        }
    }

    /// Runs the hooks of an event without waiting for them.
    pub(super) fn fire_beside(&self, event: HookEvent, details: &Details<'_>) {
        let input = render(&self.common(event), details);
        self.matching(event, details).into_iter().for_each(|hook| self.run_beside(hook, &input));
    }

    /// What it says counts no more.
    fn run_beside(&self, hook: &Hook, input: &[u8]) {
        let (hook, place, input) = (hook.clone(), self.place.clone(), input.to_vec());
        let mut beside = self.beside.lock().unwrap_or_else(PoisonError::into_inner);
        beside.spawn(async move { drop(run(&hook, &place, &input).await) });
    }

    /// Adds an answer to those before. A denial wins over a question, a question over a permission; of
    /// other arguments and results the last counts.
    fn take(&self, verdict: &mut Verdict, answer: Answer) {
        let clean = |text: String| self.redactor.redact(&text);
        let answer = Answer {
            notices: answer.notices.into_iter().map(clean).collect(),
            context: answer.context.into_iter().map(clean).collect(),
            block: answer.block.map(clean),
            halt: answer.halt.map(clean),
            ..answer
        };
        answer.notices.into_iter().for_each(|notice| self.note(notice));
        verdict.block = verdict.block.take().or(answer.block.map(|text| self.bounded(text)));
        verdict.halt = verdict.halt.take().or(answer.halt);
        verdict.notes.extend(answer.context.into_iter().map(|text| self.bounded(text)));
        verdict.input = answer.input.or(verdict.input.take());
        verdict.output = answer.output.or(verdict.output.take());
        verdict.permission = match (verdict.permission.take(), answer.permission) {
            (deny @ Some(Permission::Deny(_)), _) | (_, deny @ Some(Permission::Deny(_))) => deny,
            (ask @ Some(Permission::Ask(_)), _) | (_, ask @ Some(Permission::Ask(_))) => ask,
            (before, answer) => before.or(answer),
        };
    }

    pub(super) fn note(&self, notice: String) {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).push(notice);
    }

    /// A text that is too long goes to a file, and its beginning says where.
    fn bounded(&self, text: String) -> String {
        if text.chars().count() <= LONGEST {
            return text;
        }
        let head: String = text.chars().take(LONGEST).collect();
        let name = format!("{}.txt", blake3::hash(text.as_bytes()).to_hex());
        let stored = RelPath::new(format!("{FOLDER}/{name}"))
            .map_err(|error| error.to_string())
            .and_then(|path| {
                let stored = self.session.own_folder.replace(&path, text.as_bytes());
                stored.map_err(|error| error.to_string())
            });
        match stored {
            Ok(()) => {
                let path = self.session.own_folder.path().join(FOLDER).join(name);
                format!("{head}\n[cut here; all of it is in {}]", path.display())
            }
            Err(problem) => format!("{head}\n[cut here; the rest could not be kept: {problem}]"),
        }
    }
}

/// A command, short enough for a message.
fn shown(command: &str) -> String {
    let line = command.lines().next().unwrap_or_default();
    let short: String = line.chars().take(60).collect();
    if short.len() < command.len() { format!("{short}…") } else { short }
}
