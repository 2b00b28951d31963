//! Arguments of `dormouse plugin`.

use clap::{Args, Subcommand};

pub(crate) const PLUGIN_HELP: &str = "\
Examples:
  dormouse plugin install ./my-plugin
  dormouse plugin install https://example.com/team/plugin.git#v2
  dormouse plugin list
  dormouse plugin disable my-plugin

A plugin brings skills, agents, hooks and MCP servers. Nothing of it is used before you have seen what it would run and
trusted it; what has changed since is not used until you trust it again.";

#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    /// Install a plugin from a folder or a git address, or bring one up to date
    #[command(
        after_help = "Examples:\n  dormouse plugin install ./my-plugin\n  dormouse plugin install git@example.com:team/plugin.git\n  dormouse plugin install ./my-plugin --trust"
    )]
    Install(InstallArguments),
    /// List the plugins, what each brings, and whether it is used
    #[command(after_help = "Examples:\n  dormouse plugin list\n  dormouse plugin list --json")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a plugin would run, and trust it as it is now
    #[command(
        after_help = "Examples:\n  dormouse plugin trust my-plugin\n  dormouse plugin trust my-plugin --yes"
    )]
    Trust {
        /// The plugin
        name: String,
        /// Without a question
        #[arg(long)]
        yes: bool,
    },
    /// Switch a plugin on
    #[command(after_help = "Example:\n  dormouse plugin enable my-plugin")]
    Enable {
        /// The plugin
        name: String,
    },
    /// Switch a plugin off; it stays installed
    #[command(after_help = "Example:\n  dormouse plugin disable my-plugin")]
    Disable {
        /// The plugin
        name: String,
    },
    /// Remove a plugin, and what it kept
    #[command(after_help = "Example:\n  dormouse plugin remove my-plugin")]
    Remove {
        /// The plugin
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct InstallArguments {
    /// A folder, or a git address (https, ssh, file), with #BRANCH or #TAG if you like
    pub(crate) source: String,
    /// Trust it without a question; what is trusted is printed
    #[arg(long)]
    pub(crate) trust: bool,
}
