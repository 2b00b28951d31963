//! Arguments of `dormouse setup`.

use clap::{Args, ValueEnum};

pub(crate) const SETUP_EXAMPLES: &str = "\
dormouse setup claude-code
dormouse setup claude-code --extract anthropic
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
    #[arg(long, value_name = "PROGRAM")]
    pub(crate) program: Option<String>,
    #[arg(long, value_name = "PROVIDER", conflicts_with = "undo")]
    pub(crate) extract: Option<String>,
    #[arg(long, value_name = "NAME", requires = "extract")]
    pub(crate) extract_model: Option<String>,
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
