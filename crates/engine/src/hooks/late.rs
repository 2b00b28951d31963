//! What comes of hooks that nobody waits for. It goes to the person at once, and to the model with the next tool
//! round, in front of the next prompt, or when it would stop.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::{IdSource, MessageId};
use dormouse_context::{Fragment, HookContext};
use futures_util::future::BoxFuture;
use tokio::sync::Notify;

use super::answer::Answer;
use super::handler::Waiting;
use crate::{IncomingMessage, MessageSource};

/// A hook that wakes the model again and again is not heard for ever.
const MOST_REWAKES: u32 = 10;

/// What was said by hooks, until somebody takes it.
pub(crate) struct Late {
    ids: Arc<dyn IdSource>,
    said: Mutex<Said>,
    /// The person has something to see.
    noticed: Notify,
    /// A hook that may wake the model has ended.
    ended: Notify,
}

#[derive(Debug, Default)]
struct Said {
    notices: Vec<String>,
    notes: Vec<String>,
    /// Hooks under way that may wake the model.
    waking: usize,
    /// How often the model was woken since the person last spoke.
    rewakes: u32,
}

impl std::fmt::Debug for Late {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Late").field(&*self.said()).finish()
    }
}

impl Late {
    pub(super) fn new(ids: Arc<dyn IdSource>) -> Arc<Self> {
        let (noticed, ended) = (Notify::new(), Notify::new());
        Arc::new(Self { ids, said: Mutex::default(), noticed, ended })
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The person is to see this.
    pub(super) fn note(&self, notice: String) {
        self.said().notices.push(notice);
        self.noticed.notify_one();
    }

    /// What the person is to see, and has not yet.
    pub(super) fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.said().notices)
    }

    /// Waits until there is something for the person to see.
    pub(super) async fn noticed(&self) {
        self.noticed.notified().await;
    }

    /// Whether a hook is under way that may wake the model, and nothing has come yet.
    fn is_awaited(&self) -> bool {
        let said = self.said();
        said.waking > 0 && said.notes.is_empty()
    }

    /// The person speaks: whoever kept waking the model may do so again.
    pub(super) fn person_speaks(&self) {
        self.said().rewakes = 0;
    }

    /// A hook begins.
    pub(super) fn begin(&self, waiting: Waiting) {
        if waiting == Waiting::Rewake {
            self.said().waking += 1;
        }
    }

    /// It has ended, with this answer, made presentable already.
    pub(super) fn end(&self, waiting: Waiting, answer: Answer) {
        let Answer { notices, context, block, .. } = answer;
        for notice in notices {
            self.note(notice);
        }
        let mut said = self.said();
        said.notes.extend(context);
        match (waiting, block) {
            (Waiting::Rewake, Some(why)) if said.rewakes < MOST_REWAKES => {
                said.rewakes += 1;
                said.notes.push(why);
            }
            (Waiting::Rewake, Some(_)) => said.notices.push(format!(
                "a hook woke the model {MOST_REWAKES} times in a row; it is not heard again before you speak"
            )),
            (_, Some(why)) => said.notices.push(format!("a hook that ran beside refuses: {why}")),
            (_, None) => {}
        }
        if waiting == Waiting::Rewake {
            said.waking = said.waking.saturating_sub(1);
        }
        drop(said);
        self.ended.notify_waiters();
        self.noticed.notify_one();
    }
}

impl MessageSource for Late {
    fn take(&self) -> Vec<IncomingMessage> {
        let notes = std::mem::take(&mut self.said().notes);
        if notes.is_empty() {
            return Vec::new();
        }
        vec![IncomingMessage {
            id: format!("hook-{}", MessageId::generate(&*self.ids)),
            block: HookContext { notes }.to_block(),
            shown: "a hook that ran beside has something to say to the model".to_owned(),
        }]
    }

    fn under_way(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            loop {
                let ended = self.ended.notified();
                if !self.is_awaited() {
                    return;
                }
                ended.await;
            }
        })
    }
}
