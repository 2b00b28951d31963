//! One hook: what it does, how long it may take, who waits for it.

use std::time::Duration;

use dormouse_tools::Rule;
use serde::Deserialize;
use serde_json::Value;

use super::HookEvent;

/// How long a command may take unless it says otherwise.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(10);
/// The person waits for this one before anything is sent.
const PROMPT_TIMEOUT: Duration = Duration::from_secs(30);
/// Kinds that come later.
const LATER_KINDS: &[&str] = &["prompt", "agent", "http", "mcp_tool"];

/// A command to run.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    /// A rule that the call has to fit.
    pub(super) condition: Option<Rule>,
    pub(super) command: String,
    /// With these it is started without a shell.
    pub(super) arguments: Option<Vec<String>>,
    pub(super) timeout: Duration,
    pub(super) waiting: Waiting,
}

/// Whether the turn waits for a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// It does.
    Yes,
    /// It runs beside, and what it says counts no more.
    No,
}

#[derive(Deserialize)]
struct Written {
    #[serde(rename = "type", default = "command")]
    kind: String,
    command: Option<String>,
    args: Option<Vec<String>>,
    timeout: Option<f64>,
    #[serde(rename = "if")]
    condition: Option<String>,
    #[serde(rename = "async", default)]
    beside: bool,
    #[serde(rename = "asyncRewake", default)]
    rewake: bool,
}

fn command() -> String {
    "command".to_owned()
}

impl Handler {
    /// Whether it does the same: of two such, one runs.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        self.command == other.command && self.arguments == other.arguments
    }

    /// Reads one.
    pub(super) fn read(event: HookEvent, handler: Value) -> Result<Self, String> {
        let handler: Written =
            serde_json::from_value(handler).map_err(|error| error.to_string())?;
        if LATER_KINDS.contains(&handler.kind.as_str()) {
            return Err(format!("this version runs no hooks of the kind `{}` yet", handler.kind));
        }
        if handler.kind != "command" {
            return Err(format!("there is no kind `{}`; a hook is a `command`", handler.kind));
        }
        let Some(command) = handler.command.filter(|command| !command.trim().is_empty()) else {
            return Err("`command` is missing".to_owned());
        };
        let condition = handler.condition.map(|rule| rule.parse::<Rule>()).transpose();
        let timeout = match handler.timeout {
            None if event == HookEvent::UserPromptSubmit => PROMPT_TIMEOUT,
            None => COMMAND_TIMEOUT,
            Some(seconds) => Duration::try_from_secs_f64(seconds)
                .map_err(|_| format!("`timeout`: {seconds} is no number of seconds"))?,
        };
        Ok(Self {
            condition: condition.map_err(|error| format!("`if`: {error}"))?,
            command,
            arguments: handler.args,
            timeout,
            waiting: if handler.beside || handler.rewake { Waiting::No } else { Waiting::Yes },
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_prompt_waits_less_long() {
        let read = |event| Handler::read(event, json!({"command": "true"})).unwrap().timeout;
        assert_eq!(read(HookEvent::UserPromptSubmit), PROMPT_TIMEOUT);
        assert_eq!(read(HookEvent::Stop), COMMAND_TIMEOUT);
    }
}
