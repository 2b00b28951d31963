//! Waiting for what a program does. Tests wait for events; time only limits how long a program may hang.

use std::time::{Duration, Instant};

/// The only limit of tests: on the slowest machine, what has not happened by now never will.
pub const HANGS: Duration = Duration::from_mins(5);
/// How often a condition is looked at.
pub(crate) const LOOK: Duration = Duration::from_millis(5);

/// Waits until something is so.
#[track_caller]
pub fn wait_until(what: &str, is_so: impl FnMut() -> bool) {
    assert!(is_in_time(is_so), "waited in vain for {what}");
}

/// Looks at a condition until it holds; whether it did before the limit.
pub(crate) fn is_in_time(mut is_so: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + HANGS;
    while !is_so() {
        if Instant::now() > deadline {
            return false;
        }
        std::thread::sleep(LOOK);
    }
    true
}
