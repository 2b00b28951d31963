//! The status of a turn: what is going on and for how long (U-5).

use std::time::Duration;

use dormouse_conversation::ToolUseId;
use dormouse_tui::width;
use tokio::time::Instant;

use crate::message_catalog::msg;
use crate::wiring::command_text::duration_text;

/// The status appears after this long without output.
const PATIENCE: Duration = Duration::from_secs(1);
/// After this long the status says how to stop.
const LONG: Duration = Duration::from_secs(3);
/// After this long it says what exactly is missing.
const VERY_LONG: Duration = Duration::from_secs(10);
/// However narrow the terminal is, this many columns say what is going on.
const LEAST_COLUMNS: usize = 8;
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

/// What is going on, and for how long.
#[derive(Debug, PartialEq, Eq)]
struct TurnStatus {
    what: String,
    /// None where `what` says when it goes on.
    elapsed: Option<Duration>,
    /// The last line that a call printed.
    printed: String,
    /// Whether it has taken so long that the way to stop it is said.
    is_long: bool,
}

impl TurnStatus {
    fn new(what: String, elapsed: Duration) -> Self {
        Self { what, elapsed: Some(elapsed), printed: String::new(), is_long: elapsed >= LONG }
    }

    /// On one row: time and key have room, whatever the rest takes.
    fn row(&self, columns: usize) -> String {
        let stop = self.is_long.then(|| msg!("progress-esc"));
        let after = self.after(stop.as_deref(), "");
        let room = columns.saturating_sub(width::of(&after)).max(LEAST_COLUMNS);
        let row = format!("{}{after}", width::fitted(&self.what, room));
        let printed = after_mark(&self.printed);
        let left = columns.saturating_sub(width::of(&row));
        // A few letters say nothing.
        let has_room = left >= width::of(&printed).min(LEAST_COLUMNS);
        if has_room { row + &width::fitted(&printed, left) } else { row }
    }

    /// As a line of its own.
    fn line(&self, stop: Option<&str>) -> String {
        format!("{}{}", self.what, self.after(stop, &self.printed))
    }

    fn after(&self, stop: Option<&str>, printed: &str) -> String {
        let time = self.elapsed.map(duration_text).unwrap_or_default();
        [time.as_str(), printed, stop.unwrap_or_default()].map(after_mark).concat()
    }
}

