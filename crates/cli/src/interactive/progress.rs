//! What is going on, for a person who waits: nothing is ever just silent (U-5).

use std::time::Duration;

use dormouse_conversation::ToolUseId;
use tokio::time::Instant;

use super::screen::Status;

/// After so much silence something is said.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);
/// From when on it is said how to stop it.
const LONG: Duration = Duration::from_secs(3);
/// Where a status can not be written over itself, it is said again after these seconds, and then once
/// a minute.
const SAID_AGAIN: [u64; 3] = [1, 10, 30];

/// What the program waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Doing {
    Nothing,
    Waiting,
    Thinking,
    Writing,
    Compacting,
    /// Which try of how many comes when.
    Retrying {
        at: Instant,
        retry: u32,
        of: u32,
    },
}

/// A call that runs.
#[derive(Debug)]
struct Running {
    id: ToolUseId,
    name: String,
    label: String,
    since: Instant,
    /// What it printed last.
    printed: String,
}

/// What is going on and since when.
#[derive(Debug)]
pub(crate) struct Progress {
    doing: Doing,
    since: Instant,
    /// When something was last put on the terminal.
    silent_since: Instant,
    /// The calls that run, the oldest first.
    calls: Vec<Running>,
    /// Since when the person wants it to stop.
    stopping: Option<Instant>,
    /// The seconds after which something was last said in a line of its own.
    said: Option<u64>,
}

impl Progress {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            doing: Doing::Nothing,
            since: now,
            silent_since: now,
            calls: Vec::new(),
            stopping: None,
            said: None,
        }
    }

    /// Nothing is waited for.
    pub(crate) fn rest(&mut self, now: Instant) {
        *self = Self::new(now);
    }

    pub(crate) fn waiting(&mut self, now: Instant) {
        self.go(Doing::Waiting, now);
    }

    pub(crate) fn thinking(&mut self, now: Instant) {
        self.go(Doing::Thinking, now);
    }

    pub(crate) fn compacting(&mut self, now: Instant) {
        self.go(Doing::Compacting, now);
    }

    pub(crate) fn writing(&mut self, now: Instant) {
        self.go(Doing::Writing, now);
    }

    pub(crate) fn retrying(&mut self, delay: Duration, retry: u32, of: u32, now: Instant) {
        self.go(Doing::Retrying { at: now + delay, retry, of }, now);
    }

    pub(crate) fn stopping(&mut self, now: Instant) {
        self.stopping.get_or_insert(now);
        self.said = None;
    }

    pub(crate) fn call_started(
        &mut self,
        id: ToolUseId,
        (name, label): (String, String),
        now: Instant,
    ) {
        self.calls.push(Running { id, name, label, since: now, printed: String::new() });
        self.said = None;
    }

    /// A call runs with other arguments than it was made with.
    pub(crate) fn call_changed(&mut self, id: &ToolUseId, label: impl FnOnce(&str) -> String) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == *id) {
            call.label = label(&call.name);
        }
    }

    /// A call has printed a line.
    pub(crate) fn call_printed(&mut self, id: &ToolUseId, line: &str) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == *id) {
            line.clone_into(&mut call.printed);
        }
    }

    /// Gives the label that the call had.
    pub(crate) fn call_finished(&mut self, id: &ToolUseId, now: Instant) -> Option<String> {
        let at = self.calls.iter().position(|call| call.id == *id)?;
        let label = self.calls.remove(at).label;
        self.said = None;
        self.since = now;
        Some(label)
    }

    /// Something was put on the terminal.
    pub(crate) fn shown(&mut self, now: Instant) {
        self.silent_since = now;
    }

    fn go(&mut self, doing: Doing, now: Instant) {
        if self.doing != doing {
            self.doing = doing;
            self.since = now;
            self.said = None;
        }
    }

    /// What to say now; nothing, if it is too early or has been said.
    pub(crate) fn line(&mut self, now: Instant, status: Status) -> Option<String> {
        if now.duration_since(self.silent_since) < PATIENCE {
            return None;
        }
        let (text, elapsed) = self.describe(now)?;
        if status == Status::Appended {
            let due = due(elapsed.as_secs());
            if due <= self.said {
                return None;
            }
            self.said = due;
        }
        let stop = if elapsed >= LONG { " · Ctrl-C stops" } else { "" };
        Some(format!("{text}{stop}"))
    }

    fn describe(&self, now: Instant) -> Option<(String, Duration)> {
        if let Some(since) = self.stopping {
            let seconds = now.duration_since(since).as_secs();
            return Some((format!("stopping · {seconds} s"), Duration::from_secs(1)));
        }
        if let Some(Running { label, since, printed, .. }) = self.calls.first() {
            let elapsed = now.duration_since(*since);
            let printed = if printed.is_empty() { String::new() } else { format!(" · {printed}") };
            let more = match self.calls.len() - 1 {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            return Some((format!("{label}{more} · {} s{printed}", elapsed.as_secs()), elapsed));
        }
        let elapsed = now.duration_since(self.since);
        let what = match &self.doing {
            Doing::Nothing => return None,
            Doing::Waiting => "waiting for the model",
            Doing::Thinking => "thinking",
            Doing::Compacting => "compacting the conversation",
            Doing::Writing => "writing",
            Doing::Retrying { at, retry, of } => {
                let left = at.saturating_duration_since(now).as_secs();
                return Some((format!("trying again in {left} s ({retry} of {of})"), elapsed));
            }
        };
        Some((format!("{what} · {} s", elapsed.as_secs()), elapsed))
    }
}

/// The last moment, up to now, at which something was to be said.
fn due(seconds: u64) -> Option<u64> {
    let first = SAID_AGAIN.into_iter().rev().find(|due| *due <= seconds);
    if seconds >= 60 { Some(seconds - seconds % 60) } else { first }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_is_broken_after_a_second() {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let mut progress = Progress::new(start);
        assert_eq!(progress.line(after(5_000), Status::Rewritten), None);
        progress.waiting(start);
        assert_eq!(progress.line(after(900), Status::Rewritten), None);
        let line = progress.line(after(2_100), Status::Rewritten);
        assert_eq!(line.as_deref(), Some("waiting for the model · 2 s"));
        let names = ("Bash".to_owned(), "Bash: make".to_owned());
        progress.call_started(ToolUseId::new("t"), names, after(3_000));
        let line = progress.line(after(7_000), Status::Rewritten);
        assert_eq!(line.as_deref(), Some("Bash: make · 4 s · Ctrl-C stops"));
        progress.call_printed(&ToolUseId::new("t"), "cc -c a.c");
        let line = progress.line(after(5_000), Status::Rewritten);
        assert_eq!(line.as_deref(), Some("Bash: make · 2 s · cc -c a.c"));
        progress.stopping(after(7_000));
        let line = progress.line(after(8_500), Status::Rewritten);
        assert_eq!(line.as_deref(), Some("stopping · 1 s"));
        progress.shown(after(7_500));
        assert_eq!(progress.line(after(8_000), Status::Rewritten), None);
    }

    #[test]
    fn a_log_is_not_filled_with_it() {
        let start = Instant::now();
        let mut progress = Progress::new(start);
        progress.waiting(start);
        let lines = (0..130_000 / 250)
            .filter_map(|tick| {
                let now = start + Duration::from_millis(tick * 250);
                progress.line(now, Status::Appended)
            })
            .count();
        assert_eq!(lines, 5);
    }
}
