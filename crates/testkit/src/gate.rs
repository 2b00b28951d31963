//! A gate in a stream: the server stops at it until the test opens it.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::waiting::HANGS;

/// How often a waiting thread looks whether the server has been stopped.
const LOOK: Duration = Duration::from_millis(20);

/// Locks, also after another thread has panicked: the data of a test server is still worth reading.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Debug, Default)]
struct State {
    open: bool,
    reached: bool,
}

/// A gate, closed until it is opened. Clones are the same gate.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<(Mutex<State>, Condvar)>);

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets the stream go on.
    pub fn open(&self) {
        lock(&self.0.0).open = true;
        self.0.1.notify_all();
    }

    /// Whether it was opened.
    pub(crate) fn is_open(&self) -> bool {
        lock(&self.0.0).open
    }

    /// Waits until the server stands at the gate: all before it has been written.
    pub fn wait_until_reached(&self) {
        let deadline = Instant::now() + HANGS;
        let mut state = lock(&self.0.0);
        while !state.reached {
            let left = deadline.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "no stream came to the gate within {HANGS:?}");
            state = self.0.1.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// The server's side: stops here until the gate is open or the server is to stop.
    pub(crate) fn pass(&self, stopped: impl Fn() -> bool) {
        let mut state = lock(&self.0.0);
        state.reached = true;
        self.0.1.notify_all();
        while !state.open && !stopped() {
            state = self.0.1.wait_timeout(state, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
