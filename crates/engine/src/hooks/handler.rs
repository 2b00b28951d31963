//! One hook: what it does, how long it may take, who waits for it.

use std::collections::BTreeMap;
use std::time::Duration;

use dormouse_permissions::PermissionRule;
use serde::Deserialize;
use serde_json::Value;

use super::HookEvent;

/// How long a command or a request may take unless it says otherwise.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(10);
/// The person waits for these before anything is sent.
const PROMPT_EVENT_TIMEOUT: Duration = Duration::from_secs(30);
/// One question to a model.
const QUESTION_TIMEOUT: Duration = Duration::from_secs(30);
/// An agent reads files and thinks.
const AGENT_TIMEOUT: Duration = Duration::from_mins(1);
const KINDS: &[&str] = &["command", "prompt", "agent", "http"];

/// What a hook does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    /// Runs a program that gets JSON and answers.
    Command {
        command: String,
        /// With these it is started without a shell.
        arguments: Option<Vec<String>>,
        shell: Shell,
    },
    /// Asks a model.
    Prompt(Question),
    /// Has an agent look around first.
    Agent(Question),
    /// Posts JSON.
    Http(Address),
}

/// What a model is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Question {
    pub(super) prompt: String,
    /// Which model, where it is said.
    pub(super) model: Option<String>,
}

/// Where JSON is posted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Address {
    pub(super) url: String,
    pub(super) headers: BTreeMap<String, String>,
    /// Variables that headers may name.
    pub(super) variables: Vec<String>,
}

/// What a command line is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shell {
    Posix,
    Bash,
    Power,
}

impl Shell {
    /// The program, and what stands in front of a command line.
    pub(super) fn program(self) -> (&'static str, &'static str) {
        match self {
            Self::Posix => ("sh", "-c"),
            Self::Bash => ("bash", "-c"),
            Self::Power => ("pwsh", "-Command"),
        }
    }
}

/// Something to do, and how.
#[derive(Debug, Clone)]
pub(super) struct Handler {
    /// A rule that the call has to fit.
    pub(super) condition: Option<PermissionRule>,
    pub(super) kind: Kind,
    pub(super) timeout: Duration,
    /// Whether it says so itself.
    pub(super) timeout_is_set: bool,
    pub(super) waiting: Waiting,
    /// What the person sees while it runs.
    pub(super) status: Option<String>,
    /// It runs a single time.
    pub(super) once: bool,
}

/// Whether the turn waits for a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Waiting {
    /// It does.
    Yes,
    /// It runs beside; what it adds is told later, and it decides nothing.
    No,
    /// The same, but where it refuses the model is told and goes on.
    Rewake,
}

#[derive(Deserialize)]
struct Written {
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
    timeout: Option<f64>,
    #[serde(rename = "if")]
    condition: Option<String>,
    #[serde(rename = "async", default)]
    beside: bool,
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

impl Handler {
    /// Reads one.
    pub(super) fn read(event: HookEvent, handler: Value) -> Result<Self, String> {
        if !handler.is_object() {
            return Err("an object with `type` and what goes with it is expected".to_owned());
        }
        let written: Written =
            serde_json::from_value(handler).map_err(|error| error.to_string())?;
        let kind = written.kind()?;
        if event == HookEvent::SessionStart && !matches!(kind, Kind::Command { .. }) {
            return Err(format!(
                "`SessionStart` runs hooks of the kind `command` only, and this is a `{}`",
                written.kind
            ));
        }
        let timeout = match written.timeout {
            None => usual_timeout(event, &kind),
            Some(seconds) => Duration::try_from_secs_f64(seconds)
                .ok()
                .filter(|timeout| !timeout.is_zero())
                .ok_or_else(|| format!("`timeout`: {seconds} is no number of seconds"))?,
        };
        Ok(Self {
            condition: written.condition(event)?,
            kind,
            timeout,
            timeout_is_set: written.timeout.is_some(),
            waiting: match (written.beside, written.rewake) {
                (_, true) => Waiting::Rewake,
                (true, false) => Waiting::No,
                (false, false) => Waiting::Yes,
            },
            status: written.status.filter(|status| !status.trim().is_empty()),
            once: written.once,
        })
    }

    /// What it does, in a line.
    pub(super) fn shown(&self) -> String {
        match &self.kind {
            Kind::Command { command, arguments: None, .. } => command.clone(),
            Kind::Command { command, arguments: Some(arguments), .. } => {
                std::iter::once(command).chain(arguments).cloned().collect::<Vec<_>>().join(" ")
            }
            Kind::Prompt(question) | Kind::Agent(question) => question.prompt.clone(),
            Kind::Http(address) => address.url.clone(),
        }
    }

