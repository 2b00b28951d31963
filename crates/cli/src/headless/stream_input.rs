//! The lines of `--input-format stream-json`: user messages, requests of the other program, its answers.

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc::UnboundedReceiver;

use crate::wiring::stdin_lines::{LineTooLong, stdin_lines};

/// A line of the input.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum InputLine {
    /// A message of the user; a turn for each.
    User { message: MessageLine },
    /// A request of the other program.
    ControlRequest { request_id: String, request: ControlRequest },
    /// The answer to a request of ours.
    ControlResponse { response: ControlResponse },
}

/// A message of the user.
#[derive(Debug, Deserialize)]
pub(super) struct MessageLine {
    pub(super) content: UserContent,
}

/// A text, or blocks.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum UserContent {
    Text(String),
    Blocks(Vec<UserBlock>),
}

/// A part of a message.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum UserBlock {
    Text { text: String },
    Image { source: ImageData },
}

/// A picture within a message.
#[derive(Debug, Deserialize)]
pub(super) struct ImageData {
    pub(super) media_type: String,
    /// Base64.
    pub(super) data: String,
}

/// What the other program asks for.
#[derive(Debug, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub(super) enum ControlRequest {
    /// What is there? Nothing can be added: hooks and agents come from files.
    Initialize {
        #[serde(default)]
        hooks: Value,
        #[serde(default)]
        agents: Value,
    },
    /// End the turn.
    Interrupt,
    /// Another permission mode, if it allows no more than the one at the start.
    SetPermissionMode { mode: String },
    /// Another model, from the next turn on.
    SetModel { model: String },
}

/// An answer to a request of ours.
#[derive(Debug, Deserialize)]
#[serde(tag = "subtype", rename_all = "snake_case")]
pub(super) enum ControlResponse {
    Success { request_id: String, response: PermissionAnswer },
    Error { request_id: String, error: String },
}

/// The answer to a permission request.
#[derive(Debug, Deserialize)]
#[serde(tag = "behavior", rename_all = "snake_case")]
pub(super) enum PermissionAnswer {
    Allow {
        #[serde(rename = "updatedInput")]
        updated_input: Option<Value>,
    },
    Deny {
        message: Option<String>,
    },
}

/// A line that is none of these.
#[derive(Debug)]
pub(super) struct InvalidLine {
    /// Counted from 1.
    pub(super) number: usize,
    pub(super) error: String,
    /// The id, if it is a request: its sender waits for an answer.
    pub(super) request_id: Option<String>,
}

/// The lines of standard input, as they arrive. The channel closes at its end.
pub(super) fn lines() -> UnboundedReceiver<Result<InputLine, InvalidLine>> {
    stdin_lines(|number, line| {
        let too_long =
            |error: LineTooLong| InvalidLine { number, error: error.to_string(), request_id: None };
        Some(line.map_err(too_long).and_then(|line| parse(&line, number)))
    })
}

fn parse(line: &[u8], number: usize) -> Result<InputLine, InvalidLine> {
    serde_json::from_slice(line).map_err(|error| {
        let value: Option<Value> = serde_json::from_slice(line).ok();
        let id = value.as_ref().and_then(|value| value.get("request_id")).and_then(Value::as_str);
        InvalidLine { number, error: error.to_string(), request_id: id.map(str::to_owned) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<InputLine, InvalidLine> {
        parse(line.as_bytes(), 7)
    }

    #[test]
    fn lines_of_other_programs_are_read_with_what_they_add() {
        let user = r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"hi","cache_control":{}}]},
            "parent_tool_use_id":null,"session_id":"x"}"#;
        assert!(matches!(parsed(user), Ok(InputLine::User { .. })));
        let interrupt =
            r#"{"type":"control_request","request_id":"1","request":{"subtype":"interrupt"}}"#;
        assert!(matches!(
            parsed(interrupt),
            Ok(InputLine::ControlRequest { request: ControlRequest::Interrupt, .. })
        ));
    }

    #[test]
    fn an_invalid_line_says_where_and_whose_request_it_was() {
        let unknown =
            r#"{"type":"control_request","request_id":"9","request":{"subtype":"mcp_status"}}"#;
        let error = parsed(unknown).unwrap_err();
        assert_eq!((error.number, error.request_id.as_deref()), (7, Some("9")));
        assert!(error.error.contains("mcp_status"), "{}", error.error);
        assert!(parsed("{").unwrap_err().request_id.is_none());
    }
}
