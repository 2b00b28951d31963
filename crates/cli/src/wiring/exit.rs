//! How the program ends: exit codes, and errors with what to do about them.

use std::process::ExitCode;

use dormouse_base::{AppendError, FileError};
use dormouse_memory::ChangeError;

/// The documented exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The model was done.
    Done,
    /// It could not be done.
    Failed,
    /// The command line, the settings or the set-up is wrong.
    Usage,
    /// Stopped before it was done.
    StoppedEarly,
    /// Interrupted by a person.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::StoppedEarly => 3,
            Exit::Interrupted => 130,
        })
    }
}

/// An error at the top: what happened, and what a person can do about it.
#[derive(Debug)]
pub(crate) struct Failure {
    exit: Exit,
    error: anyhow::Error,
    hints: Vec<String>,
    /// A word for programs.
    kind: &'static str,
    /// It stands in the output already.
    printed: bool,
}

impl Failure {
    pub(crate) fn new(exit: Exit, error: impl Into<anyhow::Error>) -> Self {
        let kind = if exit == Exit::Usage { "usage" } else { "failed" };
        Self { exit, error: error.into(), hints: Vec::new(), kind, printed: false }
    }

    /// Wrong arguments, settings or set-up.
    pub(crate) fn usage(error: impl Into<anyhow::Error>) -> Self {
        Self::new(Exit::Usage, error)
    }

    /// Something that could not be done.
    pub(crate) fn failed(error: impl Into<anyhow::Error>) -> Self {
        Self::new(Exit::Failed, error)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// What the model's server did: its result is in the output already.
    pub(crate) fn of_server(error: dormouse_model::ModelError) -> Self {
        Self { kind: error.kind(), printed: true, ..Self::failed(error) }
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
        // The messages of our errors say the cause themselves; a chain would say it twice.
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
                Some("end the other one first, or begin a session of your own")
            }
            EngineError::Transcript(
                TranscriptError::Missing(_)
                | TranscriptError::Encode(_)
                | TranscriptError::Append(AppendError::Newline { .. }),
            )
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

/// Help and version go to standard output and are no error.
pub(crate) fn of_usage(error: &clap::Error) -> ExitCode {
    // Nobody is left to tell if even this can not be printed.
    let _printed = error.print();
    if error.use_stderr() { Exit::Usage.into() } else { Exit::Done.into() }
}
