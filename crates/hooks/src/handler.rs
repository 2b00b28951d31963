//! One hook: its action, timeout and wait mode.

use std::collections::BTreeMap;
use std::time::Duration;

use dormouse_permissions::PermissionRule;
use serde::Deserialize;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::event::HookEvent;
use crate::mcp_tool::ToolTarget;

/// Default timeout of commands and HTTP requests.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(10);
/// The user waits for these hooks before anything is sent.
const PROMPT_EVENT_TIMEOUT: Duration = Duration::from_secs(30);
/// Default timeout of model checks.
const PROMPT_TIMEOUT: Duration = Duration::from_secs(30);
/// Default timeout of agents.
const AGENT_TIMEOUT: Duration = Duration::from_mins(1);
const KINDS: &[&str] = &["command", "prompt", "agent", "http", "mcp_tool"];

/// The action of a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HookAction {
    /// Runs a program with JSON on its standard input.
    Command {
        command: String,
        /// If set, the program is started without a shell.
        arguments: Option<Vec<String>>,
        shell: HookShell,
    },
    /// Asks a model.
    Prompt(ModelQuestion),
    /// Runs an agent that may read files first.
    Agent(ModelQuestion),
    /// Posts JSON to a server.
    Http(HttpTarget),
    /// Calls a tool of an MCP server.
    McpTool(ToolTarget),
}

/// A question to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ModelQuestion {
    pub(crate) prompt: String,
    /// The model; `None` for the default.
    pub(crate) model: Option<String>,
}

/// An HTTP endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct HttpTarget {
    pub(crate) url: String,
    pub(crate) headers: BTreeMap<String, String>,
    /// Environment variables that headers may use.
    pub(crate) variables: Vec<String>,
}

/// The shell of a command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookShell {
    Posix,
    Bash,
    Power,
}

impl HookShell {
    /// The program, and the option before the command line.
    pub(crate) fn program(self) -> (&'static str, &'static str) {
        match self {
            Self::Posix => ("sh", "-c"),
            Self::Bash => ("bash", "-c"),
            Self::Power => ("pwsh", "-Command"),
        }
    }
}

/// A hook as configured.
#[derive(Debug, Clone)]
pub(crate) struct HookHandler {
    /// `if`: a rule that the tool call must match.
    pub(crate) condition: Option<PermissionRule>,
    pub(crate) action: HookAction,
    pub(crate) timeout: Duration,
    /// Whether the timeout is configured.
    pub(crate) timeout_is_set: bool,
    pub(crate) wait_mode: WaitMode,
    /// Shown to the user while the hook runs.
    pub(crate) status: Option<String>,
    /// Run only once per session.
    pub(crate) once: bool,
}

/// Whether the turn waits for a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitMode {
    /// The turn waits.
    Wait,
    /// `async`: runs in the background. Its output arrives later, and it decides nothing.
    Background,
    /// `asyncRewake`: runs in the background, and its block reason wakes the model.
    BackgroundRewake,
}

