//! Arguments of `dormouse agents`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct AgentsArguments {
    #[arg(long)]
    pub(crate) json: bool,
    #[arg(long)]
    pub(crate) worktrees: bool,
    #[command(flatten)]
    pub(crate) removal: WorktreeRemovalArguments,
}

#[derive(Debug, Args)]
pub(crate) struct WorktreeRemovalArguments {
    #[arg(long, requires = "worktrees")]
    pub(crate) remove: bool,
    #[arg(long, requires = "remove")]
    pub(crate) yes: bool,
}
