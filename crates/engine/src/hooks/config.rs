//! Hooks as the settings have them. One that can not be used is told, with its place; the others run.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use dormouse_base::{Source, nearest};
use dormouse_tools::Rule;
use serde::Deserialize;
use serde_json::Value;

use super::HookEvent;
use super::matcher::Matcher;

/// How long a command may take unless it says otherwise.
const COMMAND_TIMEOUT: Duration = Duration::from_mins(10);
/// The person waits for this one before anything is sent.
const PROMPT_TIMEOUT: Duration = Duration::from_secs(30);
/// Events of the contract that come later: not a mistake to set a hook for them.
const LATER: &[&str] = &[
    "SubagentStart",
    "SubagentStop",
    "ConfigChange",
    "CwdChanged",
    "FileChanged",
    "MemorySaved",
    "MemoryRecalled",
    "DreamStart",
    "DreamEnd",
    "TeamSynced",
    "Setup",
];
/// Kinds that come later.
const LATER_KINDS: &[&str] = &["prompt", "agent", "http", "mcp_tool"];

/// A hook that will not run, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookProblem {
    /// Whose settings.
    pub source: Source,
    /// Where in them.
    pub place: String,
    /// What is wrong.
    pub problem: String,
}

impl fmt::Display for HookProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} settings, {}: {}", self.source, self.place, self.problem)
    }
}

/// A command to run.
#[derive(Debug, Clone)]
pub(super) struct Hook {
    pub(super) matcher: Matcher,
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

/// All hooks, by event, in the order in which their answers count.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    by_event: BTreeMap<HookEvent, Vec<Hook>>,
}

#[derive(Deserialize)]
struct Group {
    matcher: Option<String>,
    hooks: Vec<Value>,
}

#[derive(Deserialize)]
struct Handler {
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

impl Hooks {
    /// Reads the hooks of several layers. Their order is that of the answers: user, project, local,
    /// managed, then those of this run.
    pub fn read<'a>(
        layers: impl IntoIterator<Item = (Source, &'a BTreeMap<String, Value>)>,
    ) -> (Self, Vec<HookProblem>) {
        let mut layers: Vec<_> = layers.into_iter().collect();
        layers.sort_by_key(|(source, _)| match source {
            Source::User => 0,
            Source::Project => 1,
            Source::Local => 2,
            Source::Managed => 3,
            Source::CommandLine => 4,
        });
        let (mut hooks, mut problems) = (Self::default(), Vec::new());
        for (source, events) in layers {
            for (name, groups) in events {
                let mut report = |place: String, problem: String| {
                    problems.push(HookProblem { source, place, problem });
                };
                match event(name) {
                    Ok(event) => hooks.add(event, groups, &mut report),
                    Err(problem) => report(format!("hooks.{name}"), problem),
                }
            }
        }
        (hooks, problems)
    }

    fn add(&mut self, event: HookEvent, groups: &Value, report: &mut impl FnMut(String, String)) {
        let name = event.name();
        let Value::Array(groups) = groups else {
            return report(
                format!("hooks.{name}"),
                "a list of matchers with hooks is expected".into(),
            );
        };
        for (number, group) in groups.iter().enumerate() {
            let place = format!("hooks.{name}[{number}]");
            let group: Group = match serde_json::from_value(group.clone()) {
                Ok(group) => group,
                Err(error) => {
                    report(place, error.to_string());
                    continue;
                }
            };
            let matcher = match Matcher::parse(group.matcher.as_deref()) {
                Ok(matcher) => matcher,
                Err(problem) => {
                    report(format!("{place}.matcher"), problem);
                    continue;
                }
            };
            for (number, handler) in group.hooks.into_iter().enumerate() {
                match hook(event, &matcher, handler) {
                    Ok(hook) => self.by_event.entry(event).or_default().push(hook),
                    Err(problem) => report(format!("{place}.hooks[{number}]"), problem),
                }
            }
        }
    }

    /// Whether there is none at all.
    pub fn is_empty(&self) -> bool {
        self.by_event.is_empty()
    }

