//! One plugin, and the errors of plugins.

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

/// The longest name.
const MAX_NAME: usize = 64;

/// The name of a plugin: letters, digits, `-` and `_`. Its skills, commands and agents are called `name:…`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PluginName(String);

impl PluginName {
    /// Checks a name.
    pub fn new(name: &str) -> Result<Self, PluginNameError> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
        if begins && name.len() <= MAX_NAME && name.chars().all(plain) {
            return Ok(Self(name.to_owned()));
        }
        Err(PluginNameError { name: dormouse_base::printable(name).into_owned() })
    }

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PluginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for PluginName {
    type Error = PluginNameError;
    fn try_from(name: String) -> Result<Self, PluginNameError> {
        Self::new(&name)
    }
}

impl From<PluginName> for String {
    fn from(name: PluginName) -> Self {
        name.0
    }
}

/// An invalid plugin name.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "`{name}` is not a valid plugin name: use letters, digits, `-` and `_`, at most {MAX_NAME}, a letter or digit first"
)]
pub struct PluginNameError {
    name: String,
}

/// The configuration of hooks or MCP servers in a plugin.
#[derive(Debug, Clone, PartialEq)]
pub enum PluginConfig {
    /// A JSON file.
    File {
        /// The file.
        path: PathBuf,
        /// Its text.
        text: String,
    },
    /// A value in the manifest.
    Inline {
        /// The manifest.
        path: PathBuf,
        /// The line, if known.
        line: Option<usize>,
        /// The value.
        value: Value,
    },
}

/// A markdown file that the user calls with `/plugin:name` or `/plugin:group:name`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginCommandFile {
    /// The folder in `commands/` that it is in.
    pub group: Option<String>,
    /// The file.
    pub file: PathBuf,
}

/// A plugin and its parts.
#[derive(Debug, Clone, PartialEq)]
pub struct Plugin {
    /// Its name.
    pub name: PluginName,
    /// Its version.
    pub version: Option<String>,
    /// Its description.
    pub description: Option<String>,
    /// Its installed copy: `CLAUDE_PLUGIN_ROOT`.
    pub root: PathBuf,
    /// Its data folder: `CLAUDE_PLUGIN_DATA`.
    pub data: PathBuf,
    /// Folders with a `SKILL.md`.
    pub skills: Vec<PathBuf>,
    /// Its commands.
    pub commands: Vec<PluginCommandFile>,
    /// Markdown files of agent definitions.
    pub agents: Vec<PathBuf>,
    /// Its hooks.
    pub hooks: Vec<PluginConfig>,
    /// Its MCP servers.
    pub servers: Vec<PluginConfig>,
    /// Parts without effect.
    pub ignored: Vec<String>,
    /// Invalid parts.
    pub problems: Vec<PluginProblem>,
}

impl Plugin {
    /// The variables in its hooks and servers.
    pub fn variables(&self) -> [(&'static str, String); 2] {
        [
            ("CLAUDE_PLUGIN_ROOT", self.root.display().to_string()),
            ("CLAUDE_PLUGIN_DATA", self.data.display().to_string()),
        ]
    }
}

/// An invalid part of a plugin, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginProblem {
    /// The file or folder.
    pub path: PathBuf,
    /// The line, if the problem is in one.
    pub line: Option<usize>,
    /// The problem.
    pub reason: String,
}

impl PluginProblem {
    pub(super) fn new(
        path: impl Into<PathBuf>,
        line: Option<usize>,
        reason: impl Into<String>,
    ) -> Self {
        Self { path: path.into(), line, reason: reason.into() }
    }
}

impl fmt::Display for PluginProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.reason)
    }
}

/// Why a plugin could not be installed or changed. Installed plugins stay as they were.
#[derive(Debug, Error)]
pub enum PluginError {
    /// It is not a valid plugin.
    #[error("invalid plugin: {0}")]
    Invalid(PluginProblem),
    /// No plugin has this name.
    #[error("no plugin `{name}`{}", installed_names(names))]
    Unknown {
        /// The name.
        name: String,
        /// The installed plugins.
        names: Vec<PluginName>,
    },
    /// The name is taken by a plugin from another source.
    #[error("a plugin called `{name}` is installed from {source}; remove it first: `dormouse plugin remove {name}`", source = .from)]
    NameTaken {
        /// The name.
        name: PluginName,
        /// The source of the other plugin.
        from: String,
    },
    /// It could not be fetched.
    #[error("cannot fetch {address}: {reason}")]
    Fetch {
        /// The folder or git address.
        address: String,
        /// The reason.
        reason: String,
    },
    /// It has changed since it was shown.
    #[error("the plugin `{0}` has changed since it was shown; review it again")]
    Changed(PluginName),
    /// The file system reported an error.
    #[error(transparent)]
    File(#[from] dormouse_base::FileError),
    /// Another process holds the lock.
    #[error("plugins are being changed by another process ({0}); try again")]
    Busy(#[source] dormouse_base::LockError),
}

fn installed_names(names: &[PluginName]) -> String {
    if names.is_empty() {
        return "; none is installed".to_owned();
    }
    let names: Vec<&str> = names.iter().map(PluginName::as_str).collect();
    format!("; installed: {}", names.join(", "))
}
