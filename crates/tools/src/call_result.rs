//! The result of a call, as it goes back to the model.

use dormouse_conversation::ResultContent;
use dormouse_permissions::PermissionVerdict;
use serde_json::value::RawValue;

use crate::output_file::StoredOutput;
use crate::tool_result::{ToolError, ToolOutput};

/// The result of a call.
#[derive(Debug, Clone)]
pub struct CallResult {
    /// The content for the model, or the text of an error.
    pub content: ResultContent,
    /// Whether the call failed.
    pub is_error: bool,
    /// Whether the user interrupted the call.
    pub is_interrupted: bool,
    /// The file that holds the output, if it was too long to keep in memory.
    pub spilled: Option<StoredOutput>,
    /// The final decision about the call; none if it was not needed.
    pub verdict: Option<PermissionVerdict>,
    /// Notes of an observer for the model.
    pub notes: Vec<String>,
    /// Why an observer, or the tool itself, ends the turn here.
    pub halt: Option<String>,
    /// The arguments it ran with, if an observer changed them.
    pub changed: Option<Box<RawValue>>,
}

impl CallResult {
    pub(crate) fn error(message: impl Into<String>) -> Self {
        Self {
            content: ResultContent::Text(message.into()),
            is_error: true,
            is_interrupted: false,
            spilled: None,
            verdict: None,
            notes: Vec::new(),
            halt: None,
            changed: None,
        }
    }

    pub(crate) fn with(self, verdict: PermissionVerdict) -> Self {
        Self { verdict: Some(verdict), ..self }
    }
}

impl From<Result<ToolOutput, ToolError>> for CallResult {
    fn from(result: Result<ToolOutput, ToolError>) -> Self {
        match result {
            Ok(ToolOutput { content, spilled, is_error, halt }) => {
                Self { content, is_error, spilled, halt, ..Self::error("") }
            }
            Err(error) => Self {
                is_interrupted: matches!(error, ToolError::Interrupted { .. }),
                ..Self::error(error.to_string())
            },
        }
    }
}
