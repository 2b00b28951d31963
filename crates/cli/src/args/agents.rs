//! Arguments of `dormouse agents`.

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct AgentsArguments {
    #[arg(long)]
    pub(crate) json: bool,
}
