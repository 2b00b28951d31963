//! Plugins (L-34): installed folders of skills, agents, hooks and MCP servers.
//!
//! `tree` has all files of a plugin, with a digest; `manifest` and `contents` find its parts; `source` fetches one from a
//! folder or from git; `store` keeps the installed copies and, for each, its source, whether it is enabled, and the
//! digest that was trusted.
//!
//! Invariants: nothing of a plugin is used before the user has trusted it, and only as it was then: the digest covers
//! every byte. A copy is installed whole or not at all. No path in a plugin leads out of it. An invalid part is reported
//! with file and line; the others load.

mod contents;
mod installed_plugins;
mod manifest;
mod plugin;
mod source;
#[cfg(test)]
mod tests;
mod tree;

pub use installed_plugins::{InstalledPlugin, PluginStore, PluginTrust};
pub use plugin::{
    Plugin, PluginCommandFile, PluginConfig, PluginError, PluginName, PluginNameError,
    PluginProblem,
};
pub use source::{PluginSource, fetch_plugin};
pub use tree::PluginTree;
