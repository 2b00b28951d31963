//! A clock that a benchmark moves while the program runs. Compiled in only with the feature `movable-clock`, which nothing
//! turns on but the command that builds the benchmark's own binary: no released program can be told a wrong time.

use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use crate::clock::{Clock, SystemClock};
use crate::environment::Environment;

/// A file with the seconds that the clock is ahead.
const BENCH_CLOCK: &str = "DORMOUSE_BENCH_CLOCK";

/// The machine's clock, ahead by as many seconds as a file says.
#[derive(Debug)]
pub(crate) struct MovableClock {
    machine: SystemClock,
    file: PathBuf,
}

impl MovableClock {
    /// The clock that the environment names; none where it names none.
    pub(crate) fn from_environment(environment: &Environment) -> Option<Self> {
        let file = environment.path(BENCH_CLOCK)?;
        Some(Self { machine: SystemClock::default(), file })
    }

    fn ahead(&self) -> Duration {
        let text = std::fs::read_to_string(&self.file).unwrap_or_default();
        Duration::from_secs(text.trim().parse().unwrap_or(0))
    }
}

impl Clock for MovableClock {
    fn now(&self) -> Timestamp {
        self.machine.now().saturating_add(self.ahead()).unwrap_or(Timestamp::MAX)
    }

    fn elapsed(&self) -> Duration {
        self.machine.elapsed() + self.ahead()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "what a benchmark would write")]
    fn a_file_lets_hours_pass() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("ahead");
        let environment = Environment::from_pairs([(BENCH_CLOCK, file.clone())]);
        let clock = MovableClock::from_environment(&environment).unwrap();
        let (before, elapsed) = (clock.now(), clock.elapsed());
        std::fs::write(&file, "7200\n").unwrap();
        let passed = Duration::try_from(clock.now().duration_since(before)).unwrap();
        let hours = Duration::from_hours(2)..Duration::from_hours(3);
        assert!(hours.contains(&passed), "{passed:?}");
        assert!(hours.contains(&clock.elapsed().saturating_sub(elapsed)));
    }
}
