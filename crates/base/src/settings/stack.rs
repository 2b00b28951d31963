//! The layers of settings, and what they come to together.
//!
//! Of a single value the highest layer's counts; lists of all layers are joined, the highest first.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;
use serde_json::Value;

use super::dotted_key::SettingKey;
use super::keys::Settings;
use super::memory_settings::{MemorySettings, WriteRule};
use super::parse::{SettingsError, SettingsWarning, parse};
use super::partition::{WithheldSettings, partition};
use crate::json_text::line_of;

/// Where settings come from, lowest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SettingsSource {
    /// The user's own.
    User,
    /// The project's, shared with everybody who works on it.
    Project,
    /// The project's, on this machine only.
    Local,
    /// `--settings`.
    CommandLine,
    /// The organization's.
    Managed,
}

impl SettingsSource {
    /// All of them, lowest first.
    pub const ALL: [Self; 5] =
        [Self::User, Self::Project, Self::Local, Self::CommandLine, Self::Managed];

    /// Whether a file in the project's folder says it: whoever wrote that may be a stranger.
    pub fn is_project(self) -> bool {
        matches!(self, Self::Project | Self::Local)
    }
}

impl fmt::Display for SettingsSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
            Self::CommandLine => "command line",
            Self::Managed => "managed",
        })
    }
}

/// One layer: a file, or the command line.
#[derive(Debug, Clone)]
pub struct SettingsLayer {
    /// Where it comes from.
    pub source: SettingsSource,
    /// The file; for the command line, its option.
    pub path: PathBuf,
    /// As it was written: whoever has to say in which line something stands looks here.
    pub text: String,
    /// What it holds that counts.
    pub value: Value,
    /// Keys nobody knows.
    pub warnings: Vec<SettingsWarning>,
    /// What of it does not count, or not yet.
    pub withheld: WithheldSettings,
}

impl SettingsLayer {
    /// Reads a layer. Of a project's own, what needs trust is withheld until [`SettingsLayer::trust`].
    pub fn parse(
        source: SettingsSource,
        path: impl Into<PathBuf>,
        text: &[u8],
    ) -> Result<Self, SettingsError> {
        let path = path.into();
        let parsed = parse(path.clone(), text)?;
        let (value, withheld) = if source.is_project() {
            partition(&parsed.value)
        } else {
            (parsed.value, WithheldSettings::default())
        };
        let text = String::from_utf8_lossy(text).into_owned();
        Ok(Self { source, path, text, value, warnings: parsed.warnings, withheld })
    }

    /// The line in which what stands at a path of keys begins.
    pub fn line_of(&self, path: &[&str]) -> Option<usize> {
        line_of(&self.text, path)
    }

    /// What waited for trust counts from now on.
    pub fn trust(&mut self) {
        let waiting = std::mem::take(&mut self.withheld.needs_trust);
        merge(&mut self.value, &waiting);
    }
}

/// Something of a project that waits for trust.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TrustRequest {
    /// The settings file, or the name of the extension kind (such as `skills`).
    #[serde(rename = "place")]
    pub origin: String,
    /// The settings that take effect once the project is trusted: an object.
    #[serde(rename = "wishes")]
    pub request: Value,
}

/// All layers.
#[derive(Debug, Clone, Default)]
pub struct SettingsStack {
    layers: Vec<SettingsLayer>,
    /// What of the project waits for trust beside its settings.
    other_requests: serde_json::Map<String, Value>,
}

impl SettingsStack {
    /// Puts layers over one another.
    pub fn new(mut layers: Vec<SettingsLayer>) -> Self {
        layers.sort_by_key(|layer| layer.source);
        Self { layers, other_requests: serde_json::Map::new() }
    }

    /// The same, where something of the project waits for trust beside its settings: its skills. An empty
    /// object waits for nothing.
    #[must_use]
    pub fn with_trust_request(mut self, what: &str, wishes: Value) -> Self {
        if wishes.as_object().is_some_and(|wishes| !wishes.is_empty()) {
            self.other_requests.insert(what.to_owned(), wishes);
        }
        self
    }

    /// The layers, lowest first.
    pub fn layers(&self) -> &[SettingsLayer] {
        &self.layers
    }

    /// Trusts the project: all it has set counts, but for what no project may set.
    pub fn trust_project(&mut self) {
        self.layers
            .iter_mut()
            .filter(|layer| layer.source.is_project())
            .for_each(SettingsLayer::trust);
    }

    /// What of the project waits for trust: a part for each of its files and for each thing beside them. They are never
    /// put over one another: what one says must not hide what another would run.
    pub fn trust_requests(&self) -> Vec<TrustRequest> {
        let of_files =
            self.layers.iter().filter(|layer| !layer.withheld.needs_trust.is_null()).map(|layer| {
                TrustRequest {
                    origin: layer.path.display().to_string(),
                    request: layer.withheld.needs_trust.clone(),
                }
            });
        let besides = self.other_requests.iter().map(|(what, wishes)| TrustRequest {
            origin: what.clone(),
            request: Value::Object([(what.clone(), wishes.clone())].into_iter().collect()),
        });
        of_files.chain(besides).collect()
    }

    /// What the layers say together.
    pub fn value(&self) -> Value {
        let mut all = Value::Object(serde_json::Map::new());
        for layer in &self.layers {
            merge(&mut all, &layer.value);
        }
        all
    }

