//! `/dream`: a dream beside the conversation, begun, looked at and ended by hand.

use dormouse_engine::{Job, JobStatus};

use super::{Talk, counted};

const KIND: &str = "dream";

impl Talk<'_> {
    /// Carries out `/dream`, `/dream stop` and `/dream log`.
    pub(super) async fn dream(&mut self, rest: &str) {
        match rest {
            "" => self.start_dream(),
            "stop" => self.stop_dream(),
            "log" => self.as_typed("dream", vec!["log".to_owned()]).await,
            _ => self.say("/dream begins a dream or shows it, /dream stop ends it, /dream log lists past ones"),
        }
    }

    fn running_dream(&self) -> Option<Job> {
        let jobs = self.conversation.engine.jobs().list();
        jobs.into_iter().find(|job| job.kind == KIND && job.status == JobStatus::Running)
    }

    fn start_dream(&self) {
        if let Some(job) = self.running_dream() {
            return self.say(&standing(&job));
        }
        let engine = &self.conversation.engine;
        let Some(dreamer) = &self.conversation.dreamer else {
            return self.say("memory is off in this session, so there is nothing to dream about");
        };
        match dreamer.start(engine.jobs(), engine.fork_source(), engine.session()) {
            Ok(()) => self.say(
                "dreaming beside the conversation; /dream shows how it goes, /dream stop ends it, and leaving does too",
            ),
            Err(closed) => self.say(&format!("no dream: {closed}")),
        }
    }

    fn stop_dream(&self) {
        match self.running_dream() {
            Some(job) if self.conversation.engine.jobs().kill(job.id) => {
                self.say("the dream was ended; nothing was changed");
            }
            Some(_) | None => self.say("no dream is under way"),
        }
    }
}

/// How a dream goes.
fn standing(job: &Job) -> String {
    let files: Vec<String> = job.files.iter().map(|file| file.display().to_string()).collect();
    let turns = counted(job.turns.len(), "turn", "turns");
    let mut text = format!("a dream is under way: {}, {turns}", job.phase);
    if !files.is_empty() {
        text.push_str(&format!("; touched in its copy: {}", files.join(", ")));
    }
    if let Some(said) = job.turns.iter().rev().find(|said| !said.trim().is_empty()) {
        text.push_str(&format!("\n{}", said.trim()));
    }
    text
}
