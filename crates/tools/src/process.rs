//! The one place that starts processes.
//!
//! Invariants: a child has a folder, a process group of its own, no standard input and none of the
//! model's keys; its output is read into bounded memory; when its time is up, or whoever waits for it
//! goes away, the whole group is ended.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;
use std::{future::Future, io, pin::pin};

use dormouse_base::{Environment, names};
use futures_util::future::{Either, join3, select};
use rustix::process::{Pid, Signal};
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::process::Child;
use tokio_util::sync::CancellationToken;

use crate::capture::{Capture, Captured};

/// Variables that no child gets to see: a command's output goes to the model and into files.
const KEYS: [&str; 3] =
    [names::ANTHROPIC_API_KEY, names::ANTHROPIC_AUTH_TOKEN, names::OPENAI_API_KEY];
/// Between asking a group to end and ending it.
const TERM_GRACE: Duration = Duration::from_secs(2);
/// Between the end of a group by force and no longer waiting for it.
const KILL_GRACE: Duration = Duration::from_millis(500);
/// How often a group that was asked to end is looked at.
const POLL: Duration = Duration::from_millis(20);
/// How long a pipe may stay open once the main process has ended: a background child can hold it.
const PIPE_GRACE: Duration = Duration::from_millis(200);
/// The most characters kept of each stream of [`output`].
const OUTPUT_CHARS: usize = 200_000;

/// A process that did not start or did not end as it should.
#[derive(Debug, Error)]
pub enum ProcessError {
    /// No such program.
    #[error("there is no program `{program}` on the PATH; install it or correct PATH")]
    NotFound {
        /// Its name.
        program: String,
    },
    /// No folder to run in.
    #[error("{} is not a folder that exists, so `{program}` can not run in it", folder.display())]
    NoFolder {
        /// The program.
        program: String,
        /// Where it was to run.
        folder: PathBuf,
    },
    /// The system would not start it, or lost it.
    #[error("can not run `{program}`: {source}")]
    System {
        /// The program.
        program: String,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
    /// It took too long and was ended.
    #[error("`{program}` did not finish within {} ms and was ended", timeout.as_millis())]
    TimedOut {
        /// The program.
        program: String,
        /// What it was given.
        timeout: Duration,
    },
}

/// What a program printed, and how it ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessOutput {
    /// Its exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// What it printed. Where `left_out` is not 0 the middle is missing and a note says so.
    pub stdout: String,
    /// What it complained about, bounded likewise.
    pub stderr: String,
    /// Characters left out of both.
    pub left_out: usize,
}

/// Runs a program to its end, or ends it. It has nothing to read.
pub async fn output(
    program: &str,
    args: &[&str],
    folder: &Path,
    environment: &Environment,
    timeout: Duration,
) -> Result<ProcessOutput, ProcessError> {
    let start = Start { program, args, folder, environment };
    collect(start, Stdio::null(), timeout, std::future::ready(())).await
}

/// The same for a program that reads something.
pub async fn output_with_input(
    program: &str,
    args: &[&str],
    folder: &Path,
    environment: &Environment,
    timeout: Duration,
    input: Vec<u8>,
) -> Result<ProcessOutput, ProcessError> {
    let start = Start { program, args, folder, environment };
    let (reader, writer) = io::pipe().map_err(|source| start.system(source))?;
    let mut writer =
        pipe::Sender::from_owned_fd(writer.into()).map_err(|source| start.system(source))?;
    let fed = async move {
        // One that does not read to the end is within its rights.
        let _unread = writer.write_all(&input).await;
    };
    collect(start, reader.into(), timeout, fed).await
}

/// Runs it and collects what it prints, while `fed` gives it what to read.
async fn collect(
    start: Start<'_>,
    stdin: Stdio,
    timeout: Duration,
    fed: impl Future<Output = ()>,
) -> Result<ProcessOutput, ProcessError> {
    let system = |source| start.system(source);
    let (mut out, out_writer) = pipe_to_child().map_err(system)?;
    let (mut err, err_writer) = pipe_to_child().map_err(system)?;
    let child = spawn(&start, stdin, out_writer.into(), err_writer.into())?;
    let (mut stdout, mut stderr) = (Capture::new(OUTPUT_CHARS), Capture::new(OUTPUT_CHARS));
    let drained = join3(drain(&mut out, &mut stdout), drain(&mut err, &mut stderr), fed);
    let never = CancellationToken::new();
    let (ending, _) = supervise(child, drained, timeout, &never).await.map_err(system)?;
    let Ending::Exited(status) = ending else {
        return Err(ProcessError::TimedOut { program: start.program.to_owned(), timeout });
    };
    let (stdout, stderr) = (stdout.finish(), stderr.finish());
    Ok(ProcessOutput {
        code: status.code(),
        left_out: stdout.left_out + stderr.left_out,
        stdout: stdout.text,
        stderr: stderr.text,
    })
}

/// What to start, and where.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Start<'a> {
    pub(crate) program: &'a str,
    pub(crate) args: &'a [&'a str],
    pub(crate) folder: &'a Path,
    pub(crate) environment: &'a Environment,
}

impl Start<'_> {
    fn system(&self, source: io::Error) -> ProcessError {
        ProcessError::System { program: self.program.to_owned(), source }
    }
}

