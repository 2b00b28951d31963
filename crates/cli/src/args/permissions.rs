//! Arguments of `dormouse permissions`, and permission modes.

use clap::{Args, Subcommand, ValueEnum};
use dormouse_permissions::PermissionMode;

pub(crate) const PERMISSIONS_EXAMPLES: &str = "\
dormouse permissions check Bash 'git diff'
dormouse permissions check Edit src/main.rs --json";

#[derive(Debug, Subcommand)]
pub(crate) enum PermissionsCommand {
    #[command(
        after_help = "dormouse permissions trust\ndormouse permissions trust --yes\ndormouse permissions trust --revoke"
    )]
    Trust(TrustArguments),
    #[command(
        after_help = "dormouse permissions check Bash 'git diff'\ndormouse permissions check Bash 'find . -delete' --json\ndormouse permissions check Edit src/main.rs --permission-mode accept-edits"
    )]
    Check(CheckArguments),
}

#[derive(Debug, Args)]
pub(crate) struct TrustArguments {
    #[arg(long, conflicts_with = "revoke")]
    pub(crate) yes: bool,
    #[arg(long)]
    pub(crate) revoke: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CheckArguments {
    pub(crate) tool: String,
    pub(crate) input: String,
    #[arg(long, value_enum, value_name = "MODE")]
    pub(crate) permission_mode: Option<PermissionModeArgument>,
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PermissionModeArgument {
    Default,
    #[value(alias = "acceptEdits")]
    AcceptEdits,
    Plan,
    #[value(alias = "bypassPermissions")]
    Bypass,
}

impl From<PermissionModeArgument> for PermissionMode {
    fn from(mode: PermissionModeArgument) -> Self {
        match mode {
            PermissionModeArgument::Default => Self::Default,
            PermissionModeArgument::AcceptEdits => Self::AcceptEdits,
            PermissionModeArgument::Plan => Self::Plan,
            PermissionModeArgument::Bypass => Self::Bypass,
        }
    }
}
