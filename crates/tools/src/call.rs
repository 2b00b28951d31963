//! One call from the model, run to a result whatever happens.
//!
//! Invariant: this always answers. Arguments that are not an object, an unknown tool, a denial, an
//! error, a panic and an interruption all become an error result that the model can read.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dormouse_conversation::{ResultContent, ToolUse};
use futures_util::FutureExt;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::input::without_position;
use crate::{CallContext, Gate, Spilled, Tool, ToolError, ToolOutput, ToolSet, Verdict};

/// How long a tool may take to stop by itself: more than Bash needs to end a stubborn command.
const STOP_GRACE: Duration = Duration::from_secs(5);

/// What goes back to the model.
#[derive(Debug, Clone)]
pub struct CallResult {
    /// The answer, or what went wrong.
    pub content: ResultContent,
    /// Whether something went wrong.
    pub is_error: bool,
    /// The file in which the result is, where it was too long to hold.
    pub spilled: Option<Spilled>,
}

impl CallResult {
    fn error(message: impl Into<String>) -> Self {
        Self { content: ResultContent::Text(message.into()), is_error: true, spilled: None }
    }
}

impl From<Result<ToolOutput, ToolError>> for CallResult {
    fn from(result: Result<ToolOutput, ToolError>) -> Self {
        match result {
            Ok(ToolOutput { content, spilled, is_error }) => Self { content, is_error, spilled },
            Err(error) => Self::error(error.to_string()),
        }
    }
}

/// Runs a call, if it is one and may.
pub async fn run_call(
    tools: &ToolSet,
    gate: &Gate,
    call: ToolUse<'_>,
    context: &CallContext,
) -> CallResult {
    let (tool, input) = match prepare(tools, gate, call, &context.folder) {
        Ok(ready) => ready,
        Err(problem) => return CallResult::error(problem),
    };
    if context.cancel.is_cancelled() {
        return Err(ToolError::interrupted()).into();
    }
    // The inner `async` makes sure that a panic before the tool's first await is caught as well.
    let work = AssertUnwindSafe(async { tool.call(input, context).await }).catch_unwind();
    let stopped = async {
        context.cancel.cancelled().await;
        tokio::time::sleep(STOP_GRACE).await;
    };
    tokio::select! {
        biased;
        finished = work => match finished {
            Ok(result) => result.into(),
            Err(panic) => CallResult::error(panic_text(call.name, panic.as_ref())),
        },
        () = stopped => Err(ToolError::interrupted()).into(),
    }
}

/// The tool and its arguments, or why there will be no call.
fn prepare<'a>(
    tools: &ToolSet,
    gate: &Gate,
    call: ToolUse<'a>,
    folder: &Path,
) -> Result<(Arc<dyn Tool>, &'a RawValue), String> {
    let Some(tool) = tools.get(call.name) else { return Err(unknown_tool(tools, call.name)) };
    let input = object(call)?;
    let decision = gate.decide(tool.as_ref(), input, folder);
    match decision.verdict {
        Verdict::Allow => Ok((Arc::clone(tool), input)),
        // Nobody who could answer is asked yet.
        Verdict::Ask | Verdict::Deny => Err(format!("{} was not run: {}", call.name, decision.why)),
    }
}

fn unknown_tool(tools: &ToolSet, name: &str) -> String {
    let names: Vec<&str> = tools.names().collect();
    format!("there is no tool named `{name}`; the tools are: {}", names.join(", "))
}

/// The text of arguments that were not JSON.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct InvalidJson {
    #[serde(rename = "__invalid_json__")]
    text: String,
}

fn object(call: ToolUse<'_>) -> Result<&RawValue, String> {
    let text = call.input.get().trim_start();
    // A call without arguments has none, or `null`; what is required is then found missing.
    if text == "null" {
        return Ok(empty_object());
    }
    let name = call.name;
    if !text.starts_with('{') {
        return Err(format!(
            "the arguments of {name} are not a JSON object, so it was not run; send one object with \
             the fields of the tool's schema"
        ));
    }
    match serde_json::from_str::<InvalidJson>(text) {
        Ok(InvalidJson { text }) => Err(invalid_json(name, &text)),
        Err(_) => Ok(call.input),
    }
}

fn empty_object() -> &'static RawValue {
    serde_json::from_str("{}").unwrap_or(RawValue::NULL)
}

fn invalid_json(name: &str, text: &str) -> String {
    let problem = match serde_json::from_str::<IgnoredAny>(text) {
        Err(error) if text.lines().count() <= 1 => {
            format!("{} at character {}", without_position(&error), error.column())
        }
        Err(error) => error.to_string(),
        Ok(IgnoredAny) => "they could not be read".to_owned(),
    };
    format!(
        "the arguments of {name} were not valid JSON ({problem}), so it was not run; send the call \
         again with one complete JSON object"
    )
}

fn panic_text(name: &str, panic: &(dyn std::any::Any + Send)) -> String {
    let message = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    format!(
        "{name} failed by a fault in the program itself ({message}); it may have done part of its \
         work, and another try will probably fail the same way"
    )
}

#[cfg(test)]
#[path = "call_tests.rs"]
mod tests;
