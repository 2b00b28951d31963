//! What a tool returns: its output, or why the call failed.

use std::io;
use std::path::{Path, PathBuf};

use dormouse_conversation::{Block, ResultContent};
use dormouse_permissions::WriteTargetError;
use thiserror::Error;

use crate::output_file::StoredOutput;

/// The output of a call.
#[derive(Debug, Clone)]
pub struct ToolOutput {
    /// The content for the model; empty if it is stored already.
    pub content: ResultContent,
    /// The file that holds the output, if it was too long to keep in memory.
    pub spilled: Option<StoredOutput>,
    /// Whether the model is told that it failed, as for a command that was ended.
    pub is_error: bool,
    /// Why the turn ends with this call, if it does.
    pub halt: Option<String>,
}

impl ToolOutput {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::of(ResultContent::Text(text.into()))
    }

    /// Blocks, such as a picture.
    pub fn blocks(blocks: Vec<Block>) -> Self {
        Self::of(ResultContent::Blocks(blocks))
    }

    /// An output that is in a file already.
    pub fn spilled(spilled: StoredOutput) -> Self {
        Self { spilled: Some(spilled), ..Self::text("") }
    }

    fn of(content: ResultContent) -> Self {
        Self { content, spilled: None, is_error: false, halt: None }
    }
}

/// The first line of the result of an interrupted call.
const INTERRUPTED: &str = "interrupted: the call was stopped before it finished";

/// Why a call failed. The message is for the model.
#[derive(Debug, Error)]
pub enum ToolError {
    /// The arguments do not match the schema.
    #[error("invalid arguments: {problem}")]
    InvalidInput {
        /// The field, and what was expected.
        problem: String,
    },
    /// There is no such file or folder.
    #[error("{} does not exist; {hint}", path.display())]
    NotFound {
        /// The path.
        path: PathBuf,
        /// What to try instead.
        hint: String,
    },
    /// There is such a file, but this tool does not handle it.
    #[error("{} {reason}", path.display())]
    Refused {
        /// The file.
        path: PathBuf,
        /// What it is, and what to do instead.
        reason: String,
    },
    /// The system did not allow reading it.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The system did not allow writing it. It is unchanged.
    #[error("cannot write {}: {source}", path.display())]
    Unwritable {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },
    /// The call was interrupted.
    #[error("{INTERRUPTED}{}", after_newline(partial))]
    Interrupted {
        /// The output until then; may be empty.
        partial: String,
    },
    /// Any other failure.
    #[error("{message}")]
    Failed {
        /// What happened, why, and what to do.
        message: String,
    },
}

impl ToolError {
    /// Whether the text of a result says that the call was interrupted.
    pub fn is_interruption(result: &str) -> bool {
        result.starts_with(INTERRUPTED)
    }

    /// Arguments that do not match the schema.
    pub fn invalid(problem: impl Into<String>) -> Self {
        Self::InvalidInput { problem: problem.into() }
    }

    /// Any other failure, with the text of an error.
    pub(crate) fn failed(error: &dyn std::error::Error) -> Self {
        Self::Failed { message: error.to_string() }
    }

    /// An interruption without output.
    pub fn interrupted() -> Self {
        Self::Interrupted { partial: String::new() }
    }

    pub(crate) fn unreadable(path: &Path, source: io::Error) -> Self {
        Self::Unreadable { path: path.to_owned(), source }
    }
}

impl From<WriteTargetError> for ToolError {
    fn from(error: WriteTargetError) -> Self {
        match error {
            WriteTargetError::Invalid { .. } => Self::invalid(error.to_string()),
            WriteTargetError::Unresolvable { path, reason } => {
                Self::Refused { path, reason: reason.to_owned() }
            }
            WriteTargetError::System { path, source } => Self::Unwritable { path, source },
        }
    }
}

fn after_newline(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("\n{text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_call_shows_its_partial_output() {
        let bare = "interrupted: the call was stopped before it finished";
        assert_eq!(ToolError::interrupted().to_string(), bare);
        let partial = ToolError::Interrupted { partial: "one\n".into() };
        assert_eq!(partial.to_string(), format!("{bare}\none\n"));
    }
}
