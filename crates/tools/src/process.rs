//! The one place that starts processes.
//!
//! Invariants: a child has a folder, a process group of its own, no standard input and none of the
//! model's keys; its output is read into bounded memory; when its time is up, or whoever waits for it
//! goes away, the whole group is ended. What runs commands of the model's has a [`Reaper`] besides,
//! which ends them with the program.

mod spawned;

use std::collections::BTreeMap;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;
use std::{future::Future, io, pin::pin};

use dormouse_base::{Environment, names};
use dormouse_sandbox::SandboxPolicy;
use futures_util::future::{BoxFuture, Either, join3, select};
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::pipe;
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use crate::Reaper;
use crate::capture::Capture;
use crate::reaper::StdioFiles;
use spawned::SpawnedProcess;

/// Variables with the model's API keys and the team's token. No child process gets them: a command's output goes to the model and into files.
pub const MODEL_KEYS: [&str; 4] = [
    names::ANTHROPIC_API_KEY,
    names::ANTHROPIC_AUTH_TOKEN,
    names::OPENAI_API_KEY,
    names::TEAM_TOKEN,
];
/// How long a pipe may stay open once the main process has ended: a background child can hold it.
const PIPE_GRACE: Duration = Duration::from_millis(200);
/// The most characters kept of each stream of [`output`].
const OUTPUT_CHARS: usize = 200_000;

/// A first line that is longer says nothing about how a program runs.
const LONGEST_HEADING: usize = 4_096;

/// A process that did not start or did not end as it should.
#[derive(Debug, Error)]
pub enum ProcessError {
    /// No such program.
    #[error("the program `{program}` is not on PATH; install it or correct PATH")]
    NotFound {
        /// Its name.
        program: String,
    },
    /// The working directory does not exist.
    #[error("cannot run `{program}` in {}: no such folder", folder.display())]
    NoFolder {
        /// The program.
        program: String,
        /// The working directory.
        folder: PathBuf,
    },
    /// The system did not start it, or lost track of it.
    #[error("cannot run `{program}`: {source}")]
    System {
        /// The program.
        program: String,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// It timed out and was ended.
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
    // Short, and bounded by its time: a reaper would cost more than it saves.
    let start = ProcessCommand {
        program,
        args,
        folder,
        environment,
        reaper: &Reaper::none(),
        sandbox: None,
    };
    let nothing = nothing_to_read().map_err(|source| start.system(source))?;
    collect(start, nothing, timeout, Box::pin(std::future::ready(())), Box::new(drop)).await
}

/// The same for a program that reads something, under a reaper.
pub async fn output_with_input(
    program: &str,
    args: &[&str],
    folder: &Path,
    environment: &Environment,
    timeout: Duration,
    given: (Vec<u8>, &Reaper),
) -> Result<ProcessOutput, ProcessError> {
    output_and_first_line(program, args, folder, environment, timeout, given, drop).await
}

/// The same; `first_line` is told the first line it prints, as soon as that is whole.
pub async fn output_and_first_line(
    program: &str,
    args: &[&str],
    folder: &Path,
    environment: &Environment,
    timeout: Duration,
    (input, reaper): (Vec<u8>, &Reaper),
    first_line: impl FnOnce(String) + Send,
) -> Result<ProcessOutput, ProcessError> {
    let start = ProcessCommand { program, args, folder, environment, reaper, sandbox: None };
    let (reader, writer) = io::pipe().map_err(|source| start.system(source))?;
    let mut writer =
        pipe::Sender::from_owned_fd(writer.into()).map_err(|source| start.system(source))?;
    let fed = async move {
        // One that does not read to the end is within its rights.
        let _unread = writer.write_all(&input).await;
    };
    collect(start, reader.into(), timeout, Box::pin(fed), Box::new(first_line)).await
}

/// Runs it and collects what it prints, while `fed` gives it what to read.
fn collect<'a>(
    start: ProcessCommand<'a>,
    stdin: OwnedFd,
    timeout: Duration,
    fed: BoxFuture<'a, ()>,
    first_line: Box<dyn FnOnce(String) + Send + 'a>,
) -> BoxFuture<'a, Result<ProcessOutput, ProcessError>> {
    Box::pin(async move {
        let system = |source| start.system(source);
        let (mut out, out_writer) = pipe_to_child().map_err(system)?;
        let (mut err, err_writer) = pipe_to_child().map_err(system)?;
        let started = spawn(&start, stdin, out_writer, err_writer).await?;
        let (mut stdout, mut stderr) = (Capture::new(OUTPUT_CHARS), Capture::new(OUTPUT_CHARS));
        let mut heading = FirstLine { begun: Vec::new(), told: Some(first_line) };
        let drained = join3(
            drain(&mut out, |piece| {
                heading.push(piece);
                stdout.push(piece);
            }),
            drain(&mut err, |piece| stderr.push(piece)),
            fed,
        );
        let never = CancellationToken::new();
        let (ending, _) = supervise(started, drained, timeout, &never).await.map_err(system)?;
        let ProcessEnd::Exited(status) = ending else {
            return Err(ProcessError::TimedOut { program: start.program.to_owned(), timeout });
        };
        let (stdout, stderr) = (stdout.finish(), stderr.finish());
        Ok(ProcessOutput {
            code: status.code(),
            left_out: stdout.left_out + stderr.left_out,
            stdout: stdout.text,
            stderr: stderr.text,
        })
    })
}