    /// The name of its kind.
    pub(super) fn kind_name(&self) -> &'static str {
        match self.kind {
            Kind::Command { .. } => "command",
            Kind::Prompt(_) => "prompt",
            Kind::Agent(_) => "agent",
            Kind::Http(_) => "http",
        }
    }
}

impl Written {
    fn kind(&self) -> Result<Kind, String> {
        let needed = |field: &Option<String>, name: &str| match field {
            Some(text) if !text.trim().is_empty() => Ok(text.clone()),
            _ => Err(format!("`{name}` is missing")),
        };
        let question = || {
            let prompt = needed(&self.prompt, "prompt")?;
            Ok::<_, String>(Question { prompt, model: self.model.clone() })
        };
        match self.kind.as_str() {
            "command" => Ok(Kind::Command {
                command: needed(&self.command, "command")?,
                arguments: self.args.clone(),
                shell: self.shell()?,
            }),
            "prompt" => question().map(Kind::Prompt),
            "agent" => question().map(Kind::Agent),
            "http" => Ok(Kind::Http(Address {
                url: self.url()?,
                headers: self.headers.clone(),
                variables: self.variables.clone(),
            })),
            "mcp_tool" => Err("hooks of the kind `mcp_tool` are not supported".to_owned()),
            other => {
                let kinds = KINDS.iter().map(|kind| (*kind).to_owned());
                let meant = dormouse_base::nearest_name(other, kinds);
                let meant = meant.map(|m| format!(" (did you mean `{m}`?)")).unwrap_or_default();
                Err(format!(
                    "there is no kind `{other}`{meant}; the kinds are {}",
                    KINDS.join(", ")
                ))
            }
        }
    }

    fn shell(&self) -> Result<Shell, String> {
        match self.shell.as_deref() {
            None | Some("sh") => Ok(Shell::Posix),
            Some("bash") => Ok(Shell::Bash),
            Some("powershell") => Ok(Shell::Power),
            Some(other) => Err(format!("`shell`: `{other}` is none of bash, sh, powershell")),
        }
    }

    fn url(&self) -> Result<String, String> {
        let url = self.url.clone().filter(|url| !url.trim().is_empty());
        let url = url.ok_or_else(|| "`url` is missing".to_owned())?;
        if url.starts_with("http://") || url.starts_with("https://") {
            return Ok(url);
        }
        Err(format!("`url`: `{url}` begins with neither http:// nor https://"))
    }

    fn condition(&self, event: HookEvent) -> Result<Option<PermissionRule>, String> {
        let Some(rule) = &self.condition else { return Ok(None) };
        if !event.is_of_tool() {
            return Err(format!("`if` is for events of tools, and `{}` is none", event.name()));
        }
        rule.parse::<PermissionRule>().map(Some).map_err(|error| format!("`if`: {error}"))
    }
}

fn usual_timeout(event: HookEvent, kind: &Kind) -> Duration {
    let usual = match kind {
        Kind::Command { .. } | Kind::Http(_) => COMMAND_TIMEOUT,
        Kind::Prompt(_) => QUESTION_TIMEOUT,
        Kind::Agent(_) => AGENT_TIMEOUT,
    };
    match event {
        HookEvent::UserPromptSubmit => usual.min(PROMPT_EVENT_TIMEOUT),
        _ => usual,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn time_depends_on_kind_and_event() {
        let seconds = |event, handler| Handler::read(event, handler).unwrap().timeout.as_secs();
        let (stop, prompt) = (HookEvent::Stop, HookEvent::UserPromptSubmit);
        assert_eq!(seconds(stop, json!({"command": "true"})), 600);
        assert_eq!(seconds(prompt, json!({"command": "true"})), 30);
        assert_eq!(seconds(stop, json!({"type": "http", "url": "http://x/"})), 600);
        assert_eq!(seconds(stop, json!({"type": "prompt", "prompt": "x"})), 30);
        assert_eq!(seconds(stop, json!({"type": "agent", "prompt": "x"})), 60);
        assert_eq!(seconds(prompt, json!({"type": "agent", "prompt": "x"})), 30);
        assert_eq!(seconds(prompt, json!({"type": "agent", "prompt": "x", "timeout": 90})), 90);
    }
}
