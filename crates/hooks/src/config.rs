//! Reads the configured hooks. An invalid one is reported with its position; the others run.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_base::SettingsSource;
use serde::Deserialize;
use serde_json::Value;

use crate::event::{HookEvent, UnknownHookEvent};
use crate::handler::HookHandler;
use crate::matcher::HookMatcher;
use crate::origin::{HookLayer, HookOrigin, InactiveReason, LayerContent};
use crate::position::JsonPosition;

/// An invalid hook, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookProblem {
    /// Where it is configured.
    pub origin: HookOrigin,
    /// The file.
    pub file: PathBuf,
    /// The line, from 1, if known.
    pub line: Option<usize>,
    /// The path in the JSON, such as `hooks.Stop[0].hooks[1]`.
    pub json_path: String,
    /// The problem.
    pub problem: String,
}

impl fmt::Display for HookProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.origin, self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ", {}: {}", self.json_path, self.problem)
    }
}

/// Identifies a hook by its position in the configuration: the same hook has the same id whenever it is read.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct HookId {
    origin: String,
    file: PathBuf,
    json_path: String,
}

/// One configured hook.
#[derive(Debug, Clone)]
pub(crate) struct Hook {
    pub(crate) id: HookId,
    pub(crate) source: Arc<HookFile>,
    pub(crate) line: Option<usize>,
    pub(crate) matcher: HookMatcher,
    pub(crate) handler: HookHandler,
}

/// The file that hooks are configured in.
#[derive(Debug)]
pub(crate) struct HookFile {
    pub(crate) origin: HookOrigin,
    pub(crate) file: PathBuf,
    /// Why its hooks do not run.
    pub(crate) inactive: Option<InactiveReason>,
}

/// All hooks by event, in the order in which their responses are merged.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    by_event: BTreeMap<HookEvent, Vec<Arc<Hook>>>,
    /// Settings files to watch while a session runs.
    pub(crate) settings: Vec<(SettingsSource, PathBuf)>,
    /// Why hooks of plugins, agents and skills do not run.
    extensions_inactive: Option<InactiveReason>,
}

#[derive(Deserialize)]
struct Group {
    matcher: Option<String>,
    hooks: Vec<Value>,
}

impl Hooks {
    /// Reads the hooks of several layers. Responses are merged in the order user, project, local, managed, plugins,
    /// session. Problems of inactive hooks are not reported.
    pub fn read(layers: impl IntoIterator<Item = HookLayer>) -> (Self, Vec<HookProblem>) {
        Self::default().with(layers)
    }

    /// Adds the hooks of more layers, such as those of an agent or a skill.
    pub fn with(&self, layers: impl IntoIterator<Item = HookLayer>) -> (Self, Vec<HookProblem>) {
        let mut hooks = self.clone();
        let mut problems = Vec::new();
        for layer in layers {
            hooks.add(layer, &mut problems);
        }
        for of_event in hooks.by_event.values_mut() {
            of_event.sort_by_key(|hook| hook.source.origin.rank());
        }
        (hooks, problems)
    }

    /// Sets the settings files to watch while a session runs.
    #[must_use]
    pub fn watching(mut self, settings: Vec<(SettingsSource, PathBuf)>) -> Self {
        self.settings = settings;
        self
    }

    /// Turns off hooks of plugins, agents and skills, for this reason.
    #[must_use]
    pub fn extensions_inactive(mut self, reason: Option<InactiveReason>) -> Self {
        self.extensions_inactive = reason;
        self
    }

    fn add(&mut self, layer: HookLayer, problems: &mut Vec<HookProblem>) {
        let HookLayer { origin, file, content, inactive } = layer;
        let of_extension = !matches!(origin, HookOrigin::Settings(_));
        let inactive = inactive.or(self.extensions_inactive.filter(|_| of_extension));
        let source = Arc::new(HookFile { origin, file, inactive });
        let mut reader = Reader { source, hooks: self, problems: Vec::new() };
        match content {
            LayerContent::Json(text) => reader.file(&text),
            LayerContent::Value(value, line) => {
                reader.events(&value, JsonPosition::in_line(line));
            }
        }
        let found = reader.problems;
        if inactive.is_none() {
            problems.extend(found);
        }
    }

    /// Whether no hook can run.
    pub fn is_empty(&self) -> bool {
        self.by_event.values().flatten().all(|hook| hook.source.inactive.is_some())
    }

    /// The active hooks of an event, in order.
    pub(crate) fn of(&self, event: HookEvent) -> impl Iterator<Item = &Arc<Hook>> {
        self.all_of(event).iter().filter(|hook| hook.source.inactive.is_none())
    }

    /// Names of files in the working directory that hooks watch.
    pub(crate) fn watched_names(&self) -> impl Iterator<Item = &str> {
        let names = self.of(HookEvent::FileChanged).flat_map(|hook| hook.matcher.names());
        names.map(String::as_str)
    }

