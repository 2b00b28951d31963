//! Everything a command starts ends with the program, however the program ends.
//!
//! A command runs under a *reaper*: our own program, started a second time and doing nothing else
//! (`supervisor`). Both hold one end of a socket. When ours closes, by a call that is cut short, by the
//! end of the program or by `kill -9`, the reaper asks everything below it to end, and after two seconds
//! makes it. On Linux it adopts what the command leaves behind, so that a process which leaves its group
//! or session, or whose parent ends first, is still below it; elsewhere only the group is.
//!
//! Limits: what another service starts on a command's behalf (`systemd-run`, `docker`, `ssh`), what runs
//! as another person (`sudo`), and a reaper that is itself killed in the same instant as the program.

mod message;
mod supervisor;

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream as Socket;
use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::process::{Child, Command};

use dormouse_sandbox::SandboxPolicy;
use message::{NO_SANDBOX, ReaperMessage};

/// What makes the program a reaper, as its first argument.
const ARGUMENT: &str = "__reaper";
/// How it shows in a list of processes. Not by the program's own name: whoever kills all processes of
/// that name kills the program and leaves the reaper to clear up.
const SHOWN_NAME: &str = "reaper";
/// Longer than a reaper takes to end everything by force.
const END_PATIENCE: Duration = Duration::from_millis(2_500);

/// Is a reaper until the end of this process, if it was started to be one. The first thing `main` does.
pub fn serve_as_reaper(arguments: impl IntoIterator<Item = OsString>) -> Option<ExitCode> {
    let mut arguments = arguments.into_iter().skip(1);
    (arguments.next()? == ARGUMENT).then(|| supervisor::run(arguments))
}

/// Starts commands so that they end with the program. Cheap to clone; when the last clone goes, so does
/// what finished commands have left running.
#[derive(Debug, Clone, Default)]
pub struct Reaper {
    program: Option<PathBuf>,
    left_running: Arc<Mutex<Vec<ReaperHandle>>>,
}

impl Reaper {
    /// A reaper in this very program, whose `main` calls [`serve_as_reaper`].
    pub fn of_this_program() -> Self {
        Self { program: crate::platform::running_program(), left_running: Arc::default() }
    }

    /// No reaper: commands are started directly, and a program that is killed leaves them behind. For
    /// tests and tools whose `main` is not ours.
    pub fn none() -> Self {
        Self::default()
    }

    /// The command that starts a reaper, to which program and arguments are added. The policy goes with it.
    #[expect(clippy::disallowed_methods, reason = "called by the one door to new processes")]
    pub(crate) fn command(&self, sandbox: Option<&SandboxPolicy>) -> Option<Command> {
        let mut command = Command::new(self.program.as_ref()?);
        command.arg0(SHOWN_NAME).arg(ARGUMENT);
        // Paths and words: a struct of these has no way to fail to serialize.
        let policy = sandbox.and_then(|policy| serde_json::to_string(policy).ok());
        command.arg(policy.as_deref().unwrap_or(NO_SANDBOX));
        Some(command)
    }

    /// Keeps watching over what a finished command left running.
    pub(crate) fn keep(&self, leash: ReaperHandle) {
        let mut kept = self.left_running.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(ReaperHandle::holds_something);
        kept.push(leash);
    }
}

/// The files a command writes to and reads from.
pub(crate) struct StdioFiles {
    pub(crate) stdin: OwnedFd,
    pub(crate) stdout: OwnedFd,
    pub(crate) stderr: OwnedFd,
}

impl StdioFiles {
    fn borrowed(&self) -> [BorrowedFd<'_>; 3] {
        [self.stdin.as_fd(), self.stdout.as_fd(), self.stderr.as_fd()]
    }
}

/// Our end of a reaper. Everything below it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct ReaperHandle {
    control: UnixStream,
    received: Vec<u8>,
    group: Option<Pid>,
    /// Dropped with the rest; the runtime buries it.
    reaper: Child,
}

impl ReaperHandle {
    /// Starts a reaper with its command. An error is the command's: there is no such program, say.
    pub(crate) async fn start(mut command: Command, files: StdioFiles) -> io::Result<Self> {
        let (ours, theirs) = Socket::pair()?;
        message::send_files(&ours, &files.borrowed())?;
        drop(files);
        ours.set_nonblocking(true)?;
        let reaper = command
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        // It holds a copy of the reaper's end of the socket.
        drop(command);
        let control = UnixStream::from_std(ours)?;
        let mut leash = Self { control, received: Vec::new(), group: None, reaper };
        match leash.next().await {
            Some(ReaperMessage::Started(group)) => leash.group = Pid::from_raw(group),
            Some(ReaperMessage::Failed(number)) => {
                return Err(io::Error::from_raw_os_error(number));
            }
            Some(ReaperMessage::Ended(_)) | None => return Err(leash.lost()),
        }
        Ok(leash)
    }

    /// Waits for the command's own end. May be dropped and called again.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        match self.next().await {
            Some(ReaperMessage::Ended(status)) => Ok(status),
            Some(ReaperMessage::Started(_) | ReaperMessage::Failed(_)) | None => Err(self.lost()),
        }
    }

    /// Ends the command with everything it started, and waits for that.
    pub(crate) async fn end(&mut self) {
        // A reaper that is gone already has nothing left to end.
        let _gone = self.control.shutdown().await;
        let all_gone = async { while self.next().await.is_some() {} };
        // What the kernel cannot end (a dead disk) is left to it.
        let _patience = tokio::time::timeout(END_PATIENCE, all_gone).await;
    }

    /// The next message; none once the reaper is gone, in whatever way the socket tells that.
    async fn next(&mut self) -> Option<ReaperMessage> {
        loop {
            if let Some(message) = ReaperMessage::take(&mut self.received) {
                return Some(message);
            }
            if self.control.read_buf(&mut self.received).await.unwrap_or(0) == 0 {
                return None;
            }
        }
    }

    /// Somebody killed the reaper, maybe before it told of its command. What it watched over is ours to
    /// end: its group, and on Linux all of the reaper's session.
    fn lost(&self) -> io::Error {
        if let Some(group) = self.group {
            let _gone = rustix::process::kill_process_group(group, Signal::KILL);
        }
        let reaper = self.reaper.id().and_then(|id| Pid::from_raw(i32::try_from(id).ok()?));
        for process in reaper.map(crate::platform::session_members).unwrap_or_default() {
            let _gone = rustix::process::kill_process(process, Signal::KILL);
        }
        io::Error::other("the process that watches over it was ended")
    }

    /// Whether the reaper still has something below it.
    fn holds_something(&self) -> bool {
        let mut piece = [0; 16];
        !matches!(self.control.try_read(&mut piece), Ok(0))
    }
}
