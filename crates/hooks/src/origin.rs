//! Where hooks are configured (settings, a plugin, an agent or a skill), and the texts they are read from.

use std::fmt;
use std::path::PathBuf;

use dormouse_base::SettingsSource;
use dormouse_frontmatter as frontmatter;
use serde_json::Value;

/// Fields that are numbers or flags; in frontmatter every value is text.
const NOT_TEXT: &[&str] = &["timeout", "async", "asyncRewake", "once"];

/// Where a hook is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookOrigin {
    /// A settings file, or `--settings`.
    Settings(SettingsSource),
    /// A plugin.
    Plugin(PluginPaths),
    /// The frontmatter of an agent definition, by its name: active while the agent runs.
    Agent(String),
    /// The frontmatter of a skill, by its name: active from its call until the next prompt.
    Skill(String),
}

/// The folders of a plugin, for its hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginPaths {
    /// The plugin's name.
    pub name: String,
    /// The installed copy: `CLAUDE_PLUGIN_ROOT`.
    pub root: PathBuf,
    /// Its data folder: `CLAUDE_PLUGIN_DATA`.
    pub data: PathBuf,
}

impl HookOrigin {
    /// The order in which responses are merged: user, project, local, managed, plugin, session.
    pub(crate) fn rank(&self) -> u8 {
        match self {
            Self::Settings(SettingsSource::User) => 0,
            Self::Settings(SettingsSource::Project) => 1,
            Self::Settings(SettingsSource::Local) => 2,
            Self::Settings(SettingsSource::Managed) => 3,
            Self::Plugin(_) => 4,
            Self::Settings(SettingsSource::CommandLine) => 5,
            Self::Agent(_) | Self::Skill(_) => 6,
        }
    }
}

impl fmt::Display for HookOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings(source) => write!(f, "{source} settings"),
            Self::Plugin(plugin) => write!(f, "plugin {}", plugin.name),
            Self::Agent(name) => write!(f, "agent {name}"),
            Self::Skill(name) => write!(f, "skill {name}"),
        }
    }
}

/// Why configured hooks do not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InactiveReason {
    /// The project is not trusted, or has changed since.
    NotTrusted,
    /// `disableAllHooks`.
    Disabled,
    /// `allowManagedHooksOnly`.
    ManagedOnly,
    /// `--bare`.
    Bare,
}

impl fmt::Display for InactiveReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotTrusted => "the project is not trusted",
            Self::Disabled => "`disableAllHooks` is set",
            Self::ManagedOnly => "`allowManagedHooksOnly` is set",
            Self::Bare => "`--bare` disables hooks",
        })
    }
}

/// The text or value that hooks are read from.
#[derive(Debug, Clone)]
pub(crate) enum LayerContent {
    /// A JSON file with a key `hooks`; every hook has a line number.
    Json(String),
    /// The value of `hooks`, parsed elsewhere, and the line of that key if known.
    Value(Value, Option<usize>),
}

/// The hooks of one file.
#[derive(Debug, Clone)]
pub struct HookLayer {
    pub(crate) origin: HookOrigin,
    pub(crate) file: PathBuf,
    pub(crate) content: LayerContent,
    pub(crate) inactive: Option<InactiveReason>,
}

impl HookLayer {
    /// From a JSON file with a key `hooks`: settings, or a plugin's `hooks/hooks.json`.
    pub fn of_json(origin: HookOrigin, file: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self { origin, file: file.into(), content: LayerContent::Json(text.into()), inactive: None }
    }

    /// From the value of `hooks`, with the line of that key if known.
    pub fn of_value(
        origin: HookOrigin,
        file: impl Into<PathBuf>,
        hooks: Value,
        line: Option<usize>,
    ) -> Self {
        Self {
            origin,
            file: file.into(),
            content: LayerContent::Value(hooks, line),
            inactive: None,
        }
    }

    /// From the frontmatter of an agent or a skill.
    pub fn of_frontmatter(
        origin: HookOrigin,
        file: impl Into<PathBuf>,
        hooks: &frontmatter::Value,
        line: Option<usize>,
    ) -> Self {
        Self::of_value(origin, file, as_json("", hooks), line)
    }

    /// The configuration as JSON, for the trust prompt.
    pub fn to_json(&self) -> Value {
        match &self.content {
            LayerContent::Json(text) => text.clone().into(),
            LayerContent::Value(value, _) => value.clone(),
        }
    }

    /// Marks the hooks as listed but not run.
    #[must_use]
    pub fn inactive(mut self, reason: Option<InactiveReason>) -> Self {
        self.inactive = reason;
        self
    }
}

/// Converts frontmatter to JSON; the text of number and flag fields is parsed.
fn as_json(key: &str, value: &frontmatter::Value) -> Value {
    match value {
        frontmatter::Value::Text(text) if NOT_TEXT.contains(&key) => {
            serde_json::from_str(text).unwrap_or_else(|_| text.clone().into())
        }
        frontmatter::Value::Text(text) => text.clone().into(),
        frontmatter::Value::List(list) => list.iter().map(|item| as_json(key, item)).collect(),
        frontmatter::Value::Map(fields) => {
            fields.iter().map(|(key, value)| (key.to_owned(), as_json(key, value))).collect()
        }
    }
}
