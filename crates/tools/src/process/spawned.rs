//! A process that was started: under a reaper, or directly as the leader of a group.
//!
//! Invariant: whoever drops it without [`Started::let_go`] ends it, with everything below it.

use std::io;
use std::process::ExitStatus;
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};

use crate::Reaper;
use crate::reaper::{ReaperHandle, StdioFiles};

/// Between asking a group to end and ending it.
const TERM_GRACE: Duration = Duration::from_secs(2);
/// Between the end of a group by force and no longer waiting for it.
const KILL_GRACE: Duration = Duration::from_millis(500);
/// How often a group that was asked to end is looked at.
const POLL: Duration = Duration::from_millis(20);

pub(crate) enum SpawnedProcess {
    /// With a reaper above it.
    Watched(ReaperHandle, Reaper),
    /// With nobody but us.
    Alone(Child, ProcessGroup),
}

impl SpawnedProcess {
    /// Starts it under a reaper.
    pub(crate) async fn under(
        reaper: &Reaper,
        command: Command,
        files: StdioFiles,
    ) -> io::Result<Self> {
        Ok(Self::Watched(ReaperHandle::start(command, files).await?, reaper.clone()))
    }

    /// Starts it directly. The command, and with it our copy of what the child writes to, is gone when
    /// this returns; else the pipe would never close.
    pub(crate) fn alone(mut command: Command, files: StdioFiles) -> io::Result<Self> {
        let child = command
            .stdin(files.stdin)
            .stdout(files.stdout)
            .stderr(files.stderr)
            .process_group(0)
            .spawn()?;
        let group = ProcessGroup::of(&child);
        Ok(Self::Alone(child, group))
    }

    /// Waits for the process's own end. May be dropped and called again.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        match self {
            Self::Watched(leash, _) => leash.wait().await,
            Self::Alone(child, _) => child.wait().await,
        }
    }

    /// Asks it to end with everything below it, and makes it when it does not.
    pub(crate) async fn end(&mut self) {
        match self {
            Self::Watched(leash, _) => leash.end().await,
            Self::Alone(child, group) => end_group(child, group).await,
        }
    }

    /// It has ended. What it left running goes on; a reaper ends that with the program.
    pub(crate) fn let_go(self) {
        match self {
            Self::Watched(leash, reaper) => reaper.keep(leash),
            Self::Alone(_, mut group) => group.let_go(),
        }
    }
}

async fn end_group(child: &mut Child, group: &ProcessGroup) {
    group.signal(Signal::TERM);
    // One that is stopped (it wanted the terminal) hears nothing before it goes on.
    group.signal(Signal::CONT);
    if tokio::time::timeout(TERM_GRACE, gone(child, group)).await.is_err() {
        group.signal(Signal::KILL);
        // What the kernel cannot end (a dead disk) is left to it.
        let _patience = tokio::time::timeout(KILL_GRACE, gone(child, group)).await;
    }
}

/// Waits until nobody of the group is left.
async fn gone(child: &mut Child, group: &ProcessGroup) {
    let _status = child.wait().await;
    while group.exists() {
        tokio::time::sleep(POLL).await;
    }
}

/// A process group. It is ended by force when this is dropped before [`Group::let_go`], which is when
/// whoever waited for the process has gone away.
pub(crate) struct ProcessGroup(Option<Pid>);

impl ProcessGroup {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    fn signal(&self, signal: Signal) {
        if let Some(leader) = self.0 {
            // The only failure is that nobody is left to hear it.
            let _gone = rustix::process::kill_process_group(leader, signal);
        }
    }

    fn exists(&self) -> bool {
        self.0.is_some_and(|leader| rustix::process::test_kill_process_group(leader).is_ok())
    }

    fn let_go(&mut self) {
        self.0 = None;
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