    /// Those of an event, in their order.
    pub(super) fn of(&self, event: HookEvent) -> &[Hook] {
        self.by_event.get(&event).map(Vec::as_slice).unwrap_or_default()
    }
}

fn event(name: &str) -> Result<HookEvent, String> {
    if let Some(event) = HookEvent::ALL.into_iter().find(|event| event.name() == name) {
        return Ok(event);
    }
    if LATER.contains(&name) {
        return Err("this version runs no hooks at this event yet".to_owned());
    }
    let names = HookEvent::ALL.into_iter().map(|event| event.name().to_owned());
    Err(match nearest(name, names) {
        Some(meant) => format!("there is no such event (did you mean `{meant}`?)"),
        None => "there is no such event".to_owned(),
    })
}

fn hook(event: HookEvent, matcher: &Matcher, handler: Value) -> Result<Hook, String> {
    let handler: Handler = serde_json::from_value(handler).map_err(|error| error.to_string())?;
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
    Ok(Hook {
        matcher: matcher.clone(),
        condition: condition.map_err(|error| format!("`if`: {error}"))?,
        command,
        arguments: handler.args,
        timeout,
        waiting: if handler.beside || handler.rewake { Waiting::No } else { Waiting::Yes },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(value: Value) -> (Hooks, Vec<String>) {
        let events = serde_json::from_value(value).unwrap();
        let (hooks, problems) = Hooks::read([(Source::User, &events)]);
        (hooks, problems.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn one_that_is_wrong_does_not_stop_the_others() {
        let good = json!({"type": "command", "command": "true", "timeout": 1.5});
        let (hooks, problems) = read(json!({
            "Stop": [
                {"hooks": [good, {"type": "command"}, {"type": "prompt", "prompt": "x"}, {"type": "x"}]},
                {"matcher": "(", "hooks": [good]},
                {"hooks": [good]},
                {"no": "hooks"},
            ],
            "PreTolUse": [{"hooks": [good]}],
            "SubagentStop": [{"hooks": [good]}],
            "PreToolUse": [{"hooks": [{"command": "true", "if": "Bash("}, {"command": "a", "timeout": -1}]}],
            "SessionStart": 5,
        }));
        assert_eq!(hooks.of(HookEvent::Stop).len(), 2);
        assert_eq!(hooks.of(HookEvent::Stop)[0].timeout, Duration::from_millis(1_500));
        assert!(hooks.of(HookEvent::PreToolUse).is_empty());
        let expected = [
            "hooks.PreTolUse: there is no such event (did you mean `PreToolUse`?)",
            "hooks.PreToolUse[0].hooks[0]: `if`: `Bash(` is not a rule",
            "hooks.PreToolUse[0].hooks[1]: `timeout`: -1 is no number of seconds",
            "hooks.SessionStart: a list of matchers with hooks is expected",
            "hooks.Stop[0].hooks[1]: `command` is missing",
            "hooks.Stop[0].hooks[2]: this version runs no hooks of the kind `prompt` yet",
            "hooks.Stop[0].hooks[3]: there is no kind `x`",
            "hooks.Stop[1].matcher: regex parse error",
            "hooks.Stop[3]: missing field `hooks`",
            "hooks.SubagentStop: this version runs no hooks at this event yet",
        ];
        assert_eq!(problems.len(), expected.len(), "{problems:#?}");
        for (problem, expected) in problems.iter().zip(expected) {
            assert!(problem.starts_with(&format!("user settings, {expected}")), "{problem}");
        }
    }

    #[test]
    fn a_prompt_waits_less_long() {
        let good = json!([{"hooks": [{"command": "true"}]}]);
        let (hooks, _) = read(json!({"UserPromptSubmit": good, "Stop": good}));
        assert_eq!(hooks.of(HookEvent::UserPromptSubmit)[0].timeout, PROMPT_TIMEOUT);
        assert_eq!(hooks.of(HookEvent::Stop)[0].timeout, COMMAND_TIMEOUT);
    }
}