    /// The settings in force.
    pub fn settings(&self) -> Settings {
        let mut settings = read(self.value());
        settings.memory.policy = self.write_rules(|source| !source.is_project());
        settings.memory.in_repository = self.lists_of_person(|memory| memory.in_repository);
        settings.memory.trusted_clients = self.lists_of_person(|memory| memory.trusted_clients);
        settings.memory.restrictions = self.write_rules(SettingsSource::is_project);
        settings
    }

    /// A list about memory that a project has no say in.
    fn lists_of_person(&self, list: impl Fn(MemorySettings) -> Vec<String>) -> Vec<String> {
        let layers = self.layers.iter().filter(|layer| !layer.source.is_project());
        layers.flat_map(|layer| list(read(layer.value.clone()).memory)).collect()
    }

    /// The rules for writing memory of some layers, the highest first.
    fn write_rules(&self, of: impl Fn(SettingsSource) -> bool) -> Vec<WriteRule> {
        let layers = self.layers.iter().rev().filter(|layer| of(layer.source));
        layers.flat_map(|layer| read(layer.value.clone()).memory.policy).collect()
    }

    /// The layers that say something about a key such as `permissions.allow`, the one that counts first.
    pub fn origins(&self, key: &SettingKey) -> Vec<&SettingsLayer> {
        let has = |layer: &&SettingsLayer| key.find(&layer.value).is_some();
        self.layers.iter().rev().filter(has).collect()
    }

    /// The value of a key in one layer.
    pub fn value_from(&self, source: SettingsSource, key: &SettingKey) -> Option<&Value> {
        let layer = self.layers.iter().find(|layer| layer.source == source)?;
        key.find(&layer.value)
    }
}

/// Each layer was read as settings already, and joining changes no kind: there is nothing to fail.
fn read(value: Value) -> Settings {
    serde_json::from_value(value).unwrap_or_default()
}

/// Puts one value over another.
pub(super) fn merge(below: &mut Value, above: &Value) {
    match (below, above) {
        (_, Value::Null) => {}
        (Value::Object(below), Value::Object(above)) => {
            for (key, value) in above {
                merge(below.entry(key).or_insert(Value::Null), value);
            }
        }
        (Value::Array(below), Value::Array(above)) => {
            let lower = std::mem::take(below);
            below.extend(above.iter().cloned());
            below.extend(lower.into_iter().filter(|value| !above.contains(value)));
        }
        (below, above) => *below = above.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::memory_settings::WriteDecision;
    use super::*;

    fn layer(source: SettingsSource, text: &str) -> SettingsLayer {
        SettingsLayer::parse(source, source.to_string(), text.as_bytes()).unwrap()
    }

    #[test]
    fn the_highest_wins_and_lists_join() {
        let stack = SettingsStack::new(vec![
            layer(SettingsSource::Managed, r#"{"layers":{"dream":false}}"#),
            layer(
                SettingsSource::User,
                r#"{"model":"a","smallModel":"s","permissions":{"deny":["Read"]}}"#,
            ),
            layer(
                SettingsSource::CommandLine,
                r#"{"model":"b","layers":{"dream":true},"smallModel":null}"#,
            ),
            layer(SettingsSource::Project, r#"{"permissions":{"deny":["Write","Read"]}}"#),
        ]);
        let settings = stack.settings();
        assert_eq!(settings.model.as_deref(), Some("b"));
        assert_eq!(settings.small_model.as_deref(), Some("s"));
        assert_eq!(settings.layers.get("dream"), Some(&false));
        assert_eq!(settings.permissions.deny, ["Write", "Read"]);
        let origins = |key| {
            let origins = stack.origins(&SettingKey::parse(key));
            origins.iter().map(|layer| layer.source).collect::<Vec<_>>()
        };
        assert_eq!(origins("model"), [SettingsSource::CommandLine, SettingsSource::User]);
        assert_eq!(origins("permissions.deny"), [SettingsSource::Project, SettingsSource::User]);
        assert!(origins("permissions.allow").is_empty());
    }

    #[test]
    fn a_projects_rules_for_memory_are_apart_and_wait_for_trust() {
        let mut stack = SettingsStack::new(vec![
            layer(SettingsSource::User, r#"{"memory":{"policy":[{"rule":"auto"}]}}"#),
            layer(
                SettingsSource::Local,
                r#"{"memory":{"policy":[{"writer":"dream","rule":"inbox"}]}}"#,
            ),
            layer(
                SettingsSource::Managed,
                r#"{"memory":{"policy":[{"type":"user","rule":"ask"}]}}"#,
            ),
        ]);
        let decisions = |rules: &[WriteRule]| rules.iter().map(|r| r.decision).collect::<Vec<_>>();
        let memory = stack.settings().memory;
        assert_eq!(decisions(&memory.policy), [WriteDecision::Ask, WriteDecision::Auto]);
        assert!(memory.restrictions.is_empty());
        stack.trust_project();
        let memory = stack.settings().memory;
        assert_eq!(decisions(&memory.policy), [WriteDecision::Ask, WriteDecision::Auto]);
        assert_eq!(decisions(&memory.restrictions), [WriteDecision::Inbox]);
    }

    #[test]
    fn a_rule_with_a_key_nobody_knows_is_refused() {
        let text = br#"{"memory":{"policy":[{"writers":"dream","rule":"auto"}]}}"#;
        let error = SettingsLayer::parse(SettingsSource::User, "s", text).unwrap_err().to_string();
        assert!(error.contains("unknown field `writers`"), "{error}");
    }
}
