//! Arguments of `dormouse setup`.

use clap::{Args, ValueEnum};

pub(crate) const SETUP_EXAMPLES: &str = "\
dormouse setup claude-code
dormouse setup codex --yes
dormouse setup codex --undo";

#[derive(Debug, Args)]
pub(crate) struct SetupArguments {
    #[arg(value_enum)]
    pub(crate) agent: SetupAgent,
    #[arg(long)]
    pub(crate) yes: bool,
    #[arg(long)]
    pub(crate) undo: bool,
    #[arg(long, value_name = "PROGRAM", default_value = "dormouse")]
    pub(crate) program: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SetupAgent {
    ClaudeCode,
    Codex,
    #[value(alias = "gemini")]
    GeminiCli,
    Opencode,
    Goose,
    Cursor,
    #[value(name = "vscode", alias = "vs-code")]
    VsCode,
}