    /// The hooks of an event, active or not.
    pub(crate) fn all_of(&self, event: HookEvent) -> &[Arc<Hook>] {
        self.by_event.get(&event).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Reads one file.
struct Reader<'a> {
    source: Arc<HookFile>,
    hooks: &'a mut Hooks,
    problems: Vec<HookProblem>,
}

impl Reader<'_> {
    fn report(
        &mut self,
        position: JsonPosition<'_>,
        json_path: &str,
        problem: &(impl ToString + ?Sized),
    ) {
        self.problems.push(HookProblem {
            origin: self.source.origin.clone(),
            file: self.source.file.clone(),
            line: position.line(),
            json_path: json_path.to_owned(),
            problem: problem.to_string(),
        });
    }

    /// `Stop` in an agent definition means `SubagentStop`.
    fn event(&self, name: &str) -> Result<HookEvent, UnknownHookEvent> {
        let event = HookEvent::named(name)?;
        let of_agent = matches!(self.source.origin, HookOrigin::Agent(_));
        Ok(if of_agent && event == HookEvent::Stop { HookEvent::SubagentStop } else { event })
    }

    fn file(&mut self, text: &str) {
        let text = text.trim_start_matches('\u{feff}');
        if text.trim().is_empty() {
            return;
        }
        let value: Value = match serde_json::from_str(text) {
            Ok(value) => value,
            Err(error) => {
                let position = JsonPosition::in_line(Some(error.line()));
                return self.report(position, "hooks", &format!("invalid JSON: {error}"));
            }
        };
        if let Some(hooks) = value.get("hooks") {
            self.events(hooks, JsonPosition::root(text).member("hooks"));
        }
    }

    fn events(&mut self, hooks: &Value, position: JsonPosition<'_>) {
        let Value::Object(events) = hooks else {
            return self.report(position, "hooks", "expected an object with a list for each event");
        };
        for (name, groups) in events {
            let position = position.member(name);
            let json_path = format!("hooks.{name}");
            match (self.event(name), groups) {
                (Err(error), _) => self.report(position, &json_path, &error),
                (Ok(event), Value::Array(groups)) => {
                    for (number, (group, position)) in
                        groups.iter().zip(position.elements()).enumerate()
                    {
                        self.group(event, group, position, &format!("{json_path}[{number}]"));
                    }
                }
                (Ok(_), _) => {
                    self.report(position, &json_path, "expected a list of matchers with hooks");
                }
            }
        }
    }

