//! Arguments of `dormouse completions`.

use clap::{Args, ValueEnum};

pub(crate) const COMPLETIONS_EXAMPLES: &str = "\
dormouse completions bash > ~/.local/share/bash-completion/completions/dormouse
dormouse completions zsh > ~/.zfunc/_dormouse
dormouse completions fish > ~/.config/fish/completions/dormouse.fish
dormouse completions man > ~/.local/share/man/man1/dormouse.1";

#[derive(Debug, Args)]
pub(crate) struct CompletionsArguments {
    #[arg(value_enum)]
    pub(crate) target: CompletionsTarget,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum CompletionsTarget {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
    Man,
}
