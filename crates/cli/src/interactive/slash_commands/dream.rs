//! `/dream`: start, show and stop a dream (memory consolidation in the background).

use dormouse_engine::{Job, JobStatus};

use crate::interactive::session::InteractiveSession;
use crate::interactive::view::SharedView;
use crate::message_catalog::msg;
use crate::wiring::session_start::ActiveSession;

const KIND: &str = "dream";

impl InteractiveSession<'_> {
    /// Runs `/dream`, `/dream stop` and `/dream log`.
    pub(super) async fn dream(&mut self, rest: &str) {
        match rest {
            "" => start(&self.session, &self.view),
            "stop" => stop(&self.session, &self.view),
            "log" => self.run_command("dream", "dream", vec!["log".to_owned()]).await,
            _ => self.view.say(&msg!("dream-usage")),
        }
    }
}

fn running_dream(session: &ActiveSession) -> Option<Job> {
    let jobs = session.engine.jobs().list();
    jobs.into_iter().find(|job| job.kind == KIND && job.status == JobStatus::Running)
}

fn start(session: &ActiveSession, view: &SharedView) {
    if let Some(job) = running_dream(session) {
        return view.say(&job_status(&job));
    }
    let engine = &session.engine;
    let Some(dreamer) = &session.dreamer else {
        return view.say(&msg!("dream-off"));
    };
    let (seed, current) = (engine.fork_source(), engine.conversation().session());
    match dreamer.start(engine.jobs(), seed, current, engine.model().budget.window) {
        Ok(()) => view.say(&msg!("dream-started")),
        Err(blocked) => view.say(&msg!("dream-blocked", reason = blocked.to_string())),
    }
}

fn stop(session: &ActiveSession, view: &SharedView) {
    match running_dream(session) {
        Some(job) if session.engine.jobs().kill(job.id) => {
            view.say(&msg!("dream-stopped"));
        }
        Some(_) | None => view.say(&msg!("dream-not-running")),
    }
}

fn job_status(job: &Job) -> String {
    let files: Vec<String> = job.files.iter().map(|file| file.display().to_string()).collect();
    let mut text = msg!("dream-status", phase = job.phase.as_str(), turns = job.requests);
    if !files.is_empty() {
        text.push_str(&msg!("dream-files", files = files.join(", ")));
    }
    if let Some(output) = job.turns.iter().rev().find(|output| !output.trim().is_empty()) {
        text.push_str(&format!("\n{}", output.trim()));
    }
    text
}
