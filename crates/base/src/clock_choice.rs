//! Which clock the program goes by.

use jiff::Timestamp;

use crate::clock::{Clock, ManualClock, SystemClock};
use crate::environment::{Environment, names};
#[cfg(feature = "movable-clock")]
use crate::movable_clock::MovableClock;

/// The system clock, or, in debug builds with `DORMOUSE_TEST_NOW` set, one that shows that moment.
///
/// Release builds ignore the variable: nobody's transcript should carry a made-up date.
pub fn clock_from_environment(environment: &Environment) -> Box<dyn Clock> {
    #[cfg(feature = "movable-clock")]
    if let Some(clock) = MovableClock::from_environment(environment) {
        return Box::new(clock);
    }
    let set = environment.get(names::TEST_NOW).filter(|_| cfg!(debug_assertions));
    match set.and_then(|text| text.parse::<Timestamp>().ok()) {
        Some(now) => Box::new(ManualClock::new(now)),
        None => Box::new(SystemClock::default()),
    }
}
