//! Arguments of `dormouse plugin`.

use clap::{Args, Subcommand};

pub(crate) const PLUGIN_EXAMPLES: &str = "\
dormouse plugin install ./my-plugin
dormouse plugin install https://example.com/team/plugin.git#v2
dormouse plugin list
dormouse plugin disable my-plugin";

#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    #[command(
        after_help = "dormouse plugin install ./my-plugin\ndormouse plugin install git@example.com:team/plugin.git\ndormouse plugin install ./my-plugin --trust"
    )]
    Install(InstallArguments),
    #[command(
        visible_alias = "ls",
        after_help = "dormouse plugin list\ndormouse plugin list --json"
    )]
    List {
        #[arg(long)]
        json: bool,
    },
    #[command(
        after_help = "dormouse plugin trust my-plugin\ndormouse plugin trust my-plugin --yes"
    )]
    Trust {
        name: String,
        #[arg(long)]
        yes: bool,
    },
    #[command(after_help = "dormouse plugin enable my-plugin")]
    Enable { name: String },
    #[command(after_help = "dormouse plugin disable my-plugin")]
    Disable { name: String },
    #[command(
        visible_aliases = ["rm", "uninstall"],
        after_help = "dormouse plugin remove my-plugin"
    )]
    Remove { name: String },
}

#[derive(Debug, Args)]
pub(crate) struct InstallArguments {
    pub(crate) source: String,
    #[arg(long)]
    pub(crate) trust: bool,
}
