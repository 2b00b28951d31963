//! When a session makes vectors for memories that have none: at intervals, until it fails.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Memories that get vectors at a time, up to nine each, so that no other process waits long for the lock.
pub(super) const VECTORS_AT_ONCE: usize = 64;
/// Looking through all memories takes too long for every message.
const INTERVAL: Duration = Duration::from_mins(1);

/// When vectors were last made, and whether that failed.
#[derive(Debug, Default)]
pub(super) struct VectorSchedule(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Duration>,
    failed: bool,
}

impl VectorSchedule {
    /// Whether the interval has passed; if so, the next one begins now.
    pub(super) fn take_turn(&self, now: Duration) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due =
            !state.failed && state.last.is_none_or(|last| now.saturating_sub(last) >= INTERVAL);
        if is_due {
            state.last = Some(now);
        }
        is_due
    }

    /// After a failure there are no more turns: `dormouse memory embed` shows the reason.
    pub(super) fn finished(&self, succeeded: bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).failed = !succeeded;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_intervals_until_it_fails() {
        let schedule = VectorSchedule::default();
        let second = Duration::from_secs;
        assert!(schedule.take_turn(second(5)) && !schedule.take_turn(second(64)));
        assert!(schedule.take_turn(second(65)));
        schedule.finished(false);
        assert!(!schedule.take_turn(second(500)));
    }
}
