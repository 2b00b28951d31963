//! Time comes in from outside, so that a test can hold it.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use jiff::Timestamp;

/// Where the program gets the time from.
pub trait Clock: Send + Sync {
    /// The wall clock: for time stamps and dates.
    fn now(&self) -> Timestamp;
    /// Time since some fixed moment, never going back: for durations.
    fn elapsed(&self) -> Duration;
}

/// The machine's own clock.
#[derive(Debug)]
pub struct SystemClock {
    start: Instant,
}

impl Default for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one door to the machine's clock")]
    fn default() -> Self {
        Self { start: Instant::now() }
    }
}

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the one door to the machine's clock")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct ManualClock {
    state: Mutex<(Timestamp, Duration)>,
}

impl ManualClock {
    /// A clock that shows `now`.
    pub fn new(now: Timestamp) -> Self {
        Self { state: Mutex::new((now, Duration::ZERO)) }
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        let mut state = self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        state.0 = state.0.saturating_add(by).unwrap_or(Timestamp::MAX);
        state.1 = state.1.saturating_add(by);
    }

    fn read(&self) -> (Timestamp, Duration) {
        *self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        self.read().0
    }

    fn elapsed(&self) -> Duration {
        self.read().1
    }
}
