//! What an agent is: its name, what it is for, its prompt, and what it may do.
//!
//! Definitions come with the program, from plugins, from markdown files and from settings. One that cannot be used is
//! told with file, line and reason; the others load. Of two with one name the one that ranks higher counts.

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

/// The longest name of an agent.
pub(crate) const LONGEST_NAME: usize = 64;

/// Where a definition comes from, the lowest rank first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum AgentOrigin {
    /// It comes with the program.
    BuiltIn,
    /// From a plugin of this name.
    Plugin(String),
    /// The person's own.
    User,
    /// The project's.
    Project,
    /// From the command line.
    CommandLine,
    /// The organization's.
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

/// Whose an agent's memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MemoryScope {
    /// The person's, in every project.
    User,
    /// The project's: committed, shared with everybody on it.
    Project,
    /// The person's in this project: not committed.
    Local,
}

impl MemoryScope {
    /// As definitions write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

/// Which tools an agent has of those of the conversation above it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentTools {
    /// All of them.
    All,
    /// These.
    Only(Vec<String>),
}

/// Which model answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentModel {
    /// That of the conversation above.
    Inherit,
    /// The one for small questions, where there is one.
    Small,
    /// This one.
    Named(String),
}

/// Where an agent works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Isolation {
    /// Where the conversation above it does.
    None,
    /// In a git worktree of its own.
    Worktree,
}

/// An agent that can be started.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentDefinition {
    /// What it is called by.
    pub name: String,
    /// What it is for: the model chooses by this.
    pub description: String,
    /// Its prompt.
    pub prompt: String,
    /// Its tools.
    pub tools: AgentTools,
    /// Tools that it does not have all the same.
    pub disallowed: Vec<String>,
    /// Its model, effort and turn limit.
    pub model: AgentModelOptions,
    /// Its memory; none by default.
    pub memory: Option<MemoryScope>,
    /// How it is shown.
    pub color: Option<String>,
    /// Whether it always runs in the background.
    pub background: bool,
    /// Where it works.
    pub isolation: Isolation,
    /// The permission mode; that of the conversation above unless said.
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
    /// What of it a project may not have before it is trusted (L-29).
    pub(crate) fn withheld(&self) -> Vec<&'static str> {
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
        .filter_map(|(key, wanted)| wanted.then_some(key))
        .collect()
    }

    /// The same without what a project that nobody has trusted may not have.
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

/// A permission mode, as definitions write it.
pub(crate) fn mode_word(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "default",
        PermissionMode::AcceptEdits => "acceptEdits",
        PermissionMode::Plan => "plan",
        PermissionMode::Bypass => "bypassPermissions",
    }
}

/// Something in a definition that cannot be used, or has no effect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentProblem {
    /// The file, or where in the settings.
    pub place: String,
    /// The line, where it is about one.
    pub line: Option<u64>,
    /// What is wrong.
    pub problem: String,
    /// Whether the agent is there all the same.
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
