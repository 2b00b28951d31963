//! Arguments of `dormouse dream`.

use clap::{Args, Subcommand};

pub(crate) const DREAM_HELP: &str = "\
Examples:
  dormouse dream
  dormouse dream --now --dry-run
  dormouse dream log
  dormouse dream --json
  dormouse memory undo

It needs no terminal: cron can run it in the project's folder. The last of these takes a whole dream back.
Without --now it dreams only where that is due: 24 hours after the last dream, and when at least 5 sessions of this
project have gone on since. What you wrote by hand is not changed: such changes wait in `dormouse memory inbox`.

Exit codes:
  0    it dreamt, or nothing was due
  1    it could not be done, or what it came to could not be used; nothing is changed
  2    the command line, the settings or the set-up is wrong
  3    somebody else dreams over this memory
  130  interrupted; nothing is changed";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct DreamArguments {
    #[command(subcommand)]
    pub(crate) command: Option<DreamCommand>,
    /// Dream at once, whenever the last dream was
    #[arg(long)]
    pub(crate) now: bool,
    /// Show what would change, as a diff, and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// The model that dreams
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DreamCommand {
    /// List past dreams and what each came to
    #[command(
        after_help = "Examples:\n  dormouse dream log\n  dormouse dream log --limit 1 --json"
    )]
    Log {
        /// The most to list
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}