fn after_mark(part: &str) -> String {
    if part.is_empty() { String::new() } else { format!(" · {part}") }
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

    /// What is going on now, on a row of so many columns; empty if nothing is.
    pub(crate) fn now(&self, now: Instant, columns: usize) -> String {
        self.status(now).map(|status| status.row(columns)).unwrap_or_default()
    }

    /// The status to append now; none if it is too early or was appended already.
    pub(crate) fn line(&mut self, now: Instant) -> Option<String> {
        if now.duration_since(self.silent_since) < PATIENCE {
            return None;
        }
        let status = self.status(now)?;
        let since = status.elapsed.unwrap_or_else(|| now.duration_since(self.since));
        let due = due(since.as_secs());
        if due <= self.appended {
            return None;
        }
        self.appended = due;
        let stop = status.is_long.then(|| msg!("progress-control-c"));
        Some(status.line(stop.as_deref()))
    }

    /// What is going on and for how long, as a line of a log; none if nothing is.
    pub(crate) fn describe(&self, now: Instant) -> Option<String> {
        Some(self.status(now)?.line(None))
    }

    /// Whether the answer is being written.
    pub(crate) fn is_writing(&self) -> bool {
        self.activity == Activity::Writing && self.calls.is_empty()
    }

    /// What is going on, and for how long; none if nothing is.
    fn status(&self, now: Instant) -> Option<TurnStatus> {
        if let Some(since) = self.stopping {
            let elapsed = now.duration_since(since);
            let status = TurnStatus::new(msg!("progress-stopping"), elapsed);
            // The key was pressed already.
            return Some(TurnStatus { is_long: false, ..status });
        }
        if let Some(call) = self.calls.first() {
            return Some(self.call_status(call, now.duration_since(call.since)));
        }
        let elapsed = now.duration_since(self.since);
        let is_very_long = elapsed >= VERY_LONG;
        let what = match &self.activity {
            Activity::Nothing => return None,
            Activity::Waiting if is_very_long => msg!("progress-first-token"),
            Activity::Waiting => msg!("progress-waiting"),
            Activity::Thinking => msg!("progress-thinking"),
            Activity::Compacting => msg!("progress-compacting"),
            Activity::Writing => {
                let silence = now.duration_since(self.silent_since);
                if silence >= VERY_LONG {
                    return Some(TurnStatus::new(msg!("progress-more-text"), silence));
                }
                msg!("progress-writing")
            }
            Activity::Retrying { at, retry, of } => {
                let left = at.saturating_duration_since(now).as_secs();
                if left > 0 {
                    let what = msg!("progress-retrying", seconds = left, retry = *retry, of = *of);
                    return Some(TurnStatus { elapsed: None, ..TurnStatus::new(what, elapsed) });
                }
                msg!("progress-retry", retry = *retry, of = *of)
            }
        };
        Some(TurnStatus::new(what, elapsed))
    }

    fn call_status(&self, call: &RunningCall, elapsed: Duration) -> TurnStatus {
        let label = match self.calls.len() - 1 {
            0 => call.label.clone(),
            more => msg!("progress-more", label = call.label.as_str(), count = more),
        };
        TurnStatus { printed: call.printed.clone(), ..TurnStatus::new(label, elapsed) }
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
        let now = |progress: &TurnProgress, ms| progress.now(after(ms), 80);
        assert_eq!(now(&progress, 5_000), "");
        progress.waiting(start);
        assert_eq!(progress.line(after(900)), None);
        assert_eq!(now(&progress, 2_100), "waiting for the model · 2 s");
        let first_token = "waiting for the model's first token · 3 min 20 s · Esc to interrupt";
        assert_eq!(now(&progress, 200_000), first_token);
        let name = "Bash".to_owned();
        let label = "Bash: make".to_owned();
        progress.call_started(ToolUseId::new("t"), name, label, after(3_000));
        assert_eq!(now(&progress, 7_000), "Bash: make · 4 s · Esc to interrupt");
        progress.call_printed(&ToolUseId::new("t"), "cc -c a.c");
        assert_eq!(now(&progress, 5_000), "Bash: make · 2 s · cc -c a.c");
        let long = "Bash: make · 1 min 0 s · Esc to interrupt · cc -c a.c";
        assert_eq!(now(&progress, 63_000), long);
        let narrow = progress.now(after(63_000), 36);
        assert_eq!(narrow, "Bash: m… · 1 min 0 s · Esc to interrupt");
        progress.stopping(after(7_000));
        assert_eq!(now(&progress, 8_500), "stopping · 1 s");
        progress.shown(after(7_500));
        assert_eq!(progress.line(after(8_000)), None);
    }

    #[test]
    fn an_answer_that_stops_in_the_middle() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let mut progress = TurnProgress::new(start);
        progress.writing(start);
        progress.shown(after(30));
        assert_eq!(progress.now(after(35), 80), "writing · 35 s · Esc to interrupt");
        let silent = "waiting for the rest of the answer · 20 s · Esc to interrupt";
        assert_eq!(progress.now(after(50), 80), silent);
        progress.retrying(Duration::from_secs(8), 2, 10, after(50));
        let retrying = "retrying in 4 s (2 of 10) · Esc to interrupt";
        assert_eq!(progress.now(after(54), 80), retrying);
        let attempt = "waiting for the model, attempt 2 of 10 · 12 s · Esc to interrupt";
        assert_eq!(progress.now(after(62), 80), attempt);
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
