//! A turn as the person sees it: the prompt and what goes with it, the loop, and the hooks around both.

use std::path::Path;

use dormouse_base::RelPath;
use dormouse_context::{Fragment, HookContext};
use dormouse_conversation::{Block, MessageFlags, Usage};
use tokio_util::sync::CancellationToken;

use crate::{Engine, EngineError, EngineEvent, Surroundings, TurnEnd, TurnReport, driver};
use dormouse_extensions::skills::SkillOwner;
use dormouse_hooks::{SessionEndReason, SessionSource, SetupTrigger};

/// The file in a session's own folder that has the title a hook gave it.
pub const TITLE_FILE: &str = "title.txt";
/// A hook that never lets the model stop is not obeyed for ever.
const MOST_CONTINUATIONS: u32 = 10;

impl Engine {
    /// Says something to the model and works until it is done. `now` is how the world is at this
    /// snapshot: what differs from what the model was told goes in front of the prompt.
    pub async fn run_turn(
        &mut self,
        prompt: &str,
        now: &Surroundings,
        max_requests: Option<u32>,
        interrupt: &CancellationToken,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<TurnReport, EngineError> {
        self.start(sink).await;
        self.look_at_files(now, sink).await;
        let called = self.load_called_skill(prompt, sink);
        let skill = called.as_ref().map(|called| called.block.clone());
        tokio::select! {
            biased;
            () = interrupt.cancelled() => return Ok(nothing_sent(TurnEnd::Interrupted)),
            blocked = self.ask_about_prompt(prompt, sink) => {
                if let Some(why) = blocked {
                    return Ok(nothing_sent(TurnEnd::Blocked(why)));
                }
            }
        }
        self.write_what_is_due()?;
        self.tell_changes(now)?;
        self.tell_mode()?;
        self.tell_notes()?;
        self.tell_arrivals(sink)?;
        self.watch_turn();
        let mut with = self.recall(prompt, sink).await;
        with.extend(skill);
        self.add_prompt(prompt, with)?;
        self.breaker.person_speaks();
        self.activate_skill(called.as_ref())?;
        let report = self.run_until_done(max_requests, interrupt, sink).await?;
        if interrupt.is_cancelled() {
            self.stop_recalling();
        }
        self.totals = self.totals.plus(report.usage);
        self.tell_lost_figures(sink);
        self.transcript.sync()?;
        self.count_effects(sink).await;
        Ok(report)
    }

    /// Works until it is done on what stands last in the conversation already: a fork's order.
    pub async fn run_on(
        &mut self,
        max_requests: Option<u32>,
        interrupt: &CancellationToken,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<TurnReport, EngineError> {
        self.start(sink).await;
        self.tell_notes()?;
        let report = self.run_until_done(max_requests, interrupt, sink).await?;
        self.totals = self.totals.plus(report.usage);
        self.transcript.sync()?;
        Ok(report)
    }

    /// A figure that is lost disturbs nothing, but is told.
    fn tell_lost_figures(&self, sink: &mut (dyn FnMut(EngineEvent) + Send)) {
        if let Some(problem) = self.config.figures.take_problem() {
            sink(EngineEvent::Notice(format!(
                "figures for `dormouse stats` are being lost: {problem}"
            )));
        }
    }

    /// Runs what hooks have to do before the first prompt, unless that was done.
    pub async fn start(&mut self, sink: &mut (dyn FnMut(EngineEvent) + Send)) {
        self.known.take_warnings().into_iter().for_each(|said| sink(EngineEvent::Notice(said)));
        let (Some(hooks), Some(source)) = (self.hooks.clone(), self.begun_by.take()) else {
            return;
        };
        hooks.instructions_loaded(self.known.loaded());
        // The session begins all the same: whoever refuses it is heard by the person.
        let started = hooks.session_start(source, &self.config.model_name);
        let verdict = hooks.run_with_notices(started, sink).await;
        self.call_session(verdict.title, sink);
        self.notes.extend(verdict.notes);
    }

    /// A hook has a name for the session: it stands in a file of the session's own.
    fn call_session(&self, title: Option<String>, sink: &mut (dyn FnMut(EngineEvent) + Send)) {
        let Some(title) = title.filter(|title| !title.trim().is_empty()) else { return };
        let line = title.split_whitespace().collect::<Vec<_>>().join(" ");
        let written =
            RelPath::new(TITLE_FILE).map_err(|error| error.to_string()).and_then(|file| {
                let kept = self.transcript.session_folder().replace(&file, line.as_bytes());
                kept.map_err(|error| error.to_string())
            });
        if let Err(problem) = written {
            sink(EngineEvent::Notice(format!("the session's title was not kept: {problem}")));
        }
    }

    /// Runs what hooks have to do where a project is set up or maintained. What they add goes with the first prompt.
    pub async fn set_up(
        &mut self,
        trigger: SetupTrigger,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) {
        let Some(hooks) = self.hooks.clone() else { return };
        let verdict = hooks.run_with_notices(hooks.setup(trigger), sink).await;
        self.notes.extend(verdict.notes);
    }

    /// Hooks hear what has changed on disk since the last turn: settings, watched files, the folder itself.
    async fn look_at_files(
        &mut self,
        now: &Surroundings,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) {
        let Some(hooks) = self.hooks.clone() else { return };
        hooks.run_with_notices(hooks.check_settings(), sink).await;
        hooks.check_files();
        let before = self.told.get("working directory").filter(|before| *before != now.folder);
        if let (Some(before), None) = (before, &self.config.subagent) {
            let moved = hooks.cwd_changed(before, Path::new(&now.folder));
            let notes = hooks.run_with_notices(moved, sink).await;
            self.notes.extend(notes);
        }
    }

    /// Runs what hooks have to do at the end.
    pub async fn end(
        &mut self,
        reason: SessionEndReason,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) {
        self.end_counting(sink).await;
        // A session in which nothing was said has not begun for them either.
        if self.begun_by.is_some() {
            return;
        }
        let Some(hooks) = &self.hooks else { return };
        hooks.run_with_notices(hooks.session_end(reason), sink).await;
    }

    pub(crate) fn begun_by_clear(&mut self) {
        self.begun_by = self.hooks.is_some().then_some(SessionSource::Clear);
    }

    /// The loop, and again as long as a hook will not have it stop.
    async fn run_until_done(
        &mut self,
        max_requests: Option<u32>,
        interrupt: &CancellationToken,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<TurnReport, EngineError> {
        let (mut requests, mut usage, mut cost_usd) = (0, Usage::default(), Some(0.0));
        let mut continuations = 0;
        loop {
            let left = max_requests.map(|most| most.saturating_sub(requests));
            let report = match driver::run(self, left, interrupt, sink).await {
                Ok(report) => report,
                Err(error) => {
                    self.close_after_error();
                    return Err(error);
                }
            };
            let mut report = self.settle_plan(report, sink)?;
            requests += report.requests;
            usage = usage.plus(report.usage);
            self.turn_usd = 0.0;
            self.spend(report.cost_usd.unwrap_or(0.0));
            cost_usd = cost_usd.zip(report.cost_usd).map(|(before, now): (f64, f64)| before + now);
            (report.requests, report.usage, report.cost_usd) = (requests, usage, cost_usd);
            let why = tokio::select! {
                biased;
                () = interrupt.cancelled() => None,
                why = self.ask_about_stop(&report, continuations, sink) => why,
            };
            let Some(why) = why else {
                if report.end == TurnEnd::Completed && self.more_has_come(interrupt, sink).await? {
                    continue;
                }
                if let (Some(hooks), false) = (&self.hooks, interrupt.is_cancelled()) {
                    hooks.finish_subagent().await;
                }
                return Ok(report);
            };
            continuations += 1;
            self.add_user(
                vec![reminder(why)],
                MessageFlags { meta: true, ..MessageFlags::default() },
            )?;
        }
    }

    /// Whether something has come that the model has to be told before it stops; nobody else would wait for it.
    async fn more_has_come(
        &mut self,
        interrupt: &CancellationToken,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Result<bool, EngineError> {
        if self.tell_arrivals(sink)? {
            return Ok(true);
        }
        self.await_incoming(interrupt).await;
        Ok(!interrupt.is_cancelled() && self.tell_arrivals(sink)?)
    }

    /// Why the prompt is not to be sent, if a hook says so.
    async fn ask_about_prompt(
        &mut self,
        prompt: &str,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Option<String> {
        let hooks = self.hooks.clone()?;
        // What an agent is told are the model's words.
        if self.config.subagent.is_some() {
            return None;
        }
        if let Some((skill, arguments)) = self.config.skills.called(prompt) {
            let source = match skill.owner {
                SkillOwner::User => "user",
                SkillOwner::Project => "project",
                SkillOwner::Plugin => "plugin",
            };
            let expanded = hooks.prompt_expansion(&skill.name, arguments, source, prompt);
            let verdict = hooks.run_with_notices(expanded, sink).await;
            if let Some(why) = verdict.block.or(verdict.halt) {
                return Some(why);
            }
            self.notes.extend(verdict.notes);
        }
        let verdict = hooks.run_with_notices(hooks.user_prompt(prompt), sink).await;
        self.call_session(verdict.title, sink);
        if let Some(why) = verdict.block.or(verdict.halt) {
            return Some(why);
        }
        self.notes.extend(verdict.notes);
        None
    }

    /// Why the model is to go on, if a hook says so.
    async fn ask_about_stop(
        &mut self,
        report: &TurnReport,
        continuations: u32,
        sink: &mut (dyn FnMut(EngineEvent) + Send),
    ) -> Option<String> {
        let hooks = self.hooks.clone()?;
        let verdict = match &report.end {
            TurnEnd::Completed => {
                let stopped = hooks.stop(&report.answer, continuations > 0);
                Some(hooks.run_with_notices(stopped, sink).await)
            }
            TurnEnd::Failed(error) => {
                let said = error.to_string();
                hooks.run_with_notices(hooks.stop_failure(&said), sink).await;
                None
            }
            _ => None,
        };
        let verdict = verdict?;
        if let Some(why) = verdict.halt {
            sink(EngineEvent::Notice(format!("a hook ended it here: {why}")));
            return None;
        }
        self.notes.extend(verdict.notes);
        let why = verdict.block?;
        if continuations >= MOST_CONTINUATIONS {
            sink(EngineEvent::Notice(format!(
                "a hook kept the model from stopping {MOST_CONTINUATIONS} times in a row; it is not asked again"
            )));
            return None;
        }
        Some(why)
    }

    /// What hooks had to say goes in front of the prompt.
    fn tell_notes(&mut self) -> Result<(), EngineError> {
        if self.notes.is_empty() {
            return Ok(());
        }
        let notes = std::mem::take(&mut self.notes);
        let block = HookContext { notes }.to_block();
        self.add_user(vec![block], MessageFlags { meta: true, ..MessageFlags::default() })
    }
}

fn nothing_sent(end: TurnEnd) -> TurnReport {
    let usage = Usage::default();
    TurnReport { end, answer: String::new(), requests: 0, usage, cost_usd: Some(0.0) }
}

fn reminder(why: String) -> Block {
    HookContext { notes: vec![why] }.to_block()
}
