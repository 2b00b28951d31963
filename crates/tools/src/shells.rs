//! Commands that run in the background of a conversation.
//!
//! Invariants: of what a shell prints, the newest [`UNREAD_BYTES`] that nobody has looked at yet are
//! held; what is dropped before is counted and said. All shells end when this goes.

mod unread;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dormouse_base::Redactor;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::printed::Printed;
use crate::process::{MergedProcess, ProcessEnd};
use unread::UnreadOutput;

/// The most that is held of what was printed since the last look.
pub(crate) const UNREAD_BYTES: usize = 1024 * 1024;
/// A background command may take as long as it likes.
const NO_LIMIT: Duration = Duration::MAX;

/// The shells of a conversation.
#[derive(Debug, Default)]
pub struct Shells {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    shells: BTreeMap<String, Arc<BackgroundShell>>,
    /// Dropping a task drops its process, which ends it.
    tasks: JoinSet<()>,
}

/// How a shell fares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ShellStatus {
    Running,
    /// How it ended, in words.
    Ended(String),
}

/// One of them.
#[derive(Debug)]
pub(crate) struct BackgroundShell {
    pub(crate) command: String,
    unread: Mutex<UnreadOutput>,
    status: watch::Receiver<ShellStatus>,
    stop: CancellationToken,
}

impl Shells {
    /// Watches over a command that was started, and gives its id.
    pub(crate) fn add(&self, command: &str, process: MergedProcess, redactor: &Redactor) -> String {
        let mut inner = lock(&self.inner);
        let id = format!("shell_{}", inner.shells.len() + 1);
        let (told, status) = watch::channel(ShellStatus::Running);
        let shell = Arc::new(BackgroundShell {
            command: command.to_owned(),
            unread: Mutex::default(),
            status,
            stop: CancellationToken::new(),
        });
        inner.shells.insert(id.clone(), Arc::clone(&shell));
        while inner.tasks.try_join_next().is_some() {}
        inner.tasks.spawn(watch_over(shell, process, Printed::new(redactor), told));
        id
    }

    /// The shell of that id; else what there is, for the model to read.
    pub(crate) fn get(&self, id: &str) -> Result<Arc<BackgroundShell>, String> {
        let inner = lock(&self.inner);
        let known = || {
            let names: Vec<&str> = inner.shells.keys().map(String::as_str).collect();
            if names.is_empty() {
                format!("there is no shell `{id}`: none was started with `run_in_background`")
            } else {
                format!("there is no shell `{id}`; there are: {}", names.join(", "))
            }
        };
        inner.shells.get(id).cloned().ok_or_else(known)
    }
}

async fn watch_over(
    shell: Arc<BackgroundShell>,
    process: MergedProcess,
    mut printed: Printed,
    told: watch::Sender<ShellStatus>,
) {
    let take = |piece: &[u8]| lock(&shell.unread).push(&printed.push(piece));
    let ended = process.run(take, NO_LIMIT, &shell.stop).await;
    lock(&shell.unread).push(&printed.finish());
    let how = match ended {
        Ok((ProcessEnd::Exited(status), _)) => {
            crate::bash::exit_note(status).unwrap_or_else(|| "[exit code 0]".to_owned())
        }
        Ok((ProcessEnd::Cancelled | ProcessEnd::TimedOut, _)) => "[ended by KillShell]".to_owned(),
        Err(error) => format!("[{error}]"),
    };
    // Nobody may be left to hear it.
    let _told = told.send(ShellStatus::Ended(how));
}

impl BackgroundShell {
    pub(crate) fn status(&self) -> ShellStatus {
        self.status.borrow().clone()
    }

    /// What was printed since the last look.
    pub(crate) fn take_unread(&self) -> UnreadOutput {
        std::mem::take(&mut *lock(&self.unread))
    }

    /// The same, but for a line that has not ended yet.
    pub(crate) fn take_lines(&self) -> UnreadOutput {
        lock(&self.unread).take_lines()
    }

    /// Ends it with everything it started, and waits for that.
    pub(crate) async fn end(&self) -> String {
        self.stop.cancel();
        let mut status = self.status.clone();
        loop {
            if let ShellStatus::Ended(how) = &*status.borrow_and_update() {
                return how.clone();
            }
            if status.changed().await.is_err() {
                return "[ended]".to_owned();
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