    fn group(
        &mut self,
        event: HookEvent,
        group: &Value,
        position: JsonPosition<'_>,
        json_path: &str,
    ) {
        if !group.is_object() {
            return self.report(position, json_path, "expected an object with `hooks`");
        }
        let group: Group = match serde_json::from_value(group.clone()) {
            Ok(group) => group,
            Err(error) => return self.report(position, json_path, &error),
        };
        let matcher = match HookMatcher::parse(event, group.matcher.as_deref()) {
            Ok(matcher) => matcher,
            Err(error) => {
                let position = position.member("matcher");
                return self.report(position, &format!("{json_path}.matcher"), &error);
            }
        };
        let positions = position.member("hooks").elements();
        for (number, (handler, position)) in group.hooks.into_iter().zip(positions).enumerate() {
            let json_path = format!("{json_path}.hooks[{number}]");
            let handler = match HookHandler::read(event, handler) {
                Ok(handler) => handler,
                Err(error) => {
                    self.report(position, &json_path, &error);
                    continue;
                }
            };
            let hook = Hook {
                id: HookId {
                    origin: self.source.origin.to_string(),
                    file: self.source.file.clone(),
                    json_path,
                },
                source: Arc::clone(&self.source),
                line: position.line(),
                matcher: matcher.clone(),
                handler,
            };
            self.hooks.by_event.entry(event).or_default().push(Arc::new(hook));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::handler::WaitMode;
    use crate::origin::PluginPaths;

    fn read(value: Value) -> (Hooks, Vec<String>) {
        let origin = HookOrigin::Settings(SettingsSource::User);
        let layer = HookLayer::of_value(origin, "f", value, None);
        let (hooks, problems) = Hooks::read([layer]);
        (hooks, problems.iter().map(ToString::to_string).collect())
    }

    fn commands(hooks: &Hooks, event: HookEvent) -> Vec<String> {
        hooks.of(event).map(|hook| hook.handler.summary()).collect()
    }

    #[test]
    fn hooks_have_file_and_line_and_follow_the_order_of_the_contract() {
        let text = |name: &str| {
            format!(
                "{{\n \"hooks\": {{\n  \"Stop\": [{{\n   \"hooks\": [{{\"command\": \"{name}\"}},\n {{}}]}}]}}}}"
            )
        };
        let plugin = PluginPaths { name: "p".into(), root: "/p".into(), data: "/d".into() };
        let layers = [
            HookOrigin::Skill("s".into()),
            HookOrigin::Settings(SettingsSource::CommandLine),
            HookOrigin::Plugin(plugin),
            HookOrigin::Settings(SettingsSource::Managed),
            HookOrigin::Settings(SettingsSource::Local),
            HookOrigin::Settings(SettingsSource::Project),
            HookOrigin::Settings(SettingsSource::User),
        ];
        let layers = layers.map(|origin| {
            let name = origin.to_string();
            HookLayer::of_json(origin, name.clone(), text(&name))
        });
        let (hooks, problems) = Hooks::read(layers);
        let order = commands(&hooks, HookEvent::Stop);
        assert_eq!(
            order,
            [
                "user settings",
                "project settings",
                "local settings",
                "managed settings",
                "plugin p",
                "command line settings",
                "skill s"
            ]
        );
        assert!(hooks.all_of(HookEvent::Stop).iter().all(|hook| hook.line == Some(4)));
        assert_eq!(
            problems[0].to_string(),
            "skill s, skill s, line 5, hooks.Stop[0].hooks[1]: `command` is missing"
        );
    }

    #[test]
    fn inactive_hooks_are_kept_but_do_not_run() {
        let bad = json!({"Stop": [{"hooks": [{"command": "x"}, {}]}]});
        let origin = HookOrigin::Settings(SettingsSource::Project);
        let layer =
            HookLayer::of_value(origin, "f", bad, None).inactive(Some(InactiveReason::NotTrusted));
        let (hooks, problems) = Hooks::read([layer]);
        assert!(hooks.is_empty() && problems.is_empty());
        assert!(commands(&hooks, HookEvent::Stop).is_empty());
        assert_eq!(hooks.all_of(HookEvent::Stop).len(), 1);
    }

    #[test]
    fn numbers_in_frontmatter_are_parsed() {
        let head = "---\nhooks:\n  Stop:\n    - hooks:\n        - command: x\n          timeout: 3\n          async: true\n---\n";
        let fields = dormouse_frontmatter::parse(head).fields;
        let written = fields.get("hooks").unwrap();
        let layer = HookLayer::of_frontmatter(HookOrigin::Agent("a".into()), "a.md", written, None);
        let (hooks, problems) = Hooks::read([layer]);
        assert!(problems.is_empty(), "{problems:?}");
        let handler = &hooks.all_of(HookEvent::SubagentStop)[0].handler;
        assert_eq!((handler.timeout.as_secs(), handler.wait_mode), (3, WaitMode::Background));
    }

    #[test]
    fn an_invalid_hook_does_not_affect_the_others() {
        let good = json!({"type": "command", "command": "true", "timeout": 1.5});
        let (hooks, problems) = read(json!({
            "Stop": [
                {"hooks": [good, {"type": "command"}, {"type": "prompt"}, {"type": "x"}]},
                {"matcher": "(", "hooks": [good]},
                {"hooks": [good]},
                {"no": "hooks"},
            ],
            "PreTolUse": [{"hooks": [good]}],
            "TeammateIdle": [{"hooks": [good]}],
            "PreToolUse": [{"hooks": [{"command": "true", "if": "Bash("}, {"command": "a", "timeout": -1}]}],
            "SessionStart": 5,
        }));
        assert_eq!(hooks.all_of(HookEvent::Stop).len(), 2);
        assert_eq!(hooks.all_of(HookEvent::Stop)[0].handler.timeout, Duration::from_millis(1_500));
        assert!(hooks.all_of(HookEvent::PreToolUse).is_empty());
        let expected = [
            "hooks.PreTolUse: unknown event (did you mean `PreToolUse`?)",
            "hooks.PreToolUse[0].hooks[0]: `if`: `Bash(` is not a rule",
            "hooks.PreToolUse[0].hooks[1]: `timeout`: -1 is not a valid number of seconds",
            "hooks.SessionStart: expected a list of matchers with hooks",
            "hooks.Stop[0].hooks[1]: `command` is missing",
            "hooks.Stop[0].hooks[2]: `prompt` is missing",
            "hooks.Stop[0].hooks[3]: unknown kind `x`",
            "hooks.Stop[1].matcher: regex parse error",
            "hooks.Stop[3]: missing field `hooks`",
            "hooks.TeammateIdle: this event never happens here: agent teams",
        ];
        assert_eq!(problems.len(), expected.len(), "{problems:#?}");
        for (problem, expected) in problems.iter().zip(expected) {
            assert!(problem.starts_with(&format!("user settings, f, {expected}")), "{problem}");
        }
    }

    #[test]
    fn a_hook_keeps_its_id_when_it_is_read_again() {
        let ids = || {
            let (hooks, _) =
                read(json!({"Stop": [{"hooks": [{"command": "a"}, {"command": "a"}]}]}));
            hooks.all_of(HookEvent::Stop).iter().map(|hook| hook.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids(), ids());
        assert_ne!(ids()[0], ids()[1]);
    }
}