/// The first line that is printed, until it is whole; one that never ends is none.
struct FirstLine<'a> {
    begun: Vec<u8>,
    told: Option<Box<dyn FnOnce(String) + Send + 'a>>,
}

impl FirstLine<'_> {
    fn push(&mut self, piece: &[u8]) {
        if self.told.is_none() {
            return;
        }
        let mut parts = piece.splitn(2, |byte| *byte == b'\n');
        self.begun.extend_from_slice(parts.next().unwrap_or_default());
        let is_whole = parts.next().is_some();
        if self.begun.len() > LONGEST_HEADING {
            self.told = None;
        } else if is_whole && let Some(told) = self.told.take() {
            told(String::from_utf8_lossy(&self.begun).into_owned());
        }
    }
}

fn nothing_to_read() -> io::Result<OwnedFd> {
    Ok(File::open("/dev/null")?.into())
}

/// What to start, and where.
#[derive(Debug, Clone, Copy)]
pub struct ProcessCommand<'a> {
    /// The program.
    pub program: &'a str,
    /// Its arguments.
    pub args: &'a [&'a str],
    /// Its working directory.
    pub folder: &'a Path,
    /// Its environment; [`MODEL_KEYS`] are removed.
    pub environment: &'a Environment,
    /// Ends it with the program.
    pub reaper: &'a Reaper,
    /// How it is restricted; needs a reaper, which applies it.
    pub sandbox: Option<&'a SandboxPolicy>,
}

impl ProcessCommand<'_> {
    fn system(&self, source: io::Error) -> ProcessError {
        ProcessError::System { program: self.program.to_owned(), source }
    }
}

/// How a process came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessEnd {
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

/// A process with both its streams in one pipe, which keeps their order.
pub(crate) struct MergedProcess {
    program: String,
    started: SpawnedProcess,
    reader: pipe::Receiver,
}

impl MergedProcess {
    /// Starts one.
    pub(crate) async fn start(start: ProcessCommand<'_>) -> Result<Self, ProcessError> {
        let (reader, writer) = pipe_to_child().map_err(|source| start.system(source))?;
        let second = writer.try_clone().map_err(|source| start.system(source))?;
        let nothing = nothing_to_read().map_err(|source| start.system(source))?;
        let started = spawn(&start, nothing, writer, second).await?;
        Ok(Self { program: start.program.to_owned(), started, reader })
    }

    /// Waits for its end, or ends it; `take` is given what it prints, as it comes.
    pub(crate) async fn run(
        mut self,
        take: impl FnMut(&[u8]) + Send,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<(ProcessEnd, PipeState), ProcessError> {
        let drained = drain(&mut self.reader, take);
        supervise(self.started, drained, timeout, cancel)
            .await
            .map_err(|source| ProcessError::System { program: self.program, source })
    }
}

/// A process with its three streams in separate pipes.
pub struct PipedProcess {
    /// Its standard input.
    pub stdin: pipe::Sender,
    /// Its standard output.
    pub stdout: pipe::Receiver,
    /// Its standard error.
    pub stderr: pipe::Receiver,
    /// The process itself.
    pub process: RunningProcess,
}

/// A running process. Dropping it ends it with all its descendants.
pub struct RunningProcess(SpawnedProcess);

impl PipedProcess {
    /// Starts a process with additional variables, which are passed on even if they are keys.
    pub async fn start(
        start: ProcessCommand<'_>,
        variables: &BTreeMap<String, String>,
    ) -> Result<Self, ProcessError> {
        let system = |source| start.system(source);
        let (reader, writer) = io::pipe().map_err(system)?;
        let stdin = pipe::Sender::from_owned_fd(writer.into()).map_err(system)?;
        let (stdout, out_writer) = pipe_to_child().map_err(system)?;
        let (stderr, err_writer) = pipe_to_child().map_err(system)?;
        let files = StdioFiles { stdin: reader.into(), stdout: out_writer, stderr: err_writer };
        let process = RunningProcess(spawn_with(&start, variables, files).await?);
        Ok(Self { stdin, stdout, stderr, process })
    }
}

impl RunningProcess {
    /// Its exit status, if it exits within this time.
    pub async fn ended_within(&mut self, patience: Duration) -> Option<ExitStatus> {
        tokio::time::timeout(patience, self.0.wait()).await.ok()?.ok()
    }

