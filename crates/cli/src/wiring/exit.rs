//! Exit codes, and errors with hints.

use std::process::ExitCode;

use dormouse_base::{AppendError, FileError};
use dormouse_memory::ChangeError;

/// The documented exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The model finished, or the command succeeded.
    Done,
    /// The run or command failed.
    Failed,
    /// Wrong arguments, settings or setup.
    Usage,
    /// Stopped before the model finished.
    StoppedEarly,
    /// A call would need confirmation.
    NeedsConfirmation,
    /// A call would be denied.
    Denied,
    /// Interrupted by the user.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::StoppedEarly | Exit::NeedsConfirmation => 3,
            Exit::Denied => 4,
            Exit::Interrupted => 130,
        })
    }
}

/// An error for the user: what happened, and hints what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    error: anyhow::Error,
    hints: Vec<String>,
    /// A machine-readable kind.
    kind: &'static str,
    /// The JSON output contains the error already.
    printed: bool,
}

impl Failure {
    pub(crate) fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        let kind = if exit == Exit::Usage { "usage" } else { "failed" };
        Self { exit, error: error.into(), hints: Vec::new(), kind, printed: false }
    }

    /// Wrong arguments, settings or setup.
    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self::new(Exit::Usage, error)
    }

    /// Arguments that cannot be parsed; none if help or the version was asked for.
    pub(crate) fn of_arguments(error: &clap::Error) -> Option<Self> {
        let text = error.use_stderr().then(|| error.to_string())?;
        let first = text.split("\n\n").next().unwrap_or_default().trim();
        let message = first.strip_prefix("error: ").unwrap_or(first);
        Some(Self::usage(anyhow::anyhow!(message.to_owned())))
    }

    pub(crate) fn failed(error: impl Into<anyhow::Error>) -> Self {
        Self::new(Exit::Failed, error)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// An error of the model server; the JSON output contains it already.
    pub(crate) fn of_server(kind: &'static str, message: String) -> Self {
        Self { kind, printed: true, ..Self::failed(anyhow::anyhow!(message)) }
    }

    pub(crate) fn kind(&self) -> &'static str {
        self.kind
    }

    pub(crate) fn is_printed(&self) -> bool {
        self.printed
    }

    pub(crate) fn exit(&self) -> Exit {
        self.exit
    }

    pub(crate) fn message(&self) -> String {
        // Our error messages contain their cause; a chain would repeat it.
        self.error.to_string()
    }

    pub(crate) fn hints(&self) -> &[String] {
        &self.hints
    }
}

impl From<dormouse_base::FileError> for Failure {
    fn from(error: dormouse_base::FileError) -> Self {
        let hint = error.hint();
        let failure = Self::failed(error);
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}

impl From<dormouse_base::HomeError> for Failure {
    fn from(error: dormouse_base::HomeError) -> Self {
        Self::usage(error)
    }
}

impl From<ChangeError> for Failure {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::File(file) => Self::from(file),
            ChangeError::Name(_) => Self::usage(error),
            other => {
                let hint = file_error(&other).and_then(FileError::hint);
                let failure = Self::failed(other);
                match hint {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                }
            }
        }
    }
}

fn file_error(error: &ChangeError) -> Option<&FileError> {
    match error {
        ChangeError::Interrupted(file) | ChangeError::Journal(AppendError::File(file)) => {
            Some(file)
        }
        _ => None,
    }
}

impl From<dormouse_engine::EngineError> for Failure {
    fn from(error: dormouse_engine::EngineError) -> Self {
        use dormouse_base::AppendError;
        use dormouse_conversation::transcript::TranscriptError;
        use dormouse_engine::EngineError;
        let hint = match &error {
            EngineError::File(file)
            | EngineError::Transcript(
                TranscriptError::File(file) | TranscriptError::Append(AppendError::File(file)),
            ) => file.hint(),
            EngineError::Transcript(TranscriptError::InUse { .. }) => {
                Some("close the other process first, or start a new session")
            }
            EngineError::Transcript(
                TranscriptError::Missing(_)
                | TranscriptError::Encode(_)
                | TranscriptError::Append(AppendError::Newline { .. }),
            )
            | EngineError::Checkpoint(_)
            | EngineError::StillWriting(_)
            | EngineError::History(_) => None,
        };
        let missing = matches!(error, EngineError::Transcript(TranscriptError::Missing(_)));
        let failure = if missing { Self::usage(error) } else { Self::failed(error) };
        match hint {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
