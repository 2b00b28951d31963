//! Commands in terminals of the user's editor.

use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

use dormouse_base::Environment;
use futures_util::future::BoxFuture;
use rustix::process::Signal;
use tokio_util::sync::CancellationToken;

use crate::process::ProcessEnd;

/// The terminals of an editor.
pub trait EditorTerminals: Send + Sync {
    /// Runs a command to its end, its timeout or its cancellation; none if the editor opened no terminal: then nothing ran.
    fn run(
        &self,
        command: TerminalCommand,
        cancel: CancellationToken,
    ) -> BoxFuture<'_, Option<TerminalRun>>;
}

impl fmt::Debug for dyn EditorTerminals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EditorTerminals")
    }
}

/// A command for a terminal.
#[derive(Debug, Clone)]
pub struct TerminalCommand {
    /// The tool call that shows the terminal.
    pub call: String,
    /// The program.
    pub program: &'static str,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Its working directory, absolute.
    pub folder: PathBuf,
    /// All of its environment, without the model's keys.
    pub environment: Environment,
    /// When it is killed.
    pub timeout: Duration,
    /// The most of its output that is wanted: the end of it.
    pub output_bytes: usize,
}

/// A command that has ended.
#[derive(Debug, Clone)]
pub struct TerminalRun {
    /// What it printed.
    pub output: String,
    /// Whether the beginning of the output is missing.
    pub is_truncated: bool,
    /// How it ended.
    pub end: TerminalEnd,
}

/// How a command in a terminal ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TerminalEnd {
    /// With an exit code.
    Code(i32),
    /// By a signal of this name, or number.
    Signal(String),
    /// The timeout passed.
    TimedOut,
    /// It was cancelled.
    Cancelled,
}

impl From<TerminalEnd> for ProcessEnd {
    fn from(end: TerminalEnd) -> Self {
        match end {
            TerminalEnd::Code(code) => Self::Exited(ExitStatus::from_raw((code & 0xff) << 8)),
            TerminalEnd::Signal(name) => Self::Exited(ExitStatus::from_raw(signal_number(&name))),
            TerminalEnd::TimedOut => Self::TimedOut,
            TerminalEnd::Cancelled => Self::Cancelled,
        }
    }
}

/// The number of a signal; that of an unknown one is that of the most usual.
fn signal_number(name: &str) -> i32 {
    let known = [
        ("HUP", Signal::HUP),
        ("INT", Signal::INT),
        ("QUIT", Signal::QUIT),
        ("ABRT", Signal::ABORT),
        ("FPE", Signal::FPE),
        ("SEGV", Signal::SEGV),
        ("PIPE", Signal::PIPE),
        ("TERM", Signal::TERM),
    ];
    let short = name.trim_start_matches("SIG");
    let named = known.iter().find(|(known, _)| *known == short).map(|(_, signal)| signal.as_raw());
    named.or_else(|| name.parse().ok()).unwrap_or_else(|| Signal::KILL.as_raw())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ExitNote;

    #[test]
    fn an_end_in_a_terminal_reads_like_one_in_our_own_shell() {
        let note = |end| match ProcessEnd::from(end) {
            ProcessEnd::Exited(status) => ExitNote::of_failure(status),
            ProcessEnd::TimedOut | ProcessEnd::Cancelled => None,
        };
        assert_eq!(note(TerminalEnd::Code(0)), None);
        assert_eq!(note(TerminalEnd::Code(3)), Some(ExitNote::Code(3)));
        assert_eq!(note(TerminalEnd::Signal("SIGTERM".into())), Some(ExitNote::Signal(15)));
        assert_eq!(note(TerminalEnd::Signal("9".into())), Some(ExitNote::Signal(9)));
    }
}
