//! Arguments of `dormouse config`.

use clap::{Args, Subcommand, ValueEnum};

pub(crate) const CONFIG_EXAMPLES: &str = "\
dormouse config
dormouse config get permissions.allow
dormouse config set model claude-opus-5-5
dormouse config set layers.dream false --scope project
dormouse config unset model";

#[derive(Debug, Args)]
pub(crate) struct ConfigArguments {
    #[command(subcommand)]
    pub(crate) command: Option<ConfigCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    #[command(after_help = "dormouse config list\ndormouse config list --all --json")]
    List {
        #[arg(long)]
        all: bool,
        #[arg(long)]
        json: bool,
    },
    #[command(after_help = "dormouse config get model\ndormouse config get layers.dream --json")]
    Get {
        key: String,
        #[arg(long)]
        json: bool,
    },
    #[command(
        after_help = "dormouse config set model claude-opus-5-5\ndormouse config set permissions.deny '[\"Read(.env)\"]' --scope project"
    )]
    Set {
        key: String,
        value: String,
        #[arg(
            id = "settings_scope",
            long = "scope",
            value_enum,
            value_name = "SCOPE",
            default_value_t = SettingsScope::User
        )]
        scope: SettingsScope,
    },
    #[command(after_help = "dormouse config unset model")]
    Unset {
        key: String,
        #[arg(
            id = "settings_scope",
            long = "scope",
            value_enum,
            value_name = "SCOPE",
            default_value_t = SettingsScope::User
        )]
        scope: SettingsScope,
    },
    #[command(after_help = "dormouse config schema > settings.schema.json")]
    Schema,
}

/// The settings file that a command changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SettingsScope {
    User,
    Project,
    Local,
}
