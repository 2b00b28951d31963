//! Whose hooks they are: settings, a plugin, or an agent or skill for as long as it runs; and the texts they are
//! read from.

use std::fmt;
use std::path::PathBuf;

use dormouse_base::SettingsSource;
use dormouse_frontmatter as frontmatter;
use serde_json::Value;

/// Fields that are no text in JSON; in frontmatter everything is.
const NOT_TEXT: &[&str] = &["timeout", "async", "asyncRewake", "once"];

/// Whose a hook is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookOrigin {
    /// A file of settings, or `--settings`.
    Settings(SettingsSource),
    /// A plugin.
    Plugin(PluginHome),
    /// The frontmatter of an agent, by its name: for as long as the agent runs.
    Agent(String),
    /// The frontmatter of a skill, by its name: from when it is called on.
    Skill(String),
}

/// A plugin, as its hooks know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginHome {
    /// Its name.
    pub name: String,
    /// Where it is installed: `CLAUDE_PLUGIN_ROOT`.
    pub root: PathBuf,
    /// Where it may keep things: `CLAUDE_PLUGIN_DATA`.
    pub data: PathBuf,
}

impl HookOrigin {
    /// Its place in the order in which answers count: user, project, local, managed, plugin, session.
    pub(super) fn rank(&self) -> u8 {
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

/// Why hooks that could be read do not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Idle {
    /// The project is not trusted, or asks for something else than it was trusted with.
    NotTrusted,
    /// `disableAllHooks`.
    Disabled,
    /// `allowManagedHooksOnly`.
    ManagedOnly,
    /// `--bare`.
    Bare,
}

impl fmt::Display for Idle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotTrusted => "the project is not trusted with it",
            Self::Disabled => "`disableAllHooks` is set",
            Self::ManagedOnly => "`allowManagedHooksOnly` is set",
            Self::Bare => "`--bare` leaves hooks out",
        })
    }
}

/// What hooks are read from.
#[derive(Debug, Clone)]
pub(super) enum Content {
    /// A JSON file with a key `hooks`, in its own bytes: the line of each hook is known.
    Json(String),
    /// What stands at `hooks`, read by somebody else; and the line of that key, where it is known.
    Read(Value, Option<usize>),
}

/// The hooks of one file.
#[derive(Debug, Clone)]
pub struct HookLayer {
    pub(super) origin: HookOrigin,
    pub(super) file: PathBuf,
    pub(super) content: Content,
    pub(super) idle: Option<Idle>,
}

impl HookLayer {
    /// A JSON file: settings, or a plugin's `hooks/hooks.json`. Both have them under `hooks`.
    pub fn of_json(origin: HookOrigin, file: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        Self { origin, file: file.into(), content: Content::Json(text.into()), idle: None }
    }

    /// What stands at `hooks`, as JSON, and in which line that key is, where it is known.
    pub fn of_value(
        origin: HookOrigin,
        file: impl Into<PathBuf>,
        hooks: Value,
        line: Option<usize>,
    ) -> Self {
        Self { origin, file: file.into(), content: Content::Read(hooks, line), idle: None }
    }

    /// The same from the frontmatter of an agent or a skill.
    pub fn of_frontmatter(
        origin: HookOrigin,
        file: impl Into<PathBuf>,
        hooks: &frontmatter::Value,
        line: Option<usize>,
    ) -> Self {
        Self::of_value(origin, file, as_json("", hooks), line)
    }

    /// What it runs, for whoever is asked to trust it.
    pub(crate) fn shown(&self) -> Value {
        match &self.content {
            Content::Json(text) => text.clone().into(),
            Content::Read(value, _) => value.clone(),
        }
    }

    /// The same, which is shown but does not run.
    #[must_use]
    pub fn idle(mut self, why: Option<Idle>) -> Self {
        self.idle = why;
        self
    }
}

/// In frontmatter every word is a text: those of fields that are none are read as JSON.
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
