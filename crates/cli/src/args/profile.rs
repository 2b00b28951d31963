//! Arguments of `dormouse context`, the profiler.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

pub(crate) const CONTEXT_EXAMPLES: &str = "\
dormouse context 0193b0a4
dormouse context ~/.claude/projects/-home-me-app/5f1c….jsonl
dormouse context 0193b0a4 --html profile.html
dormouse context 0193b0a4 --json | jq '.layers[] | {layer, cost_with_usd, cost_without_usd}'";

#[derive(Debug, Args)]
pub(crate) struct ContextArguments {
    pub(crate) transcript: String,
    #[arg(long)]
    pub(crate) json: bool,
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    #[arg(long, value_name = "TOKENS")]
    pub(crate) window: Option<u32>,
    #[arg(long, value_enum, value_name = "TIME")]
    pub(crate) cache_ttl: Option<CacheTtlArgument>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CacheTtlArgument {
    #[value(name = "5m")]
    FiveMinutes,
    #[value(name = "1h")]
    Hour,
}
