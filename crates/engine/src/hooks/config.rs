//! Hooks as the settings have them. One that can not be used is told, with its place; the others run.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_base::SettingsSource;
use serde::Deserialize;
use serde_json::Value;

use super::HookEvent;
use super::handler::Handler;
use super::matcher::Matcher;
use super::origin::{Content, HookLayer, HookOrigin, Idle};
use super::spot::Spot;

/// A hook that will not run, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookProblem {
    /// Whose it is.
    pub origin: HookOrigin,
    /// The file it stands in.
    pub file: PathBuf,
    /// The line, from 1, where it is known.
    pub line: Option<usize>,
    /// Where among the hooks.
    pub place: String,
    /// What is wrong.
    pub problem: String,
}

impl fmt::Display for HookProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.origin, self.file.display())?;
        if let Some(line) = self.line {
            write!(f, ", line {line}")?;
        }
        write!(f, ", {}: {}", self.place, self.problem)
    }
}

/// Something to run, and when.
#[derive(Debug, Clone)]
pub(super) struct Hook {
    pub(super) home: Arc<HookHome>,
    /// The line it stands in.
    pub(super) line: Option<usize>,
    pub(super) matcher: Matcher,
    pub(super) handler: Handler,
}

/// What the hooks of one file have in common.
#[derive(Debug)]
pub(super) struct HookHome {
    pub(super) origin: HookOrigin,
    pub(super) file: PathBuf,
    /// Why they do not run.
    pub(super) idle: Option<Idle>,
}

/// All hooks, by event, in the order in which their answers count.
#[derive(Debug, Clone, Default)]
pub struct Hooks {
    by_event: BTreeMap<HookEvent, Vec<Arc<Hook>>>,
    /// Files of settings to look at while a session runs.
    pub(super) settings: Vec<(SettingsSource, PathBuf)>,
    /// Why hooks of plugins, agents and skills do not run.
    others_idle: Option<Idle>,
}

#[derive(Deserialize)]
struct Group {
    matcher: Option<String>,
    hooks: Vec<Value>,
}

impl Hooks {
    /// Reads the hooks of several layers. Their order is that of the answers: user, project, local,
    /// managed, plugins, then those of this session. What is wrong with hooks that do not run anyway is not said.
    pub fn read(layers: impl IntoIterator<Item = HookLayer>) -> (Self, Vec<HookProblem>) {
        Self::default().with(layers)
    }

    /// These and others: those of an agent or a skill, as long as it runs.
    pub fn with(&self, layers: impl IntoIterator<Item = HookLayer>) -> (Self, Vec<HookProblem>) {
        let (mut hooks, mut problems) = (self.clone(), Vec::new());
        for layer in layers {
            hooks.add(layer, &mut problems);
        }
        for of_event in hooks.by_event.values_mut() {
            of_event.sort_by_key(|hook| hook.home.origin.rank());
        }
        (hooks, problems)
    }

    /// The same, where these files of settings are looked at while a session runs.
    #[must_use]
    pub fn watching(mut self, settings: Vec<(SettingsSource, PathBuf)>) -> Self {
        self.settings = settings;
        self
    }

    /// The same, where hooks that come from no settings do not run, for this reason.
    #[must_use]
    pub fn others_idle(mut self, why: Option<Idle>) -> Self {
        self.others_idle = why;
        self
    }

    fn add(&mut self, layer: HookLayer, problems: &mut Vec<HookProblem>) {
        let HookLayer { origin, file, content, idle } = layer;
        let of_others = !matches!(origin, HookOrigin::Settings(_));
        let idle = idle.or(self.others_idle.filter(|_| of_others));
        let home = Arc::new(HookHome { origin, file, idle });
        let mut reader = Reader { home, hooks: self, problems: Vec::new() };
        match content {
            Content::Json(text) => reader.file(&text),
            Content::Read(value, line) => reader.events(&value, Spot::in_line(line)),
        }
        let found = reader.problems;
        problems.extend(if idle.is_none() { found } else { Vec::new() });
    }

    /// Whether none would ever run.
    pub fn is_empty(&self) -> bool {
        self.by_event.values().flatten().all(|hook| hook.home.idle.is_some())
    }

