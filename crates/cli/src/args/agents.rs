//! Arguments of `dormouse agents`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct AgentsArguments {
    #[arg(long)]
    pub(crate) json: bool,
    #[arg(long)]
    pub(crate) worktrees: bool,
    #[arg(long, requires = "worktrees")]
    pub(crate) remove: bool,
    #[arg(long, requires = "remove")]
    pub(crate) yes: bool,
}
