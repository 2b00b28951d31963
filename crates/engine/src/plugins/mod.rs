//! Plugins (L-34): folders of skills, agents, hooks and MCP servers that a person has installed.
//!
//! `tree` is all that is in one, with a digest; `manifest` and `parts` say what it brings; `fetch` gets one from git;
//! `store` keeps copies and, of each, where it came from, whether it is used, and as what it was trusted.
//!
//! Invariants: nothing of a plugin is used before the person has trusted it, and only as it was then: the digest is of
//! every byte in it. A copy is installed whole or not at all. No path in it leads out of it. A part that can not be used
//! is reported with file and line; the others load.

mod fetch;
mod manifest;
mod parts;
mod store;
mod tree;

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

pub use fetch::{PluginSource, fetch};
pub use store::{Installed, PluginStore, PluginTrust};
pub use tree::Tree;

/// The longest name.
const LONGEST_NAME: usize = 64;

/// What a plugin is called: letters, digits, `-` and `_`. What it brings is called `name:skill`, `name:agent`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PluginName(String);

impl PluginName {
    /// Checks a name; else says what is wrong with it.
    pub fn new(name: &str) -> Result<Self, String> {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric());
        if begins && name.len() <= LONGEST_NAME && name.chars().all(plain) {
            return Ok(Self(name.to_owned()));
        }
        let name = dormouse_base::printable(name);
        Err(format!(
            "`{name}` is no name for a plugin: letters, digits, `-` and `_`, at most {LONGEST_NAME}, a letter or digit first"
        ))
    }

    /// The name.
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
    type Error = String;
    fn try_from(name: String) -> Result<Self, String> {
        Self::new(&name)
    }
}

impl From<PluginName> for String {
    fn from(name: PluginName) -> Self {
        name.0
    }
}

/// Hooks, or MCP servers, as a plugin has them.
#[derive(Debug, Clone, PartialEq)]
pub enum PluginConfig {
    /// A file of its own, which is JSON.
    File {
        /// The file.
        path: PathBuf,
        /// All that is in it.
        text: String,
    },
    /// In the manifest.
    Inline {
        /// The manifest.
        path: PathBuf,
        /// In which line.
        line: Option<usize>,
        /// What stands there.
        value: Value,
    },
}

/// What a plugin brings.
#[derive(Debug, Clone, PartialEq)]
pub struct Plugin {
    /// Its name.
    pub name: PluginName,
    /// Its version, in its own words.
    pub version: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Where its copy is: `CLAUDE_PLUGIN_ROOT`.
    pub root: PathBuf,
    /// Where it may keep things: `CLAUDE_PLUGIN_DATA`.
    pub data: PathBuf,
    /// Folders with a `SKILL.md` in them.
    pub skills: Vec<PathBuf>,
    /// Markdown files of agents.
    pub agents: Vec<PathBuf>,
    /// Its hooks.
    pub hooks: Vec<PluginConfig>,
    /// Its MCP servers.
    pub servers: Vec<PluginConfig>,
    /// What of it has no effect here.
    pub ignored: Vec<String>,
    /// What of it can not be used.
    pub problems: Vec<PluginProblem>,
}

impl Plugin {
    /// What names in its hooks and servers stand for.
    pub fn variables(&self) -> [(&'static str, String); 2] {
        [
            ("CLAUDE_PLUGIN_ROOT", self.root.display().to_string()),
            ("CLAUDE_PLUGIN_DATA", self.data.display().to_string()),
        ]
    }
}

/// Something in a plugin that can not be used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PluginProblem {
    /// The file or folder.
    pub path: PathBuf,
    /// The line, where it is about one.
    pub line: Option<usize>,
    /// What is wrong.
    pub reason: String,
}

impl PluginProblem {
    fn new(path: impl Into<PathBuf>, line: Option<usize>, reason: impl Into<String>) -> Self {
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

/// Why a plugin could not be installed or changed. What was there is as it was.
#[derive(Debug, Error)]
pub enum PluginError {
    /// It is no plugin.
    #[error("this is no plugin: {0}")]
    NoPlugin(PluginProblem),
    /// There is none of that name.
    #[error("no plugin is called `{name}`{}", known(names))]
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        names: Vec<PluginName>,
    },
    /// Another has the name.
    #[error("a plugin called `{name}` is installed from {source}; remove it first: `dormouse plugin remove {name}`", source = .from)]
    NameTaken {
        /// The name.
        name: PluginName,
        /// Where the other came from.
        from: String,
    },
    /// It could not be got.
    #[error("can not get {address}: {why}")]
    Fetch {
        /// From where.
        address: String,
        /// Why not.
        why: String,
    },
    /// It has changed since it was shown.
    #[error("the plugin `{0}` has changed since it was shown; look at it again")]
    Changed(PluginName),
    /// The file system refused.
    #[error(transparent)]
    File(#[from] dormouse_base::FileError),
    /// Somebody else is at it.
    #[error("plugins are being changed by another process ({0}); try again")]
    Busy(#[source] dormouse_base::LockError),
}

fn known(names: &[PluginName]) -> String {
    if names.is_empty() {
        return "; none is installed".to_owned();
    }
    let names: Vec<&str> = names.iter().map(PluginName::as_str).collect();
    format!("; there are: {}", names.join(", "))
}

#[cfg(test)]
mod tests;
