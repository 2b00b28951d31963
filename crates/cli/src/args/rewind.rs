//! Arguments of `dormouse rewind`.

use clap::Args;

pub(crate) const REWIND_EXAMPLES: &str = "\
dormouse rewind 01a1e272
dormouse rewind 01a1e272 3 --dry-run
dormouse rewind 01a1e272 3 --code";

#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[derive(Debug, Args)]
pub(crate) struct RewindArguments {
    #[arg(value_name = "SESSION")]
    pub(crate) session: String,
    #[arg(value_name = "N")]
    pub(crate) number: Option<usize>,
    #[arg(long, conflicts_with = "conversation")]
    pub(crate) code: bool,
    #[arg(long)]
    pub(crate) conversation: bool,
    #[arg(long)]
    pub(crate) overwrite: bool,
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[arg(long)]
    pub(crate) json: bool,
}