/// How a process came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// By itself.
    Exited(ExitStatus),
    /// Its time was up.
    TimedOut,
    /// It was stopped from outside.
    Cancelled,
}

/// Whether somebody can still write to a pipe that we no longer read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PipeState {
    Closed,
    Held,
}

/// A run with both streams in one.
#[derive(Debug)]
pub(crate) struct MergedRun {
    pub(crate) output: Captured,
    pub(crate) ending: Ending,
    pub(crate) pipe: PipeState,
}

/// Runs a program with both its streams in one pipe, which keeps their order.
pub(crate) async fn run_merged(
    start: Start<'_>,
    chars: usize,
    timeout: Duration,
    cancel: &CancellationToken,
) -> Result<MergedRun, ProcessError> {
    let system = |source| start.system(source);
    let (mut reader, writer) = pipe_to_child().map_err(system)?;
    let second = writer.try_clone().map_err(system)?;
    let child = spawn(&start, Stdio::null(), writer.into(), second.into())?;
    let mut capture = Capture::new(chars);
    let drained = drain(&mut reader, &mut capture);
    let (ending, pipe) = supervise(child, drained, timeout, cancel).await.map_err(system)?;
    Ok(MergedRun { output: capture.finish(), ending, pipe })
}

fn pipe_to_child() -> io::Result<(pipe::Receiver, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    Ok((pipe::Receiver::from_owned_fd(reader.into())?, writer.into()))
}

/// Starts it. The command, and with it our end of what the child writes to, is gone when this returns;
/// else the pipe would never close.
#[expect(clippy::disallowed_methods, reason = "this is the one door to new processes")]
fn spawn(
    start: &Start<'_>,
    stdin: Stdio,
    stdout: Stdio,
    stderr: Stdio,
) -> Result<Child, ProcessError> {
    let visible = start
        .environment
        .pairs()
        .filter(|(name, _)| !KEYS.iter().any(|key| name.as_os_str() == *key));
    let mut command = tokio::process::Command::new(start.program);
    command
        .args(start.args)
        .current_dir(start.folder)
        .env_clear()
        .envs(visible)
        // Ours would be inherited, and name another folder.
        .env("PWD", start.folder)
        .stdin(stdin)
        .stdout(stdout)
        .stderr(stderr)
        .process_group(0);
    command.spawn().map_err(|source| match source.kind() {
        _ if !start.folder.is_dir() => ProcessError::NoFolder {
            program: start.program.to_owned(),
            folder: start.folder.to_owned(),
        },
        io::ErrorKind::NotFound => ProcessError::NotFound { program: start.program.to_owned() },
        _ => start.system(source),
    })
}

async fn drain(pipe: &mut pipe::Receiver, capture: &mut Capture) {
    let mut buffer = vec![0; 64 * 1024];
    // A read error is an end as well: what came before it is still worth showing.
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        capture.push(buffer.get(..count).unwrap_or_default());
    }
}

/// Waits for the end while the pipes are drained, so that a full pipe holds nobody up.
async fn supervise(
    mut child: Child,
    drained: impl Future,
    timeout: Duration,
    cancel: &CancellationToken,
) -> io::Result<(Ending, PipeState)> {
    let mut group = Group::of(&child);
    let ended = {
        let watched = pin!(watch(&mut child, &group, timeout, cancel));
        match select(watched, pin!(drained)).await {
            Either::Left((ending, drained)) => {
                let closed = tokio::time::timeout(PIPE_GRACE, drained).await;
                let pipe = if closed.is_ok() { PipeState::Closed } else { PipeState::Held };
                (ending?, pipe)
            }
            Either::Right((_, watched)) => (watched.await?, PipeState::Closed),
        }
    };
    group.let_go();
    Ok(ended)
}

async fn watch(
    child: &mut Child,
    group: &Group,
    timeout: Duration,
    cancel: &CancellationToken,
) -> io::Result<Ending> {
    let cut_short = tokio::select! {
        biased;
        status = child.wait() => return Ok(Ending::Exited(status?)),
        () = cancel.cancelled() => Ending::Cancelled,
        () = tokio::time::sleep(timeout) => Ending::TimedOut,
    };
    end(child, group).await;
    Ok(cut_short)
}

/// Asks a group to end, and makes it when it does not.
async fn end(child: &mut Child, group: &Group) {
    group.signal(Signal::TERM);
    // One that is stopped (it wanted the terminal) hears nothing before it goes on.
    group.signal(Signal::CONT);
    let gone = async {
        let _status = child.wait().await;
        while group.exists() {
            tokio::time::sleep(POLL).await;
        }
    };
    if tokio::time::timeout(TERM_GRACE, gone).await.is_err() {
        group.signal(Signal::KILL);
        // One that the kernel can not end (a dead disk) is left to it.
        let _status = tokio::time::timeout(KILL_GRACE, child.wait()).await;
    }
}

/// A process group. It is ended by force when this is dropped before [`Group::let_go`], which is when
/// whoever waited for the process has gone away.
struct Group(Option<Pid>);

impl Group {
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

impl Drop for Group {
    fn drop(&mut self) {
        self.signal(Signal::KILL);
    }
}
