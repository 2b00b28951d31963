//! `/tasks`: everything that runs in the background of the session: extraction, notes, dreams, subagents and commands.

use dormouse_agents::RunStatus;
use dormouse_engine::{AGENT_JOB, Job, JobStatus};
use dormouse_tools::ShellSummary;
use jiff::Timestamp;

use crate::interactive::view::SharedView;
use crate::message_catalog::msg;
use crate::wiring::session_start::ActiveSession;

use super::agents;
use super::rows::Rows;

/// Runs `/tasks [show|stop NAME]`.
pub(super) fn run(session: &ActiveSession, view: &SharedView, rest: &str, now: Timestamp) {
    let (word, name) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    match (word, name.trim()) {
        ("", _) => list(session, view, now),
        ("show", name) if !name.is_empty() => show(session, view, name),
        ("stop", name) if !name.is_empty() => {
            let text = if stop(session, name) {
                msg!("tasks-stopping", name = name)
            } else {
                msg!("tasks-unknown", name = name)
            };
            view.say(&text);
        }
        _ => view.say(&msg!("tasks-usage")),
    }
}

/// The names of what runs now, for the status line.
pub(crate) fn running(session: &ActiveSession) -> Vec<String> {
    let jobs = jobs(session).into_iter().map(|job| match job.phase.as_str() {
        "" => job.kind.replace('_', " "),
        phase => format!("{}: {phase}", job.kind.replace('_', " ")),
    });
    let agents = session.subagents.runs().list();
    let agents = agents.iter().filter(|run| run.status == RunStatus::Running && run.background);
    let shells = session.commands.shells.list().into_iter().filter(|shell| shell.ended.is_none());
    let named = agents.map(|run| run.name.clone()).chain(shells.map(|shell| shell.id));
    jobs.chain(named).collect()
}

/// The jobs that run. Subagents are listed by themselves, with more to see.
fn jobs(session: &ActiveSession) -> Vec<Job> {
    let jobs = session.engine.jobs().list().into_iter();
    jobs.filter(|job| job.status == JobStatus::Running && job.kind != AGENT_JOB).collect()
}

fn list(session: &ActiveSession, view: &SharedView, now: Timestamp) {
    let mut rows: Rows = jobs(session).iter().map(|job| job_row(job, now)).collect();
    rows.extend(session.subagents.runs().list().iter().map(agents::row));
    rows.extend(session.commands.shells.list().iter().map(shell_row));
    if rows.is_empty() {
        return view.say(&msg!("tasks-none"));
    }
    view.list(&rows);
    view.say(&msg!("tasks-usage"));
}

fn job_row(job: &Job, now: Timestamp) -> (String, String) {
    let seconds = now.duration_since(job.since).as_secs().max(0);
    let text =
        msg!("tasks-job", phase = job.phase.as_str(), seconds = seconds, turns = job.turns.len());
    (job.kind.to_owned(), text)
}

fn shell_row(shell: &ShellSummary) -> (String, String) {
    let how = shell.ended.clone().unwrap_or_else(|| msg!("tasks-running"));
    (shell.id.clone(), format!("{how} · {}", shell.command.lines().next().unwrap_or_default()))
}

/// Shows what a task did so far.
fn show(session: &ActiveSession, view: &SharedView, name: &str) {
    if let Some(job) = jobs(session).into_iter().find(|job| job.kind == name) {
        job.turns.iter().for_each(|turn| view.say(turn.trim()));
        let files = job.files.iter().map(|file| file.display().to_string());
        files.for_each(|file| view.say(&file));
    } else if let Some(shell) = session.commands.shells.list().iter().find(|shell| shell.id == name)
    {
        view.list(&vec![shell_row(shell)]);
        view.say(&shell.command);
    } else if session.subagents.runs().list().iter().any(|run| run.name == name) {
        agents::show(&session.subagents, view, name);
    } else {
        view.say(&msg!("tasks-unknown", name = name));
    }
}

fn stop(session: &ActiveSession, name: &str) -> bool {
    let job = jobs(session).into_iter().find(|job| job.kind == name);
    job.is_some_and(|job| session.engine.jobs().kill(job.id))
        || session.commands.shells.stop(name)
        || session.subagents.runs().stop(name)
}
