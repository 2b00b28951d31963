//! Background tasks in interactive mode: notices at the prompt, and waiting for unfinished tasks when the user leaves.

use dormouse_agents::{RunStatus, SubagentRegistry};
use dormouse_base::printable;
use dormouse_engine::{AGENT_JOB, JobFailure, JobStatus};
use dormouse_tools::Shells;
use dormouse_tui::style::Style;

use crate::message_catalog::msg;
use crate::wiring::background_tasks;
use crate::wiring::session_start::ActiveSession;

use super::session::InteractiveSession;
use super::view::{SharedView, memory_notice};

/// A message from outside the session, as a line above the prompt.
pub(super) fn incoming_line(message: &str) -> String {
    printable(&format!("← {message}")).into_owned()
}

/// What background tasks saved to memory, as lines above the prompt.
pub(super) fn memory_notices(session: &ActiveSession) -> Vec<String> {
    let Some(memory) = &session.memory else { return Vec::new() };
    memory.notices().take().iter().map(|notice| memory_notice(notice)).collect()
}

/// The background tasks that have failed, as lines above the prompt. A subagent reports by itself.
pub(crate) fn failure_notices(session: &ActiveSession) -> Vec<String> {
    let failures = session.engine.jobs().take_failures().into_iter();
    let shown = failures.filter(|(kind, _)| *kind != AGENT_JOB);
    let line = |(kind, why): JobFailure| {
        let name = kind.replace('_', " ");
        printable(&msg!("task-failed", name = name, reason = why)).into_owned()
    };
    shown.map(line).collect()
}

/// Whether something goes on beside the prompt that may have news for the user.
pub(crate) fn is_busy(session: &ActiveSession) -> bool {
    let jobs = session.engine.jobs().list();
    let agents = session.subagents.runs().list();
    session.named.is_some()
        || !session.engine.hooks().is_empty()
        || session.commands.shells.are_running()
        || jobs.iter().any(|job| job.status == JobStatus::Running)
        || agents.iter().any(|run| run.status == RunStatus::Running)
}

/// Stops tasks that the user's message would have to wait for, on a server that serves one request at a time.
pub(super) async fn make_way(session: &ActiveSession, view: &SharedView) {
    let tasks = background_tasks::make_way(&session.engine).await.join(", ");
    if !tasks.is_empty() {
        view.borrow_mut().note(&msg!("task-made-way", tasks = tasks), Style::DIM);
    }
}

/// Names the commands that end with the program.
pub(super) fn show_ended_commands(shells: &Shells, view: &SharedView) {
    for shell in shells.list().iter().filter(|shell| shell.ended.is_none()) {
        let command = shell.command.lines().next().unwrap_or_default();
        let text = msg!("command-ends", id = shell.id.as_str(), command = command);
        view.borrow_mut().note(&printable(&text), Style::DIM);
    }
}

/// Names the subagents that end with the program.
pub(super) fn show_unfinished_agents(registry: &SubagentRegistry, view: &SharedView) {
    for run in registry.runs().list().iter().filter(|run| run.status == RunStatus::Running) {
        let text =
            msg!("subagent-unfinished", name = run.name.as_str(), task = run.description.as_str());
        view.borrow_mut().note(&text, Style::DIM);
    }
}

impl InteractiveSession<'_> {
    /// Waits a while for running background tasks; Ctrl-C skips that (B-12). What is left is done when the session is
    /// next opened.
    pub(super) async fn wait_for_background_tasks(&mut self) {
        let engine = &self.session.engine;
        background_tasks::session_ends(engine);
        if !background_tasks::is_busy(engine) {
            return;
        }
        self.view.borrow_mut().note(&msg!("memory-saving"), Style::DIM);
        let view = &self.view;
        let mut sink = |event| view.borrow_mut().event(event);
        tokio::select! {
            () = background_tasks::finish(engine, &mut sink) => {}
            _ = self.signals.next() => {}
            () = self.input.interrupted() => {}
        }
    }
}
