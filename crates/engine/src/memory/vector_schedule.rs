//! When a session makes vectors of memories that have none: now and then, and no more once it failed.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// How many memories get a vector in one go, so that no other process waits long for its turn.
pub(super) const FILLED_AT_ONCE: usize = 128;
/// Looking through all memories takes time: not with every message.
const PAUSE: Duration = Duration::from_mins(1);

/// What came of it so far.
#[derive(Debug, Default)]
pub(super) struct VectorSchedule(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    last: Option<Duration>,
    failed: bool,
}

impl VectorSchedule {
    /// Whether it is time again; if so, it counts as done now.
    pub(super) fn is_due(&self, now: Duration) -> bool {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due =
            !state.failed && state.last.is_none_or(|last| now.saturating_sub(last) >= PAUSE);
        if is_due {
            state.last = Some(now);
        }
        is_due
    }

    /// One that fails will fail again: `dormouse memory embed` says why.
    pub(super) fn done(&self, well: bool) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).failed = !well;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn now_and_then_until_it_fails() {
        let filling = VectorSchedule::default();
        let second = Duration::from_secs;
        assert!(filling.is_due(second(5)) && !filling.is_due(second(64)));
        assert!(filling.is_due(second(65)));
        filling.done(false);
        assert!(!filling.is_due(second(500)));
    }
}
