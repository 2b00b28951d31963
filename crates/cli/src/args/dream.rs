//! Arguments of `dormouse dream`.

use clap::{Args, Subcommand};

pub(crate) const DREAM_EXAMPLES: &str = "\
dormouse dream
dormouse dream --now --dry-run
dormouse dream log
dormouse dream --json
dormouse memory undo";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct DreamArguments {
    #[command(subcommand)]
    pub(crate) command: Option<DreamCommand>,
    #[arg(long)]
    pub(crate) now: bool,
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[arg(long)]
    pub(crate) json: bool,
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DreamCommand {
    #[command(after_help = "dormouse dream log\ndormouse dream log --limit 1 --json")]
    Log {
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
        #[arg(long)]
        json: bool,
    },
}
