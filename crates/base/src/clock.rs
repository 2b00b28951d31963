//! Time comes in from outside, so that a test can hold it.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use crate::environment::{Environment, names};

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

/// The machine's clock, ahead by as many seconds as a file says: a test lets hours pass while the program runs.
#[derive(Debug)]
struct AheadClock {
    machine: SystemClock,
    file: PathBuf,
}

impl AheadClock {
    fn ahead(&self) -> Duration {
        let text = std::fs::read_to_string(&self.file).unwrap_or_default();
        Duration::from_secs(text.trim().parse().unwrap_or(0))
    }
}

impl Clock for AheadClock {
    fn now(&self) -> Timestamp {
        self.machine.now().saturating_add(self.ahead()).unwrap_or(Timestamp::MAX)
    }

    fn elapsed(&self) -> Duration {
        self.machine.elapsed() + self.ahead()
    }
}

/// The system clock, or, in debug builds with `DORMOUSE_TEST_NOW` set, one that shows that moment; with `@` and a
/// file, one that is ahead by as many seconds as the file says.
///
/// Release builds ignore the variable: nobody's transcript should carry a made-up date.
pub fn clock_from_environment(environment: &Environment) -> Box<dyn Clock> {
    let machine = SystemClock::default();
    let Some(text) = environment.get(names::TEST_NOW).filter(|_| cfg!(debug_assertions)) else {
        return Box::new(machine);
    };
    match (text.strip_prefix('@'), text.parse::<Timestamp>()) {
        (Some(file), _) => Box::new(AheadClock { machine, file: file.into() }),
        (None, Ok(now)) => Box::new(ManualClock::new(now)),
        (None, Err(_)) => Box::new(machine),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "what a test would write")]
    fn a_file_lets_hours_pass() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ahead");
        let value = format!("@{}", file.display());
        let environment = Environment::from_pairs([(names::TEST_NOW, value)]);
        let clock = clock_from_environment(&environment);
        let (before, elapsed) = (clock.now(), clock.elapsed());
        std::fs::write(&file, "7200\n").unwrap();
        let passed = Duration::try_from(clock.now().duration_since(before)).unwrap();
        let hours = Duration::from_hours(2)..Duration::from_hours(3);
        assert!(hours.contains(&passed), "{passed:?}");
        assert!(hours.contains(&clock.elapsed().saturating_sub(elapsed)));
    }
}
