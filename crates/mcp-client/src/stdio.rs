//! A server that is a program: started under the reaper, talked with through its pipes.

use std::collections::VecDeque;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::transport::async_rw::AsyncRwTransport;
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio::task::JoinSet;

use crate::message_limit::{BoundedLines, MessageOverflow};
use crate::server_spec::Transport;
use crate::setup::McpSetup;
use dormouse_tools::{PipedProcess, ProcessCommand, RunningProcess, exit_note};

/// What is kept of what a server prints on its standard error, for messages: the end of it.
const STDERR_TAIL_BYTES: usize = 2_000;
/// How long a server may take to end by itself once its input is closed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// How long to wait for the end of a server whose output has ended, to say how it ended.
const STATUS_TIMEOUT: Duration = Duration::from_millis(500);

/// How the protocol's library is given a program's pipes.
pub(crate) type Pipes = AsyncRwTransport<RoleClient, BoundedLines<pipe::Receiver>, pipe::Sender>;

/// A server's program.
pub(crate) struct ServerProcess {
    process: RunningProcess,
    complaints: StderrTail,
    flooded: MessageOverflow,
    /// Reads its standard error; ends with it.
    _reading: JoinSet<()>,
}

impl ServerProcess {
    /// Starts it. The error is for people.
    pub(crate) async fn start(
        transport: &Transport,
        setup: &McpSetup,
        flooded: MessageOverflow,
    ) -> Result<(Self, Pipes), String> {
        let Transport::Stdio { command, args, env, folder } = transport else {
            return Err("it is no program".to_owned());
        };
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let folder = folder
            .as_ref()
            .map_or_else(|| setup.folder.clone(), |folder| setup.folder.join(folder));
        let start = ProcessCommand {
            program: command,
            args: &args,
            folder: &folder,
            environment: &setup.environment,
            reaper: &setup.reaper,
        };
        let PipedProcess { stdin, stdout, stderr, process } =
            PipedProcess::start(start, env).await.map_err(|error| error.to_string())?;
        let complaints = StderrTail::default();
        let mut reading = JoinSet::new();
        reading.spawn(complaints.clone().listen(stderr));
        let pipes = Pipes::new(BoundedLines::new(stdout, flooded.clone()), stdin)
            .with_max_line_length(usize::MAX);
        Ok((Self { process, complaints, flooded, _reading: reading }, pipes))
    }

    /// Why its output has ended, with what it complained about.
    pub(crate) async fn why_gone(&mut self) -> String {
        if self.flooded.so() {
            return MessageOverflow::reason();
        }
        let status = self.process.ended_within(STATUS_TIMEOUT).await;
        format!("{}{}", ended(status), self.complaints.shown())
    }

    /// What it has complained about so far, in front of which something stands.
    pub(crate) fn complaints(&self) -> String {
        self.complaints.shown()
    }

    /// Its input is closed: waits for its end, and makes it end with all that it started.
    pub(crate) async fn end(&mut self) {
        self.process.ended_within(EXIT_TIMEOUT).await;
        self.process.end().await;
    }
}

fn ended(status: Option<ExitStatus>) -> String {
    match status {
        None => "it closed its output".to_owned(),
        Some(status) => match exit_note(status) {
            None => "it ended".to_owned(),
            Some(note) => format!("it ended ({})", note.trim_matches(['[', ']'])),
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
        if text.is_empty() { text } else { format!("; it said: {text}") }
    }
}