    /// Those of an event that run, in their order.
    pub(super) fn of(&self, event: HookEvent) -> impl Iterator<Item = &Arc<Hook>> {
        self.all_of(event).iter().filter(|hook| hook.home.idle.is_none())
    }

    /// The files in the working directory that hooks want to hear about by their names.
    pub(super) fn watched_names(&self) -> impl Iterator<Item = &str> {
        let names = self.of(HookEvent::FileChanged).flat_map(|hook| hook.matcher.names());
        names.map(String::as_str)
    }

    /// Those of an event, whether they run or not.
    pub(super) fn all_of(&self, event: HookEvent) -> &[Arc<Hook>] {
        self.by_event.get(&event).map(Vec::as_slice).unwrap_or_default()
    }
}

/// Reads one file.
struct Reader<'a> {
    home: Arc<HookHome>,
    hooks: &'a mut Hooks,
    problems: Vec<HookProblem>,
}

impl Reader<'_> {
    fn report(&mut self, spot: Spot<'_>, place: &str, problem: impl Into<String>) {
        self.problems.push(HookProblem {
            origin: self.home.origin.clone(),
            file: self.home.file.clone(),
            line: spot.line(),
            place: place.to_owned(),
            problem: problem.into(),
        });
    }

    /// An agent that is done is a sub-agent that is done.
    fn event(&self, name: &str) -> Result<HookEvent, String> {
        let event = HookEvent::named(name)?;
        let of_agent = matches!(self.home.origin, HookOrigin::Agent(_));
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
                let spot = Spot::in_line(Some(error.line()));
                return self.report(spot, "hooks", format!("the file is not JSON: {error}"));
            }
        };
        if let Some(hooks) = value.get("hooks") {
            self.events(hooks, Spot::root(text).member("hooks"));
        }
    }

    fn events(&mut self, hooks: &Value, spot: Spot<'_>) {
        let Value::Object(events) = hooks else {
            return self.report(spot, "hooks", "an object with a list for each event is expected");
        };
        for (name, groups) in events {
            let (spot, place) = (spot.member(name), format!("hooks.{name}"));
            match (self.event(name), groups) {
                (Err(problem), _) => self.report(spot, &place, problem),
                (Ok(event), Value::Array(groups)) => {
                    for (number, (group, spot)) in groups.iter().zip(spot.elements()).enumerate() {
                        self.group(event, group, spot, &format!("{place}[{number}]"));
                    }
                }
                (Ok(_), _) => {
                    self.report(spot, &place, "a list of matchers with hooks is expected");
                }
            }
        }
    }

    fn group(&mut self, event: HookEvent, group: &Value, spot: Spot<'_>, place: &str) {
        if !group.is_object() {
            return self.report(spot, place, "an object with `hooks` is expected");
        }
        let group: Group = match serde_json::from_value(group.clone()) {
            Ok(group) => group,
            Err(error) => return self.report(spot, place, error.to_string()),
        };
        let matcher = match Matcher::parse(event, group.matcher.as_deref()) {
            Ok(matcher) => matcher,
            Err(problem) => {
                return self.report(spot.member("matcher"), &format!("{place}.matcher"), problem);
            }
        };
        let spots = spot.member("hooks").elements();
        for (number, (handler, spot)) in group.hooks.into_iter().zip(spots).enumerate() {
            match Handler::read(event, handler) {
                Ok(handler) => {
                    let (home, matcher) = (Arc::clone(&self.home), matcher.clone());
                    let hook = Hook { home, line: spot.line(), matcher, handler };
                    self.hooks.by_event.entry(event).or_default().push(Arc::new(hook));
                }
                Err(problem) => self.report(spot, &format!("{place}.hooks[{number}]"), problem),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::json;

    use super::super::handler::Waiting;
    use super::super::origin::PluginHome;
    use super::*;

    fn read(value: Value) -> (Hooks, Vec<String>) {
        let origin = HookOrigin::Settings(SettingsSource::User);
        let layer = HookLayer::of_value(origin, "f", value, None);
        let (hooks, problems) = Hooks::read([layer]);
        (hooks, problems.iter().map(ToString::to_string).collect())
    }

    fn commands(hooks: &Hooks, event: HookEvent) -> Vec<String> {
        hooks.of(event).map(|hook| hook.handler.shown()).collect()
    }

    #[test]
    fn each_knows_its_file_and_line_and_their_order_is_that_of_the_contract() {
        let text = |name: &str| {
            format!(
                "{{\n \"hooks\": {{\n  \"Stop\": [{{\n   \"hooks\": [{{\"command\": \"{name}\"}},\n {{}}]}}]}}}}"
            )
        };
        let plugin = PluginHome { name: "p".into(), root: "/p".into(), data: "/d".into() };
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
    fn what_is_idle_is_kept_but_does_not_run() {
        let bad = json!({"Stop": [{"hooks": [{"command": "x"}, {}]}]});
        let origin = HookOrigin::Settings(SettingsSource::Project);
        let layer = HookLayer::of_value(origin, "f", bad, None).idle(Some(Idle::NotTrusted));
        let (hooks, problems) = Hooks::read([layer]);
        assert!(hooks.is_empty() && problems.is_empty());
        assert!(commands(&hooks, HookEvent::Stop).is_empty());
        assert_eq!(hooks.all_of(HookEvent::Stop).len(), 1);
    }

    #[test]
    fn frontmatter_has_no_numbers_and_they_are_read_all_the_same() {
        let head = "---\nhooks:\n  Stop:\n    - hooks:\n        - command: x\n          timeout: 3\n          async: true\n---\n";
        let fields = dormouse_frontmatter::parse(head).fields;
        let written = fields.get("hooks").unwrap();
        let layer = HookLayer::of_frontmatter(HookOrigin::Agent("a".into()), "a.md", written, None);
        let (hooks, problems) = Hooks::read([layer]);
        assert!(problems.is_empty(), "{problems:?}");
        let handler = &hooks.all_of(HookEvent::SubagentStop)[0].handler;
        assert_eq!((handler.timeout.as_secs(), handler.waiting), (3, Waiting::No));
    }

    #[test]
    fn one_that_is_wrong_does_not_stop_the_others() {
        let good = json!({"type": "command", "command": "true", "timeout": 1.5});
        let (hooks, problems) = read(json!({
            "Stop": [
                {"hooks": [good, {"type": "command"}, {"type": "prompt"}, {"type": "x"}]},
                {"matcher": "(", "hooks": [good]},
                {"hooks": [good]},
                {"no": "hooks"},
            ],
            "PreTolUse": [{"hooks": [good]}],
            "TeamSynced": [{"hooks": [good]}],
            "PreToolUse": [{"hooks": [{"command": "true", "if": "Bash("}, {"command": "a", "timeout": -1}]}],
            "SessionStart": 5,
        }));
        assert_eq!(hooks.all_of(HookEvent::Stop).len(), 2);
        assert_eq!(hooks.all_of(HookEvent::Stop)[0].handler.timeout, Duration::from_millis(1_500));
        assert!(hooks.all_of(HookEvent::PreToolUse).is_empty());
        let expected = [
            "hooks.PreTolUse: there is no such event (did you mean `PreToolUse`?)",
            "hooks.PreToolUse[0].hooks[0]: `if`: `Bash(` is not a rule",
            "hooks.PreToolUse[0].hooks[1]: `timeout`: -1 is no number of seconds",
            "hooks.SessionStart: a list of matchers with hooks is expected",
            "hooks.Stop[0].hooks[1]: `command` is missing",
            "hooks.Stop[0].hooks[2]: `prompt` is missing",
            "hooks.Stop[0].hooks[3]: there is no kind `x`",
            "hooks.Stop[1].matcher: regex parse error",
            "hooks.Stop[3]: missing field `hooks`",
            "hooks.TeamSynced: the event is known but never happens here: memory of a team",
        ];
        assert_eq!(problems.len(), expected.len(), "{problems:#?}");
        for (problem, expected) in problems.iter().zip(expected) {
            assert!(problem.starts_with(&format!("user settings, f, {expected}")), "{problem}");
        }
    }
}
