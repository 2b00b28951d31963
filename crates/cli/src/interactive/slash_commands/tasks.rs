//! `/tasks`: everything that runs in the background of the session: extraction, notes, dreams, subagents and commands.

use std::sync::Arc;

use dormouse_agents::{RunStatus, SubagentRegistry};
use dormouse_engine::{AGENT_JOB, Job, JobStatus, Jobs};
use dormouse_tools::ShellSummary;
use dormouse_tui::style::Style;
use dormouse_tui::width;
use jiff::Timestamp;

use crate::interactive::tool_calls::on_one_line;
use crate::interactive::view::SharedView;
use crate::message_catalog::msg;
use crate::wiring::command_text::{duration_text, shell_end_text};
use crate::wiring::session_commands::SessionCommands;
use crate::wiring::session_start::ActiveSession;

use super::agents;
use super::rows::Rows;

/// The columns of a command in the status line.
const PILL_COLUMNS: usize = 20;

/// The background tasks of a session. It is shared with the session, so that it can be shown while a turn runs.
#[derive(Clone)]
pub(crate) struct TaskList {
    jobs: Jobs,
    pub(crate) subagents: Arc<SubagentRegistry>,
    commands: Arc<SessionCommands>,
}

impl TaskList {
    pub(crate) fn of(session: &ActiveSession) -> Self {
        Self {
            jobs: session.engine.jobs().clone(),
            subagents: Arc::clone(&session.subagents),
            commands: Arc::clone(&session.commands),
        }
    }

    /// The jobs that run. Subagents are listed by themselves, with more to see.
    fn jobs(&self) -> Vec<Job> {
        let jobs = self.jobs.list().into_iter();
        jobs.filter(|job| job.status == JobStatus::Running && job.kind != AGENT_JOB).collect()
    }

    /// The names of what runs now, for the status line.
    pub(crate) fn running(&self) -> Vec<String> {
        let jobs = self.jobs().into_iter().map(|job| match job.phase.as_str() {
            "" => job.kind.replace('_', " "),
            phase => format!("{}: {phase}", job.kind.replace('_', " ")),
        });
        let agents = self.subagents.runs().list();
        let agents = agents.iter().filter(|run| run.status == RunStatus::Running && run.background);
        let shells = self.commands.shells.list().into_iter().filter(|shell| shell.ended.is_none());
        let named =
            agents.map(|run| run.name.clone()).chain(shells.map(|shell| shell_pill(&shell)));
        jobs.chain(named).collect()
    }

    fn stop(&self, name: &str) -> bool {
        let job = self.jobs().into_iter().find(|job| job.kind == name);
        job.is_some_and(|job| self.jobs.kill(job.id))
            || self.commands.shells.stop(name)
            || self.subagents.runs().stop(name)
    }
}

/// Runs `/tasks [show|stop NAME]`.
pub(crate) fn run(view: &SharedView, tasks: &TaskList, rest: &str, now: Timestamp) {
    let (word, name) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match (word, name.trim()) {
        ("", _) => list(view, tasks, now),
        ("show", name) if !name.is_empty() => show(view, tasks, name),
        ("stop", name) if !name.is_empty() => {
            let text = if tasks.stop(name) {
                msg!("tasks-stopping", name = name)
            } else {
                msg!("tasks-unknown", name = name)
            };
            view.say(&text);
        }
        _ => view.say(&msg!("tasks-usage")),
    }
}

fn list(view: &SharedView, tasks: &TaskList, now: Timestamp) {
    let mut rows: Rows = tasks.jobs().iter().map(|job| job_row(job, now)).collect();
    rows.extend(tasks.subagents.runs().list().iter().map(agents::row));
    rows.extend(tasks.commands.shells.list().iter().map(shell_row));
    if rows.is_empty() {
        return view.say(&msg!("tasks-none"));
    }
    view.list(&rows);
    view.say(&msg!("tasks-usage"));
}

fn job_row(job: &Job, now: Timestamp) -> (String, String) {
    let elapsed = now.duration_since(job.since).unsigned_abs();
    let time = duration_text(elapsed);
    let text = msg!("tasks-job", phase = job.phase.as_str(), time = time, turns = job.requests);
    (job.kind.to_owned(), text)
}

/// State, duration and command.
fn shell_row(shell: &ShellSummary) -> (String, String) {
    let state = shell.ended.as_ref().map_or_else(|| msg!("tasks-running"), shell_end_text);
    let time = duration_text(shell.elapsed);
    (shell.id.clone(), format!("{state} · {time} · {}", on_one_line(&shell.command)))
}

/// The pill of a command that runs: what it is by, the command, and for how long.
fn shell_pill(shell: &ShellSummary) -> String {
    let command = width::fitted(&on_one_line(&shell.command), PILL_COLUMNS);
    format!("{}: {command} ({})", shell.id, duration_text(shell.elapsed))
}

/// Shows what a task did so far.
fn show(view: &SharedView, tasks: &TaskList, name: &str) {
    if let Some(job) = tasks.jobs().into_iter().find(|job| job.kind == name) {
        job.turns.iter().for_each(|turn| view.say(turn.trim()));
        let files = job.files.iter().map(|file| file.display().to_string());
        files.for_each(|file| view.say(&file));
    } else if let Some(shell) = tasks.commands.shells.list().iter().find(|shell| shell.id == name) {
        view.list(&vec![shell_row(shell)]);
        view.say(&shell.command);
        let output = tasks.commands.shells.newest_lines(name).unwrap_or_default();
        view.borrow_mut().note(output.trim_end(), Style::DIM);
    } else if tasks.subagents.runs().list().iter().any(|run| run.name == name) {
        agents::show(&tasks.subagents, view, name);
    } else {
        view.say(&msg!("tasks-unknown", name = name));
    }
}
