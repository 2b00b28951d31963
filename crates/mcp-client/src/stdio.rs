//! A server that is a program: started under the reaper, connected by its pipes.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dormouse_tools::{ExitNote, PipedProcess, ProcessCommand, ProcessError, RunningProcess};
use rmcp::RoleClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::task::JoinSet;

use crate::message_limit::{BoundedLines, MessageOverflow};
use crate::setup::McpSetup;

/// How much of the end of a server's standard error is kept for messages.
const STDERR_TAIL_BYTES: usize = 2_000;
/// How long a server may take to end by itself once its input is closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long to wait for the end of a server whose output has ended, to say how it ended.
const STATUS_TIMEOUT: Duration = Duration::from_millis(500);

/// How the protocol's library is given a program's pipes.
pub(crate) type Pipes = AsyncRwTransport<RoleClient, BoundedLines<pipe::Receiver>, pipe::Sender>;

/// The command line of a server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServerCommand<'a> {
    pub(crate) program: &'a str,
    pub(crate) args: &'a [String],
    pub(crate) env: &'a BTreeMap<String, String>,
    /// Relative to the working directory.
    pub(crate) folder: Option<&'a Path>,
}

/// The process of a server.
pub(crate) struct ServerProcess {
    process: RunningProcess,
    stderr: StderrTail,
    flooded: MessageOverflow,
    /// Reads its standard error; ends with it.
    _reading: JoinSet<()>,
}

impl ServerProcess {
    pub(crate) async fn start(
        command: ServerCommand<'_>,
        setup: &McpSetup,
        flooded: MessageOverflow,
    ) -> Result<(Self, Pipes), ProcessError> {
        let args: Vec<&str> = command.args.iter().map(String::as_str).collect();
        let folder =
            command.folder.map_or_else(|| setup.folder.clone(), |folder| setup.folder.join(folder));
        let start = ProcessCommand {
            program: command.program,
            args: &args,
            folder: &folder,
            environment: &setup.environment,
            reaper: &setup.reaper,
            sandbox: None,
        };
        let PipedProcess { stdin, stdout, stderr, process } =
            PipedProcess::start(start, command.env).await?;
        let tail = StderrTail::default();
        let mut reading = JoinSet::new();
        reading.spawn(tail.clone().listen(stderr));
        let pipes = Pipes::new(BoundedLines::new(stdout, flooded.clone()), stdin)
            .with_max_line_length(usize::MAX);
        Ok((Self { process, stderr: tail, flooded, _reading: reading }, pipes))
    }

    /// Why its output has ended, with the end of its standard error.
    pub(crate) async fn why_gone(&mut self) -> String {
        if self.flooded.is_set() {
            return MessageOverflow::reason();
        }
        let status = self.process.ended_within(STATUS_TIMEOUT).await;
        format!("{}{}", ended(status), self.stderr.shown())
    }

    /// The end of its standard error, to be appended to a message.
    pub(crate) fn stderr_note(&self) -> String {
        self.stderr.shown()
    }

    /// Waits for its end, after its input was closed, and then ends it with everything it started.
    pub(crate) async fn end(&mut self) {
        self.process.ended_within(EXIT_TIMEOUT).await;
        self.process.end().await;
    }
}

fn ended(status: Option<ExitStatus>) -> String {
    match status {
        None => "the server closed its output".to_owned(),
        Some(status) => match ExitNote::of_failure(status) {
            None => "the server process exited (exit code 0)".to_owned(),
            Some(note) => {
                format!("the server process exited ({})", note.to_string().trim_matches(['[', ']']))
            }
        },
    }
}

/// The end of what a server printed on its standard error.
#[derive(Debug, Clone, Default)]
struct StderrTail(Arc<Mutex<VecDeque<u8>>>);

impl StderrTail {
    async fn listen(self, mut stderr: pipe::Receiver) {
        let mut buffer = vec![0; 8 * 1024];
        while let Ok(count @ 1..) = stderr.read(&mut buffer).await {
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.extend(buffer.get(..count).unwrap_or_default());
            let beyond = kept.len().saturating_sub(STDERR_TAIL_BYTES);
            kept.drain(..beyond);
        }
    }

    fn shown(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes).trim().to_owned();
        if text.is_empty() { text } else { format!("; it printed: {text}") }
    }
}
