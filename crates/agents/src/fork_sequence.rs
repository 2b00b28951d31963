//! The order of forks started in one response: the first one fills the prompt cache for the others.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_engine::ForkPoint;
use tokio::sync::watch;

/// The most recent group of forks.
#[derive(Default)]
pub(crate) struct ForkSequence(Mutex<Option<ForkGroup>>);

/// The forks of one response.
struct ForkGroup {
    branch: Arc<ForkPoint>,
    first_streaming: watch::Receiver<bool>,
}

/// The position of a fork among the forks of its response.
pub(crate) enum ForkPosition {
    /// Signals when its response stream begins.
    First(watch::Sender<bool>),
    /// Waits for that signal: only then is the shared prefix cached.
    Later(watch::Receiver<bool>),
}

impl ForkSequence {
    /// Adds a fork of `branch`.
    pub(crate) fn add(&self, branch: &Arc<ForkPoint>) -> ForkPosition {
        let mut group = self.lock();
        if let Some(group) = group.as_ref().filter(|group| Arc::ptr_eq(&group.branch, branch)) {
            return ForkPosition::Later(group.first_streaming.clone());
        }
        let (sender, first_streaming) = watch::channel(false);
        *group = Some(ForkGroup { branch: Arc::clone(branch), first_streaming });
        ForkPosition::First(sender)
    }

    pub(crate) fn clear(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<ForkGroup>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
