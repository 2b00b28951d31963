//! Commands that run in the background of a conversation.
//!
//! Invariants: of a shell's output that was not read yet, the newest part is kept, and the rest is counted. All shells
//! end when [`Shells`] is dropped.

mod newest;
mod unread;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dormouse_base::Redactor;
use thiserror::Error;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::exit_note::ExitNote;
use crate::printed::Printed;
use crate::process::{MergedProcess, ProcessEnd};
use crate::shell_note::ShellEnd;
use newest::NewestLines;
use unread::UnreadOutput;

/// Background commands have no timeout.
const NO_LIMIT: Duration = Duration::MAX;

/// The background commands of a conversation.
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

/// Whether a shell still runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ShellStatus {
    Running,
    Ended {
        end: ShellEnd,
        /// How long it ran.
        after: Duration,
    },
}

/// There is no shell with an id. The text is for the model.
#[derive(Debug, Error)]
pub(crate) enum ShellNotFound {
    #[error("there is no shell `{id}`: no command was started with `run_in_background`")]
    NoneStarted { id: String },
    #[error("there is no shell `{id}`; known shells: {known}")]
    OtherIds { id: String, known: String },
}

/// A background command, as it can be shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellSummary {
    /// The id by which the model knows it.
    pub id: String,
    /// The command line.
    pub command: String,
    /// How it ended; none while it runs.
    pub ended: Option<ShellEnd>,
    /// How long it has run.
    pub elapsed: Duration,
}

/// A command that runs in the background.
#[derive(Debug)]
pub(crate) struct BackgroundShell {
    pub(crate) command: String,
    started: Instant,
    /// Whether the model knows that it has ended.
    end_is_known: AtomicBool,
    unread: Mutex<UnreadOutput>,
    /// The end of the output, for the user.
    newest: Mutex<NewestLines>,
    status: watch::Receiver<ShellStatus>,
    stop: CancellationToken,
}

impl Shells {
    /// Adds a command that was started, and returns its id.
    pub(crate) fn add(&self, command: &str, process: MergedProcess, redactor: &Redactor) -> String {
        let mut inner = lock(&self.inner);
        let id = format!("shell_{}", inner.shells.len() + 1);
        let (sender, status) = watch::channel(ShellStatus::Running);
        let shell = Arc::new(BackgroundShell {
            command: command.to_owned(),
            started: Instant::now(),
            end_is_known: AtomicBool::new(false),
            unread: Mutex::default(),
            newest: Mutex::default(),
            status,
            stop: CancellationToken::new(),
        });
        inner.shells.insert(id.clone(), Arc::clone(&shell));
        while inner.tasks.try_join_next().is_some() {}
        inner.tasks.spawn(watch_process(shell, process, Printed::new(redactor), sender));
        id
    }

    /// All commands, in the order in which they were started.
    pub fn list(&self) -> Vec<ShellSummary> {
        let inner = lock(&self.inner);
        let mut listed: Vec<_> = inner.shells.iter().map(|(id, shell)| shell.summary(id)).collect();
        listed.sort_by_key(|shell| (shell.id.len(), shell.id.clone()));
        listed
    }

    /// The commands that have ended since the last call, unless the model has seen that already.
    pub fn take_ended(&self) -> Vec<ShellSummary> {
        let inner = lock(&self.inner);
        let ended = inner.shells.iter().filter(|(_, shell)| {
            shell.status() != ShellStatus::Running
                && !shell.end_is_known.swap(true, Ordering::Relaxed)
        });
        ended.map(|(id, shell)| shell.summary(id)).collect()
    }

    /// Ends a command with everything it started; whether it was running.
    pub fn stop(&self, id: &str) -> bool {
        let shell = lock(&self.inner).shells.get(id).cloned();
        let running = shell.filter(|shell| shell.status() == ShellStatus::Running);
        running.inspect(|shell| shell.stop.cancel()).is_some()
    }

    /// The newest lines that a command has printed; none if there is no such command.
    pub fn newest_lines(&self, id: &str) -> Option<String> {
        let shell = lock(&self.inner).shells.get(id).cloned()?;
        let lines = lock(&shell.newest).text();
        Some(lines)
    }

    /// Whether a command is still running.
    pub fn are_running(&self) -> bool {
        let inner = lock(&self.inner);
        inner.shells.values().any(|shell| shell.status() == ShellStatus::Running)
    }

    /// The shell with this id.
    pub(crate) fn get(&self, id: &str) -> Result<Arc<BackgroundShell>, ShellNotFound> {
        let inner = lock(&self.inner);
        inner.shells.get(id).cloned().ok_or_else(|| {
            let id = id.to_owned();
            if inner.shells.is_empty() {
                ShellNotFound::NoneStarted { id }
            } else {
                let known = inner.shells.keys().cloned().collect::<Vec<_>>().join(", ");
                ShellNotFound::OtherIds { id, known }
            }
        })
    }
}

async fn watch_process(
    shell: Arc<BackgroundShell>,
    process: MergedProcess,
    mut printed: Printed,
    sender: watch::Sender<ShellStatus>,
) {
    let take = |piece: &[u8]| shell.take_output(&printed.push(piece));
    let ended = process.run(take, NO_LIMIT, &shell.stop).await;
    shell.take_output(&printed.finish());
    let end = match ended {
        Ok((ProcessEnd::Exited(status), _)) => {
            ShellEnd::Exited(ExitNote::of_failure(status).unwrap_or(ExitNote::Code(0)))
        }
        Ok((ProcessEnd::Cancelled | ProcessEnd::TimedOut, _)) => ShellEnd::Stopped,
        Err(error) => ShellEnd::Failed { why: error.to_string() },
    };
    // Fails only if the shell was dropped.
    let _sent = sender.send(ShellStatus::Ended { end, after: shell.started.elapsed() });
}

impl BackgroundShell {
    /// Whether it runs. The model is told.
    pub(crate) fn status_for_model(&self) -> ShellStatus {
        let status = self.status();
        if status != ShellStatus::Running {
            self.end_is_known.store(true, Ordering::Relaxed);
        }
        status
    }

    fn summary(&self, id: &str) -> ShellSummary {
        let (ended, elapsed) = match self.status() {
            ShellStatus::Running => (None, self.started.elapsed()),
            ShellStatus::Ended { end, after } => (Some(end), after),
        };
        ShellSummary { id: id.to_owned(), command: self.command.clone(), ended, elapsed }
    }

    fn status(&self) -> ShellStatus {
        self.status.borrow().clone()
    }

    fn take_output(&self, text: &str) {
        lock(&self.unread).push(text);
        lock(&self.newest).push(text);
    }

    /// The output that was not read yet.
    pub(crate) fn take_unread(&self) -> UnreadOutput {
        std::mem::take(&mut *lock(&self.unread))
    }

    /// The complete lines that were not read yet.
    pub(crate) fn take_lines(&self) -> UnreadOutput {
        lock(&self.unread).take_lines()
    }

    /// Ends it with everything it started, and waits until it has ended. Returns how it ended.
    pub(crate) async fn end(&self) -> ShellEnd {
        self.end_is_known.store(true, Ordering::Relaxed);
        self.stop.cancel();
        let mut status = self.status.clone();
        loop {
            if let ShellStatus::Ended { end, .. } = &*status.borrow_and_update() {
                return end.clone();
            }
            if status.changed().await.is_err() {
                return ShellEnd::Failed { why: "ended".to_owned() };
            }
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
