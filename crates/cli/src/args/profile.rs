//! Arguments of the profiler.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub(crate) const CONTEXT_HELP: &str = "\
Examples:
  dormouse context 0193b0a4
  dormouse context ~/.claude/projects/-home-me-app/5f1c….jsonl
  dormouse context 0193b0a4 --html profile.html
  dormouse context 0193b0a4 --json | jq '.layers[] | {layer, cost_with_usd, cost_without_usd}'

No model is asked. How each figure is computed stands in docs/context.md.";

#[derive(Debug, Args)]
pub(crate) struct ContextArguments {
    /// A transcript, of this or another agent; or a session of this project, by its id or the beginning of it
    pub(crate) transcript: String,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page with plots to this file
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// The model's window in tokens, where it is not what the requests suggest
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<u32>,
    /// How long the server's cache lives, where the transcript does not tell
    #[arg(long, value_enum, value_name = "TIME")]
    pub(crate) cache_ttl: Option<CacheLife>,
}

/// How long a cache lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheLife {
    /// Five minutes
    #[value(name = "5m")]
    FiveMinutes,
    /// An hour
    #[value(name = "1h")]
    Hour,
}
