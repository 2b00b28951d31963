//! Hooks of the kind `mcp_tool`: calls a tool of an MCP server and parses its text like the output of a command.

use futures_util::future::BoxFuture;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::event::HookEvent;
use crate::response::{HookExit, HookResponse, parse_response};

/// A tool to call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolTarget {
    pub(crate) server: String,
    pub(crate) tool: String,
    /// The arguments, with placeholders in texts.
    pub(crate) input: Map<String, Value>,
}

/// Why a tool gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HookToolError {
    /// The conversation has no MCP servers.
    #[error("there is no MCP server `{0}` in this conversation")]
    NoServer(String),
    /// The call failed, or the tool said that it did.
    #[error("{0}")]
    Failed(String),
}

/// The MCP servers whose tools hooks call. The engine implements it: this crate knows no servers.
pub trait HookServers: std::fmt::Debug + Send + Sync {
    /// Calls a tool. Returns the text of the result.
    fn call_tool<'a>(
        &'a self,
        server: &'a str,
        tool: &'a str,
        arguments: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, HookToolError>>;
}

/// Calls the tool and parses what it says. A call that fails decides nothing.
pub(crate) async fn call_tool(
    servers: Option<&dyn HookServers>,
    event: HookEvent,
    name: &str,
    target: &ToolTarget,
    input: &[u8],
) -> HookResponse {
    // It was written by this crate.
    let event_input = serde_json::from_slice(input).unwrap_or_default();
    let arguments = target.input.iter();
    let arguments = arguments.map(|(name, value)| (name.clone(), filled(value, &event_input)));
    let called = match servers {
        Some(servers) => servers.call_tool(&target.server, &target.tool, arguments.collect()).await,
        None => Err(HookToolError::NoServer(target.server.clone())),
    };
    match called {
        Ok(stdout) => {
            let exit = HookExit { code: Some(0), stdout, stderr: String::new() };
            parse_response(event, name, &exit)
        }
        Err(error) => HookResponse::ignored(format!("hook `{name}` ignored: {error}")),
    }
}

/// A value with its placeholders replaced by parts of the event: `${tool_input.file_path}`.
fn filled(value: &Value, event: &Value) -> Value {
    match value {
        Value::String(text) => filled_text(text, event),
        Value::Array(items) => items.iter().map(|item| filled(item, event)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, value)| (name.clone(), filled(value, event))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// A text that is one placeholder becomes the part itself, whatever its kind; inside a text parts are texts. What the event does
/// not have is empty.
fn filled_text(text: &str, event: &Value) -> Value {
    let alone = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    if let Some(path) = alone.filter(|path| !path.contains('}')) {
        return part(event, path).cloned().unwrap_or_else(|| "".into());
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        out.push_str(before);
        let Some((path, tail)) = after.split_once('}') else {
            out.push_str("${");
            rest = after;
            break;
        };
        match part(event, path) {
            Some(Value::String(text)) => out.push_str(text),
            Some(other) => out.push_str(&other.to_string()),
            None => {}
        }
        rest = tail;
    }
    out.push_str(rest);
    out.into()
}

fn part<'v>(event: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.').try_fold(event, |value, name| match value {
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        other => other.get(name),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn placeholders_are_parts_of_the_event() {
        let event = json!({"tool_input": {"file_path": "a.rs", "lines": [1, 2]}, "cwd": "/x"});
        let check = |text: &str, expected: Value| {
            assert_eq!(
                filled(&json!({ "a": [text] }), &event),
                json!({ "a": [expected] }),
                "{text}"
            );
        };
        check("${tool_input.file_path}", json!("a.rs"));
        check("${tool_input.lines}", json!([1, 2]));
        check("${cwd}/${tool_input.file_path}: ${tool_input.lines.1}", json!("/x/a.rs: 2"));
        check("${none}|${tool_input.none.x}|", json!("||"));
        check("$cwd ${", json!("$cwd ${"));
        // What stands in the event is not looked at again.
        let event = json!({"prompt": "${cwd}", "cwd": "/x"});
        assert_eq!(filled(&json!("say ${prompt}"), &event), json!("say ${cwd}"));
    }
}