/// Why a hook is invalid.
#[derive(Debug, Error)]
pub(crate) enum HandlerError {
    #[error("expected an object with `type` and its fields")]
    NotAnObject,
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    #[error("`SessionStart` runs only hooks of the kinds `command` and `mcp_tool`, not `{0}`")]
    SessionStartKind(String),
    #[error("`timeout`: {0} is not a valid number of seconds")]
    Timeout(f64),
    #[error("`{0}` is missing")]
    Missing(&'static str),
    #[error("unknown kind `{kind}`{}; expected one of {}", did_you_mean(suggestion.as_deref()), KINDS.join(", "))]
    UnknownKind { kind: String, suggestion: Option<String> },
    #[error("`shell`: expected bash, sh or powershell, not `{0}`")]
    Shell(String),
    #[error("`url`: `{0}` does not start with http:// or https://")]
    Url(String),
    #[error("`if` works only for tool events, and `{0}` is not one")]
    ConditionEvent(&'static str),
    #[error("`if`: {0}")]
    Condition(#[from] dormouse_permissions::RuleError),
}

fn did_you_mean(suggestion: Option<&str>) -> String {
    suggestion.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

#[derive(Deserialize)]
struct RawHandler {
    #[serde(rename = "type", default = "command")]
    kind: String,
    command: Option<String>,
    args: Option<Vec<String>>,
    shell: Option<String>,
    prompt: Option<String>,
    model: Option<String>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(rename = "allowedEnvVars", default)]
    variables: Vec<String>,
    server: Option<String>,
    tool: Option<String>,
    #[serde(default)]
    input: Map<String, Value>,
    timeout: Option<f64>,
    #[serde(rename = "if")]
    condition: Option<String>,
    #[serde(rename = "async", default)]
    background: bool,
    #[serde(rename = "asyncRewake", default)]
    rewake: bool,
    #[serde(rename = "statusMessage")]
    status: Option<String>,
    #[serde(default)]
    once: bool,
}

fn command() -> String {
    "command".to_owned()
}

impl HookHandler {
    /// Reads one hook of the settings.
    pub(crate) fn read(event: HookEvent, handler: Value) -> Result<Self, HandlerError> {
        if !handler.is_object() {
            return Err(HandlerError::NotAnObject);
        }
        let raw: RawHandler = serde_json::from_value(handler)?;
        let action = raw.action()?;
        let is_short = matches!(action, HookAction::Command { .. } | HookAction::McpTool(_));
        if event == HookEvent::SessionStart && !is_short {
            return Err(HandlerError::SessionStartKind(raw.kind));
        }
        let timeout = match raw.timeout {
            None => default_timeout(event, &action),
            Some(seconds) => Duration::try_from_secs_f64(seconds)
                .ok()
                .filter(|timeout| !timeout.is_zero())
                .ok_or(HandlerError::Timeout(seconds))?,
        };
        Ok(Self {
            condition: raw.condition(event)?,
            action,
            timeout,
            timeout_is_set: raw.timeout.is_some(),
            wait_mode: match (raw.background, raw.rewake) {
                (_, true) => WaitMode::BackgroundRewake,
                (true, false) => WaitMode::Background,
                (false, false) => WaitMode::Wait,
            },
            status: raw.status.filter(|status| !status.trim().is_empty()),
            once: raw.once,
        })
    }

    /// The command, prompt, URL or tool.
    pub(crate) fn summary(&self) -> String {
        match &self.action {
            HookAction::Command { command, arguments: None, .. } => command.clone(),
            HookAction::Command { command, arguments: Some(arguments), .. } => {
                std::iter::once(command).chain(arguments).cloned().collect::<Vec<_>>().join(" ")
            }
            HookAction::Prompt(question) | HookAction::Agent(question) => question.prompt.clone(),
            HookAction::Http(address) => address.url.clone(),
            HookAction::McpTool(target) => format!("{}: {}", target.server, target.tool),
        }
    }

    /// The `type` in the settings.
    pub(crate) fn kind_name(&self) -> &'static str {
        match self.action {
            HookAction::Command { .. } => "command",
            HookAction::Prompt(_) => "prompt",
            HookAction::Agent(_) => "agent",
            HookAction::Http(_) => "http",
            HookAction::McpTool(_) => "mcp_tool",
        }
    }
}

impl RawHandler {
    fn action(&self) -> Result<HookAction, HandlerError> {
        let required = |field: &Option<String>, name: &'static str| match field {
            Some(text) if !text.trim().is_empty() => Ok(text.clone()),
            _ => Err(HandlerError::Missing(name)),
        };
        let question = || {
            let prompt = required(&self.prompt, "prompt")?;
            Ok::<_, HandlerError>(ModelQuestion { prompt, model: self.model.clone() })
        };
        match self.kind.as_str() {
            "command" => Ok(HookAction::Command {
                command: required(&self.command, "command")?,
                arguments: self.args.clone(),
                shell: self.shell()?,
            }),
            "prompt" => question().map(HookAction::Prompt),
            "agent" => question().map(HookAction::Agent),
            "http" => Ok(HookAction::Http(HttpTarget {
                url: self.url()?,
                headers: self.headers.clone(),
                variables: self.variables.clone(),
            })),
            "mcp_tool" => Ok(HookAction::McpTool(ToolTarget {
                server: required(&self.server, "server")?,
                tool: required(&self.tool, "tool")?,
                input: self.input.clone(),
            })),
            other => {
                let kinds = KINDS.iter().map(|kind| (*kind).to_owned());
                let suggestion = dormouse_base::nearest_name(other, kinds);
                Err(HandlerError::UnknownKind { kind: other.to_owned(), suggestion })
            }
        }
    }

    fn shell(&self) -> Result<HookShell, HandlerError> {
        match self.shell.as_deref() {
            None | Some("sh") => Ok(HookShell::Posix),
            Some("bash") => Ok(HookShell::Bash),
            Some("powershell") => Ok(HookShell::Power),
            Some(other) => Err(HandlerError::Shell(other.to_owned())),
        }
    }

    fn url(&self) -> Result<String, HandlerError> {
        let url = self.url.clone().filter(|url| !url.trim().is_empty());
        let url = url.ok_or(HandlerError::Missing("url"))?;
        if url.starts_with("http://") || url.starts_with("https://") {
            return Ok(url);
        }
        Err(HandlerError::Url(url))
    }

    fn condition(&self, event: HookEvent) -> Result<Option<PermissionRule>, HandlerError> {
        let Some(rule) = &self.condition else { return Ok(None) };
        if !event.is_tool_event() {
            return Err(HandlerError::ConditionEvent(event.name()));
        }
        Ok(Some(rule.parse()?))
    }
}

fn default_timeout(event: HookEvent, action: &HookAction) -> Duration {
    let timeout = match action {
        HookAction::Command { .. } | HookAction::Http(_) | HookAction::McpTool(_) => {
            COMMAND_TIMEOUT
        }
        HookAction::Prompt(_) => PROMPT_TIMEOUT,
        HookAction::Agent(_) => AGENT_TIMEOUT,
    };
    match event {
        HookEvent::UserPromptSubmit => timeout.min(PROMPT_EVENT_TIMEOUT),
        _ => timeout,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_default_timeout_depends_on_kind_and_event() {
        let seconds = |event, handler| HookHandler::read(event, handler).unwrap().timeout.as_secs();
        let stop = HookEvent::Stop;
        let prompt = HookEvent::UserPromptSubmit;
        assert_eq!(seconds(stop, json!({"command": "true"})), 600);
        assert_eq!(seconds(prompt, json!({"command": "true"})), 30);
        assert_eq!(seconds(stop, json!({"type": "http", "url": "http://x/"})), 600);
        assert_eq!(seconds(stop, json!({"type": "prompt", "prompt": "x"})), 30);
        assert_eq!(seconds(stop, json!({"type": "agent", "prompt": "x"})), 60);
        assert_eq!(seconds(prompt, json!({"type": "agent", "prompt": "x"})), 30);
        assert_eq!(seconds(prompt, json!({"type": "agent", "prompt": "x", "timeout": 90})), 90);
    }
}