    /// Ends it with all its descendants: by request first, then by force.
    pub async fn end(&mut self) {
        self.0.end().await;
    }
}

fn pipe_to_child() -> io::Result<(pipe::Receiver, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    Ok((pipe::Receiver::from_owned_fd(reader.into())?, writer.into()))
}

/// Starts it, under its reaper if there is one.
async fn spawn(
    start: &ProcessCommand<'_>,
    stdin: OwnedFd,
    stdout: OwnedFd,
    stderr: OwnedFd,
) -> Result<SpawnedProcess, ProcessError> {
    spawn_with(start, &BTreeMap::new(), StdioFiles { stdin, stdout, stderr }).await
}

async fn spawn_with(
    start: &ProcessCommand<'_>,
    variables: &BTreeMap<String, String>,
    files: StdioFiles,
) -> Result<SpawnedProcess, ProcessError> {
    let failed = |source| start.failed(source);
    match start.reaper.command(start.sandbox) {
        Some(mut command) => {
            command.arg(start.program);
            start.prepare(&mut command);
            command.envs(variables);
            SpawnedProcess::under(start.reaper, command, files).await.map_err(failed)
        }
        None => {
            let mut command = direct(start.program);
            start.prepare(&mut command);
            command.envs(variables);
            SpawnedProcess::alone(command, files).map_err(failed)
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one door to new processes")]
fn direct(program: &str) -> Command {
    Command::new(program)
}

impl ProcessCommand<'_> {
    fn prepare(&self, command: &mut Command) {
        let visible = self
            .environment
            .pairs()
            .filter(|(name, _)| !MODEL_KEYS.iter().any(|key| name.as_os_str() == *key));
        command
            .args(self.args)
            .current_dir(self.folder)
            .env_clear()
            .envs(visible)
            // Ours would be inherited, and name another folder.
            .env("PWD", self.folder);
    }

    fn failed(&self, source: io::Error) -> ProcessError {
        match source.kind() {
            _ if !self.folder.is_dir() => ProcessError::NoFolder {
                program: self.program.to_owned(),
                folder: self.folder.to_owned(),
            },
            io::ErrorKind::NotFound => ProcessError::NotFound { program: self.program.to_owned() },
            _ => self.system(source),
        }
    }
}

async fn drain(pipe: &mut pipe::Receiver, mut take: impl FnMut(&[u8])) {
    let mut buffer = vec![0; 64 * 1024];
    // A read error is an end as well: what came before it is still worth showing.
    while let Ok(count @ 1..) = pipe.read(&mut buffer).await {
        take(buffer.get(..count).unwrap_or_default());
    }
}

/// Waits for the end while the pipes are drained, so that a full pipe holds nobody up.
async fn supervise(
    mut started: SpawnedProcess,
    drained: impl Future,
    timeout: Duration,
    cancel: &CancellationToken,
) -> io::Result<(ProcessEnd, PipeState)> {
    let ended = {
        let watched = pin!(watch(&mut started, timeout, cancel));
        match select(watched, pin!(drained)).await {
            Either::Left((ending, drained)) => {
                let closed = tokio::time::timeout(PIPE_GRACE, drained).await;
                let pipe = if closed.is_ok() { PipeState::Closed } else { PipeState::Held };
                (ending?, pipe)
            }
            Either::Right((_, watched)) => (watched.await?, PipeState::Closed),
        }
    };
    started.let_go();
    Ok(ended)
}

async fn watch(
    started: &mut SpawnedProcess,
    timeout: Duration,
    cancel: &CancellationToken,
) -> io::Result<ProcessEnd> {
    let cut_short = tokio::select! {
        biased;
        status = started.wait() => return Ok(ProcessEnd::Exited(status?)),
        () = cancel.cancelled() => ProcessEnd::Cancelled,
        () = tokio::time::sleep(timeout) => ProcessEnd::TimedOut,
    };
    started.end().await;
    Ok(cut_short)
}
