//! The status of a turn: what is going on and for how long (U-5).

use std::time::Duration;

use dormouse_conversation::ToolUseId;
use tokio::time::Instant;

use crate::message_catalog::msg;

/// The status appears after this long without output.
const PATIENCE: Duration = Duration::from_secs(1);
/// After this long the status says how to stop.
const LONG: Duration = Duration::from_secs(3);
/// Where a status cannot be overwritten, it is repeated after these seconds, then once a minute.
const REPEATED_AT: [u64; 3] = [1, 10, 30];

/// What the turn is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Activity {
    Nothing,
    Waiting,
    Thinking,
    Writing,
    Compacting,
    /// The next attempt, out of how many, and when it starts.
    Retrying {
        at: Instant,
        retry: u32,
        of: u32,
    },
}

/// A running tool call.
#[derive(Debug)]
struct RunningCall {
    id: ToolUseId,
    name: String,
    label: String,
    since: Instant,
    /// The last line it printed.
    printed: String,
}

/// The activity of the turn and when it began.
#[derive(Debug)]
pub(crate) struct TurnProgress {
    activity: Activity,
    since: Instant,
    /// When output was last written.
    silent_since: Instant,
    /// The running calls, oldest first.
    calls: Vec<RunningCall>,
    /// When the user interrupted the turn.
    stopping: Option<Instant>,
    /// The age in seconds at which the status was last appended.
    appended: Option<u64>,
}

impl TurnProgress {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            activity: Activity::Nothing,
            since: now,
            silent_since: now,
            calls: Vec::new(),
            stopping: None,
            appended: None,
        }
    }

    /// Resets: no turn is running.
    pub(crate) fn rest(&mut self, now: Instant) {
        *self = Self::new(now);
    }

    pub(crate) fn waiting(&mut self, now: Instant) {
        self.go(Activity::Waiting, now);
    }

    pub(crate) fn thinking(&mut self, now: Instant) {
        self.go(Activity::Thinking, now);
    }

    pub(crate) fn compacting(&mut self, now: Instant) {
        self.go(Activity::Compacting, now);
    }

    pub(crate) fn writing(&mut self, now: Instant) {
        self.go(Activity::Writing, now);
    }

    pub(crate) fn retrying(&mut self, delay: Duration, retry: u32, of: u32, now: Instant) {
        self.go(Activity::Retrying { at: now + delay, retry, of }, now);
    }

    pub(crate) fn stopping(&mut self, now: Instant) {
        self.stopping.get_or_insert(now);
        self.appended = None;
    }

    pub(crate) fn call_started(
        &mut self,
        id: ToolUseId,
        name: String,
        label: String,
        now: Instant,
    ) {
        self.calls.push(RunningCall { id, name, label, since: now, printed: String::new() });
        self.appended = None;
    }

    /// A hook has changed the arguments of a call.
    pub(crate) fn call_changed(&mut self, id: &ToolUseId, label: impl FnOnce(&str) -> String) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == *id) {
            call.label = label(&call.name);
        }
    }

    pub(crate) fn call_printed(&mut self, id: &ToolUseId, line: &str) {
        if let Some(call) = self.calls.iter_mut().find(|call| call.id == *id) {
            line.clone_into(&mut call.printed);
        }
    }

    /// Returns the label of the call, and how long it ran.
    pub(crate) fn call_finished(
        &mut self,
        id: &ToolUseId,
        now: Instant,
    ) -> Option<(String, Duration)> {
        let at = self.calls.iter().position(|call| call.id == *id)?;
        let call = self.calls.remove(at);
        self.appended = None;
        self.since = now;
        Some((call.label, now.duration_since(call.since)))
    }

    /// The user has permitted the calls with this label: only now they begin.
    pub(crate) fn call_permitted(&mut self, label: &str, now: Instant) {
        let permitted = self.calls.iter_mut().filter(|call| call.label == label);
        permitted.for_each(|call| call.since = now);
    }

    /// The labels of the calls that have not finished.
    pub(crate) fn unfinished_calls(&self) -> Vec<String> {
        self.calls.iter().map(|call| call.label.clone()).collect()
    }

    /// Output was written.
    pub(crate) fn shown(&mut self, now: Instant) {
        self.silent_since = now;
    }

    fn go(&mut self, activity: Activity, now: Instant) {
        if self.activity != activity {
            self.activity = activity;
            self.since = now;
            self.appended = None;
        }
    }

    /// What is going on now; empty if nothing is.
    pub(crate) fn now(&self, now: Instant) -> String {
        match self.describe(now) {
            Some((text, elapsed)) if elapsed >= LONG => {
                format!("{text} · {}", msg!("progress-esc"))
            }
            Some((text, _)) => text,
            None => String::new(),
        }
    }

    /// The status to append now; none if it is too early or was appended already.
    pub(crate) fn line(&mut self, now: Instant) -> Option<String> {
        if now.duration_since(self.silent_since) < PATIENCE {
            return None;
        }
        let (text, elapsed) = self.describe(now)?;
        let due = due(elapsed.as_secs());
        if due <= self.appended {
            return None;
        }
        self.appended = due;
        let stop = (elapsed >= LONG).then(|| format!(" · {}", msg!("progress-control-c")));
        Some(text + &stop.unwrap_or_default())
    }

    /// Whether the answer is being written.
    pub(crate) fn is_writing(&self) -> bool {
        self.activity == Activity::Writing && self.calls.is_empty()
    }

    /// What is going on, and for how long; none if nothing is.
    pub(crate) fn describe(&self, now: Instant) -> Option<(String, Duration)> {
        if let Some(since) = self.stopping {
            let seconds = now.duration_since(since).as_secs();
            let text = format!("{} · {seconds} s", msg!("progress-stopping"));
            return Some((text, Duration::from_secs(1)));
        }
        if let Some(RunningCall { label, since, printed, .. }) = self.calls.first() {
            let elapsed = now.duration_since(*since);
            let printed = if printed.is_empty() { String::new() } else { format!(" · {printed}") };
            let label = match self.calls.len() - 1 {
                0 => label.clone(),
                more => msg!("progress-more", label = label.as_str(), count = more),
            };
            return Some((format!("{label} · {} s{printed}", elapsed.as_secs()), elapsed));
        }
        let elapsed = now.duration_since(self.since);
        let what = match &self.activity {
            Activity::Nothing => return None,
            Activity::Waiting => msg!("progress-waiting"),
            Activity::Thinking => msg!("progress-thinking"),
            Activity::Compacting => msg!("progress-compacting"),
            Activity::Writing => msg!("progress-writing"),
            Activity::Retrying { at, retry, of } => {
                let left = at.saturating_duration_since(now).as_secs();
                if left == 0 {
                    let text = msg!("progress-retry", retry = *retry, of = *of);
                    return Some((format!("{text} · {} s", elapsed.as_secs()), elapsed));
                }
                let text = msg!("progress-retrying", seconds = left, retry = *retry, of = *of);
                return Some((text, elapsed));
            }
        };
        Some((format!("{what} · {} s", elapsed.as_secs()), elapsed))
    }
}

