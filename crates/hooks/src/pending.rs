//! Output of hooks that nobody has read yet: notices for the user, and what background hooks tell the model.
//! Notes for the model go out with the next tool round, before the next prompt, or when the model would stop.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::{IdSource, MessageId};
use tokio::sync::Notify;

use crate::handler::WaitMode;
use crate::response::HookResponse;

/// How often background hooks may wake the model between two prompts of the user.
const MOST_REWAKES: u32 = 10;

/// Output of a hook for the user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookNotice {
    /// A message.
    Text(String),
    /// Control sequences for the terminal, as the hook printed them: whoever writes them checks which are allowed.
    TerminalSequence(String),
}

/// Queues for the user and for the model.
pub(crate) struct PendingOutput {
    ids: Arc<dyn IdSource>,
    queues: Mutex<Queues>,
    notice_added: Notify,
    hook_finished: Notify,
}

#[derive(Debug, Default)]
struct Queues {
    notices: Vec<HookNotice>,
    notes: Vec<String>,
    /// Running hooks that may wake the model.
    rewaking: usize,
    /// How often the model was woken since the user's last prompt.
    rewakes: u32,
    /// The conversation whose output this is once its own is over.
    heir: Option<Arc<PendingOutput>>,
}

impl std::fmt::Debug for PendingOutput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PendingOutput").field(&*self.queues()).finish()
    }
}

impl PendingOutput {
    pub(crate) fn new(ids: Arc<dyn IdSource>) -> Arc<Self> {
        let queues = Mutex::default();
        Arc::new(Self { ids, queues, notice_added: Notify::new(), hook_finished: Notify::new() })
    }

    /// From here on another conversation's output: this conversation is over, and its hooks may still run.
    pub(crate) fn hand_over_to(&self, heir: &Arc<Self>) {
        let mut own = self.queues();
        own.heir = Some(Arc::clone(heir));
        let (notices, notes) = (std::mem::take(&mut own.notices), std::mem::take(&mut own.notes));
        let rewaking = std::mem::take(&mut own.rewaking);
        drop(own);
        let mut queues = heir.queues();
        queues.notices.extend(notices);
        queues.notes.extend(notes);
        queues.rewaking += rewaking;
        drop(queues);
        heir.notice_added.notify_one();
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a message for the user.
    pub(crate) fn notice(&self, notice: String) {
        self.add(HookNotice::Text(notice));
    }

    /// Queues output for the user.
    pub(crate) fn add(&self, notice: HookNotice) {
        self.queues().notices.push(notice);
        self.notice_added.notify_one();
    }

    /// A new id for a prompt.
    pub(crate) fn new_id(&self) -> String {
        MessageId::generate(&*self.ids).to_string()
    }

    pub(crate) fn take_notices(&self) -> Vec<HookNotice> {
        std::mem::take(&mut self.queues().notices)
    }

    pub(crate) async fn notice_ready(&self) {
        self.notice_added.notified().await;
    }

    /// The notes for the model, with a new id.
    pub(crate) fn take_notes(&self) -> Option<(String, Vec<String>)> {
        let notes = std::mem::take(&mut self.queues().notes);
        let id = || format!("hook-{}", MessageId::generate(&*self.ids));
        (!notes.is_empty()).then(|| (id(), notes))
    }

    /// Waits while a hook runs that may wake the model and there are no notes yet.
    pub(crate) async fn wait_for_notes(&self) {
        loop {
            let finished = self.hook_finished.notified();
            if !self.expects_notes() {
                return;
            }
            finished.await;
        }
    }

    fn expects_notes(&self) -> bool {
        let queues = self.queues();
        queues.rewaking > 0 && queues.notes.is_empty()
    }

    /// The user has sent a prompt: hooks may wake the model again.
    pub(crate) fn reset_rewakes(&self) {
        self.queues().rewakes = 0;
    }

    /// A background hook starts.
    pub(crate) fn start(&self, mode: WaitMode) {
        if mode == WaitMode::BackgroundRewake {
            self.queues().rewaking += 1;
        }
    }

    /// A background hook has finished with this response, which is sanitized already.
    pub(crate) fn finish(&self, mode: WaitMode, response: HookResponse) {
        let heir = self.queues().heir.clone();
        if let Some(heir) = heir {
            return heir.finish(mode, response);
        }
        let HookResponse { notices, context, block, terminal_sequence, .. } = response;
        for notice in notices {
            self.notice(notice);
        }
        if let Some(sequence) = terminal_sequence {
            self.add(HookNotice::TerminalSequence(sequence));
        }
        let mut queues = self.queues();
        queues.notes.extend(context);
        match (mode, block) {
            (WaitMode::BackgroundRewake, Some(reason)) if queues.rewakes < MOST_REWAKES => {
                queues.rewakes += 1;
                queues.notes.push(reason);
            }
            (WaitMode::BackgroundRewake, Some(_)) => queues.notices.push(HookNotice::Text(format!(
                "a hook woke the model {MOST_REWAKES} times in a row; ignored until your next prompt"
            ))),
            (_, Some(reason)) => {
                let text = format!("a background hook reports a problem: {reason}");
                queues.notices.push(HookNotice::Text(text));
            }
            (_, None) => {}
        }
        if mode == WaitMode::BackgroundRewake {
            queues.rewaking = queues.rewaking.saturating_sub(1);
        }
        drop(queues);
        self.hook_finished.notify_waiters();
        self.notice_added.notify_one();
    }
}
