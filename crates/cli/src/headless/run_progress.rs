//! Progress of a run on standard error (U-16): nobody waits for minutes without a word.

use std::path::PathBuf;
use std::time::Duration;

use dormouse_conversation::Role;
use dormouse_engine::EngineEvent;
use tokio::time::Instant;

use crate::interactive::progress::TurnProgress;
use crate::interactive::tool_calls;

/// How often a line is written where standard error is no terminal.
const PAUSE: Duration = Duration::from_secs(30);

/// Where progress is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProgressTarget {
    /// After a second, and then more and more seldom.
    Terminal,
    /// A line every 30 seconds.
    Log,
}

/// What a run is doing, in lines that are due.
pub(super) struct RunProgress {
    progress: TurnProgress,
    folder: PathBuf,
    target: ProgressTarget,
    last_line: Instant,
}

impl RunProgress {
    pub(super) fn new(target: ProgressTarget, folder: PathBuf, now: Instant) -> Self {
        let mut progress = TurnProgress::new(now);
        progress.waiting(now);
        Self { progress, folder, target, last_line: now }
    }

    pub(super) fn event(&mut self, event: &EngineEvent, now: Instant) {
        match event {
            EngineEvent::Text(_) => self.progress.writing(now),
            EngineEvent::Thinking(_) => self.progress.thinking(now),
            EngineEvent::Withdrawn | EngineEvent::Compacted(_) => self.progress.waiting(now),
            EngineEvent::Message(message) if message.role == Role::User => {
                self.progress.waiting(now);
            }
            EngineEvent::Compacting(_) => self.progress.compacting(now),
            EngineEvent::Retrying { delay, retry, of, .. } => {
                self.progress.retrying(*delay, *retry, *of, now);
            }
            EngineEvent::ToolStarted { id, name, input } => {
                let label = tool_calls::label(name, input, &self.folder);
                self.progress.call_started(id.clone(), name.clone(), label, now);
            }
            EngineEvent::ToolFinished { id, .. } => drop(self.progress.call_finished(id, now)),
            _ => {}
        }
    }

    /// The line that is due now. While the answer is written, that is progress enough.
    pub(super) fn line(&mut self, now: Instant) -> Option<String> {
        if self.progress.is_writing() {
            return None;
        }
        match self.target {
            ProgressTarget::Terminal => self.progress.line(now),
            ProgressTarget::Log if now.duration_since(self.last_line) < PAUSE => None,
            ProgressTarget::Log => {
                self.last_line = now;
                self.progress.describe(now)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_gets_a_line_every_half_minute() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut progress = RunProgress::new(ProgressTarget::Log, PathBuf::new(), start);
        assert_eq!(progress.line(after(29)), None);
        assert_eq!(
            progress.line(after(31)).as_deref(),
            Some("waiting for the model's first token · 31 s")
        );
        assert_eq!(progress.line(after(40)), None);
        progress.event(&EngineEvent::Text("so".to_owned()), after(50));
        assert_eq!(progress.line(after(70)), None, "it is being written");
    }

    #[test]
    fn a_terminal_hears_sooner() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut progress = RunProgress::new(ProgressTarget::Terminal, PathBuf::new(), start);
        assert_eq!(progress.line(after(0)), None);
        assert_eq!(progress.line(after(2)).as_deref(), Some("waiting for the model · 2 s"));
        assert_eq!(progress.line(after(3)), None);
        assert!(
            progress
                .line(after(11))
                .unwrap()
                .starts_with("waiting for the model's first token · 11 s")
        );
    }
}
