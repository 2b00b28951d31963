//! The hooks of a session that run in the background. Those of its subagents are among them: a subagent may be gone before its
//! hooks have ended, so the session waits for them at its end and takes over what they still have to say.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;

use futures_util::future::poll_fn;
use tokio::task::{Id, JoinSet};

use crate::pending::PendingOutput;

/// Upper bound of the timeout that a hook can set for itself at the end of a session.
const LONGEST_END_TIMEOUT: Duration = Duration::from_mins(1);

/// The hooks of a session that run in the background. Clones share them; when the last is dropped, they end.
#[derive(Debug, Clone, Default)]
pub struct BackgroundHooks(Arc<Mutex<RunningHooks>>);

#[derive(Debug, Default)]
struct RunningHooks {
    tasks: JoinSet<()>,
    hooks: HashMap<Id, BackgroundHook>,
    /// Where output of the session's own conversation is read.
    session_output: Weak<PendingOutput>,
}

/// A hook that runs in the background.
#[derive(Debug, Clone)]
pub(crate) struct BackgroundHook {
    /// As the user is told of it.
    pub(crate) name: String,
    /// The timeout that its configuration sets.
    pub(crate) set_timeout: Option<Duration>,
}

impl RunningHooks {
    fn forget(&mut self, ended: Result<(Id, ()), tokio::task::JoinError>) {
        let id = ended.map_or_else(|error| error.id(), |(id, ())| id);
        self.hooks.remove(&id);
    }
}

impl BackgroundHooks {
    fn lock(&self) -> MutexGuard<'_, RunningHooks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session's own conversation reads its output here.
    pub(crate) fn belong_to(&self, output: &Arc<PendingOutput>) {
        self.lock().session_output = Arc::downgrade(output);
    }

    /// Where the session's own conversation reads output; none if it has no hooks itself.
    pub(crate) fn session_output(&self) -> Option<Arc<PendingOutput>> {
        self.lock().session_output.upgrade()
    }

    /// Runs a hook beside the session.
    pub(crate) fn spawn(
        &self,
        hook: BackgroundHook,
        work: impl Future<Output = ()> + Send + 'static,
    ) {
        let mut running = self.lock();
        while let Some(ended) = running.tasks.try_join_next_with_id() {
            running.forget(ended);
        }
        let id = running.tasks.spawn(work).id();
        running.hooks.insert(id, hook);
    }

    /// Ends them with the session: waits for `end_hooks` and for those that run, for the `usual` time or the longest that the
    /// configuration sets for one of them (`of_end_hooks` for the former). Returns what the user is told if that is not enough.
    pub async fn finish(
        &self,
        usual: Duration,
        of_end_hooks: Option<Duration>,
        end_hooks: impl Future<Output = ()>,
    ) -> Option<String> {
        let set = self.lock().hooks.values().filter_map(|hook| hook.set_timeout).max();
        let longest = set.max(of_end_hooks).unwrap_or_default();
        let timeout = longest.clamp(usual, LONGEST_END_TIMEOUT.max(usual));
        let all = async {
            end_hooks.await;
            self.ended().await;
        };
        if tokio::time::timeout(timeout, all).await.is_ok() {
            return None;
        }
        let which = match self.stop().as_slice() {
            [] => String::new(),
            names => format!(" and were stopped: {}", names.join(", ")),
        };
        let hint = "a `timeout` in a hook's configuration gives it longer";
        Some(format!("hooks at the end of the session timed out{which}; {hint}"))
    }

    /// Waits until none runs.
    async fn ended(&self) {
        poll_fn(|context| {
            let mut running = self.lock();
            loop {
                match running.tasks.poll_join_next_with_id(context) {
                    Poll::Ready(Some(ended)) => running.forget(ended),
                    Poll::Ready(None) => return Poll::Ready(()),
                    Poll::Pending => return Poll::Pending,
                }
            }
        })
        .await;
    }

    /// Stops those that still run. Returns their names.
    fn stop(&self) -> Vec<String> {
        let mut running = self.lock();
        running.tasks = JoinSet::new();
        let mut names: Vec<String> = running.hooks.drain().map(|(_, hook)| hook.name).collect();
        names.sort();
        names
    }
}
