//! Agent definitions: name, description, prompt, tools and other options.
//!
//! Definitions are built in, or come from plugins, markdown files and settings. An invalid one is reported with file, line
//! and reason, and the others load. Of two with the same name the one of higher rank is used.

mod builtin;
mod fields;
mod folders;
mod plugin;
mod set;

use std::fmt;
use std::path::PathBuf;

use dormouse_conversation::Effort;
use dormouse_permissions::PermissionMode;
use serde_json::Value;

pub use builtin::builtin_agents;
pub use fields::{parse_markdown_agent, parse_settings_agent};
pub use folders::AgentFolders;
pub use plugin::plugin_agents;
pub use set::AgentDefinitions;

/// The maximum length of an agent name.
pub(crate) const MAX_NAME: usize = 64;

/// The source of a definition, in ascending rank.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentOrigin {
    /// Part of the program.
    BuiltIn,
    /// A plugin of this name.
    Plugin(String),
    /// The user's files and settings.
    User,
    /// The project's files and settings.
    Project,
    /// The command line.
    CommandLine,
    /// Managed settings of the organization.
    Managed,
}

impl fmt::Display for AgentOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::Plugin(name) => write!(f, "plugin {name}"),
            Self::User => f.write_str("user"),
            Self::Project => f.write_str("project"),
            Self::CommandLine => f.write_str("command line"),
            Self::Managed => f.write_str("managed"),
        }
    }
}

/// The scope of an agent's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryScope {
    /// The user, in every project.
    User,
    /// The project: committed and shared.
    Project,
    /// The user in this project: not committed.
    Local,
}

impl MemoryScope {
    /// Returns the value of the `memory` key.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// The selection of the parent's tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentTools {
    /// All tools.
    All,
    /// These names and patterns.
    Only(Vec<String>),
}

/// The model of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentModel {
    /// The parent's model.
    Inherit,
    /// The small model, if configured.
    Small,
    /// The provider's model of a family, such as `opus`.
    Family(String),
    /// A model by name.
    Named(String),
}

/// The working folder of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// The parent's folder.
    None,
    /// A separate git worktree.
    Worktree,
}

/// A definition of an agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentDefinition {
    /// Its name.
    pub name: String,
    /// Its purpose, by which the model chooses an agent.
    pub description: String,
    /// Its prompt.
    pub prompt: String,
    /// Its tools.
    pub tools: AgentTools,
    /// Tools removed from the selection.
    pub disallowed: Vec<String>,
    /// Its model, effort and turn limit.
    pub model: AgentModelOptions,
    /// Its memory; none by default.
    pub memory: Option<MemoryScope>,
    /// Its display color.
    pub color: Option<String>,
    /// Whether it always runs in the background.
    pub background: bool,
    /// Its working folder.
    pub isolation: Isolation,
    /// The permission mode; the parent's by default.
    pub mode: Option<PermissionMode>,
    /// Text before every task.
    pub initial_prompt: Option<String>,
    /// Its skills, MCP servers and hooks.
    pub extensions: AgentExtensions,
    /// Its origin.
    pub source: AgentSource,
}

/// The model of an agent and its limits.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentModelOptions {
    /// The model.
    pub choice: AgentModel,
    /// The reasoning effort, where the server supports it.
    pub effort: Option<Effort>,
    /// The maximum number of requests.
    pub max_turns: Option<u32>,
}

/// Skills, MCP servers and hooks of an agent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AgentExtensions {
    /// Skills whose text is part of its prompt.
    pub skills: Vec<String>,
    /// MCP servers as in `.mcp.json`, or null.
    pub mcp_servers: Value,
    /// Hooks as in the settings, or null.
    pub hooks: Value,
}

/// The origin of a definition.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentSource {
    /// The kind of source.
    pub origin: AgentOrigin,
    /// The file; `None` for built-in agents.
    pub file: Option<PathBuf>,
    /// The hash of the whole definition: trust holds for this text only.
    pub digest: String,
}

impl AgentDefinition {
    /// Returns the keys that have no effect before the project is trusted (L-29).
    pub(crate) fn keys_needing_trust(&self) -> Vec<&'static str> {
        let loosens = self
            .mode
            .is_some_and(|mode| mode != PermissionMode::Plan && mode != PermissionMode::Default);
        [
            ("hooks", !self.extensions.hooks.is_null()),
            ("mcpServers", !self.extensions.mcp_servers.is_null()),
            ("permissionMode", loosens),
            ("memory", self.memory.is_some()),
            ("skills", !self.extensions.skills.is_empty()),
            ("isolation", self.isolation != Isolation::None),
        ]
        .into_iter()
        .filter_map(|(key, is_set)| is_set.then_some(key))
        .collect()
    }

    /// Returns the definition without the keys that need trust.
    #[must_use]
    pub(crate) fn restricted(self) -> Self {
        let mode =
            self.mode.filter(|mode| matches!(mode, PermissionMode::Plan | PermissionMode::Default));
        Self {
            extensions: AgentExtensions::default(),
            mode,
            memory: None,
            isolation: Isolation::None,
            ..self
        }
    }
}

/// A problem in a definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentProblem {
    /// The file, or the settings key.
    pub place: String,
    /// The line, if known.
    pub line: Option<u64>,
    /// The description.
    pub problem: String,
    /// Whether the agent is available anyway.
    pub loaded: bool,
}

impl fmt::Display for AgentProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.place)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.problem)
    }
}
