//! Locking what threads of a benchmark share.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks, also after another thread has panicked: its figures are still worth reading.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