/// The last age, up to now, at which the status is repeated.
fn due(seconds: u64) -> Option<u64> {
    let first = REPEATED_AT.into_iter().rev().find(|due| *due <= seconds);
    if seconds >= 60 { Some(seconds - seconds % 60) } else { first }
}

/// Waits for a future; calls `notify` if that takes more than a moment.
pub(crate) async fn notify_if_slow<T>(work: impl Future<Output = T>, notify: impl FnOnce()) -> T {
    tokio::pin!(work);
    match tokio::time::timeout(PATIENCE, &mut work).await {
        Ok(result) => result,
        Err(_) => {
            notify();
            work.await
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_and_for_how_long() {
        let start = Instant::now();
        let after = |ms| start + Duration::from_millis(ms);
        let mut progress = TurnProgress::new(start);
        assert_eq!(progress.now(after(5_000)), "");
        progress.waiting(start);
        assert_eq!(progress.line(after(900)), None);
        assert_eq!(progress.now(after(2_100)), "waiting for the model · 2 s");
        let name = "Bash".to_owned();
        let label = "Bash: make".to_owned();
        progress.call_started(ToolUseId::new("t"), name, label, after(3_000));
        assert_eq!(progress.now(after(7_000)), "Bash: make · 4 s · Esc to interrupt");
        progress.call_printed(&ToolUseId::new("t"), "cc -c a.c");
        assert_eq!(progress.now(after(5_000)), "Bash: make · 2 s · cc -c a.c");
        progress.stopping(after(7_000));
        assert_eq!(progress.now(after(8_500)), "stopping · 1 s");
        progress.shown(after(7_500));
        assert_eq!(progress.line(after(8_000)), None);
    }

    #[test]
    fn a_log_is_not_filled_with_it() {
        let start = Instant::now();
        let mut progress = TurnProgress::new(start);
        progress.waiting(start);
        let lines = (0..130_000 / 250)
            .filter_map(|tick| {
                let now = start + Duration::from_millis(tick * 250);
                progress.line(now)
            })
            .count();
        assert_eq!(lines, 5);
    }
}
