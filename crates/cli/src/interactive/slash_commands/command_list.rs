//! The list of slash commands, and parsing of a line that starts with one.

use dormouse_base::nearest_name;

use crate::message_catalog::msg;

/// A slash command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlashCommand {
    Help,
    Clear,
    Model,
    Effort,
    Cost,
    Stats,
    Config,
    Permissions,
    Compact,
    Context,
    Snip,
    Expand,
    Rewind,
    Resume,
    Rename,
    Copy,
    Export,
    Init,
    Review,
    Team,
    Doctor,
    Plan,
    Skills,
    Plugins,
    Agents,
    Tasks,
    Mcp,
    Hooks,
    Memory,
    Recall,
    Dream,
    Guard,
    Notes,
    Quit,
}

/// A command in the list.
#[derive(Debug)]
pub(crate) struct SlashCommandRow {
    pub(crate) command: SlashCommand,
    pub(crate) name: &'static str,
    pub(crate) arguments: &'static str,
}

const fn row(
    command: SlashCommand,
    name: &'static str,
    arguments: &'static str,
) -> SlashCommandRow {
    SlashCommandRow { command, name, arguments }
}

/// Every command, in the order of `/help`.
pub(crate) const COMMANDS: &[SlashCommandRow] = &[
    row(SlashCommand::Help, "help", ""),
    row(SlashCommand::Clear, "clear", ""),
    row(SlashCommand::Model, "model", "[NAME]"),
    row(SlashCommand::Effort, "effort", "[LEVEL]"),
    row(SlashCommand::Cost, "cost", ""),
    row(SlashCommand::Stats, "stats", ""),
    row(SlashCommand::Config, "config", ""),
    row(SlashCommand::Permissions, "permissions", "[MODE]"),
    row(SlashCommand::Compact, "compact", "[INSTRUCTIONS]"),
    row(SlashCommand::Context, "context", ""),
    row(SlashCommand::Expand, "expand", "[N]"),
    row(SlashCommand::Rewind, "rewind", "[N [code|conversation]]"),
    row(SlashCommand::Resume, "resume", "[ID]"),
    row(SlashCommand::Rename, "rename", "TITLE"),
    row(SlashCommand::Copy, "copy", ""),
    row(SlashCommand::Export, "export", "[FILE]"),
    row(SlashCommand::Init, "init", ""),
    row(SlashCommand::Review, "review", "[WHAT]"),
    row(SlashCommand::Snip, "snip", ""),
    row(SlashCommand::Plan, "plan", "[TEXT|off]"),
    row(SlashCommand::Skills, "skills", ""),
    row(SlashCommand::Plugins, "plugins", ""),
    row(SlashCommand::Mcp, "mcp", "[reconnect NAME]"),
    row(SlashCommand::Tasks, "tasks", "[show|stop NAME]"),
    row(SlashCommand::Agents, "agents", "[show|stop|resume NAME]"),
    row(SlashCommand::Hooks, "hooks", ""),
    row(SlashCommand::Memory, "memory", "[on|off|COMMAND]"),
    row(SlashCommand::Recall, "recall", "[QUERY]"),
    row(SlashCommand::Dream, "dream", "[stop|log]"),
    row(SlashCommand::Guard, "guard", "[MEMORY]"),
    row(SlashCommand::Notes, "notes", ""),
    row(SlashCommand::Team, "team", ""),
    row(SlashCommand::Doctor, "doctor", ""),
    row(SlashCommand::Quit, "quit", ""),
];

impl SlashCommandRow {
    /// What the command does.
    pub(crate) fn help(&self) -> String {
        match self.command {
            SlashCommand::Help => msg!("slash-help"),
            SlashCommand::Clear => msg!("slash-clear"),
            SlashCommand::Model => msg!("slash-model"),
            SlashCommand::Effort => msg!("slash-effort"),
            SlashCommand::Cost => msg!("slash-cost"),
            SlashCommand::Stats => msg!("slash-stats"),
            SlashCommand::Config => msg!("slash-config"),
            SlashCommand::Permissions => msg!("slash-permissions"),
            SlashCommand::Compact => msg!("slash-compact"),
            SlashCommand::Context => msg!("slash-context"),
            SlashCommand::Expand => msg!("slash-expand"),
            SlashCommand::Rewind => msg!("slash-rewind"),
            SlashCommand::Resume => msg!("slash-resume"),
            SlashCommand::Rename => msg!("slash-rename"),
            SlashCommand::Copy => msg!("slash-copy"),
            SlashCommand::Export => msg!("slash-export"),
            SlashCommand::Init => msg!("slash-init"),
            SlashCommand::Review => msg!("slash-review"),
            SlashCommand::Team => msg!("slash-team"),
            SlashCommand::Doctor => msg!("slash-doctor"),
            SlashCommand::Snip => msg!("slash-snip"),
            SlashCommand::Plan => msg!("slash-plan"),
            SlashCommand::Skills => msg!("slash-skills"),
            SlashCommand::Plugins => msg!("slash-plugins"),
            SlashCommand::Mcp => msg!("slash-mcp"),
            SlashCommand::Tasks => msg!("slash-tasks"),
            SlashCommand::Agents => msg!("slash-agents"),
            SlashCommand::Hooks => msg!("slash-hooks"),
            SlashCommand::Memory => msg!("slash-memory"),
            SlashCommand::Recall => msg!("slash-recall"),
            SlashCommand::Dream => msg!("slash-dream"),
            SlashCommand::Guard => msg!("slash-guard"),
            SlashCommand::Notes => msg!("slash-notes"),
            SlashCommand::Quit => msg!("slash-quit"),
        }
    }
}

/// A line that starts with a slash.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ParsedCommand {
    /// A command and its arguments.
    Known(SlashCommand, String),
    /// Not a command; with the command of the most similar name.
    Unknown { name: String, similar: Option<String> },
}

impl SlashCommand {
    /// Whether it only sends a prompt of ours, so that a skill of the same name is used instead.
    fn is_prompt(self) -> bool {
        matches!(self, Self::Init | Self::Review)
    }
}

/// Whether a command has this name; a skill of the same name cannot be called by it.
pub(crate) fn is_command(name: &str) -> bool {
    let mut fixed = COMMANDS.iter().filter(|known| !known.command.is_prompt());
    name == "exit" || fixed.any(|known| known.name.eq_ignore_ascii_case(name))
}

/// The command in a line; none if the line is for the model. A path also starts with a slash, but has more of them.
pub(crate) fn parse(line: &str) -> Option<ParsedCommand> {
    let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
    let name = word.strip_prefix('/')?;
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
    if !name.starts_with(char::is_alphabetic) || !name.chars().all(is_plain) {
        return None;
    }
    let known = COMMANDS.iter().find(|known| known.name.eq_ignore_ascii_case(name));
    Some(match known {
        Some(known) => ParsedCommand::Known(known.command, rest.trim().to_owned()),
        None if name == "exit" => ParsedCommand::Known(SlashCommand::Quit, String::new()),
        None => {
            let names = COMMANDS.iter().map(|known| known.name.to_owned());
            ParsedCommand::Unknown { name: name.to_owned(), similar: nearest_name(name, names) }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_paths_and_mistakes() {
        assert_eq!(parse("/help"), Some(ParsedCommand::Known(SlashCommand::Help, String::new())));
        assert_eq!(
            parse(" /model big one "),
            Some(ParsedCommand::Known(SlashCommand::Model, "big one".into()))
        );
        assert_eq!(parse("/exit"), Some(ParsedCommand::Known(SlashCommand::Quit, String::new())));
        assert_eq!(
            parse("/hlep"),
            Some(ParsedCommand::Unknown { name: "hlep".into(), similar: Some("help".into()) })
        );
        assert_eq!(
            parse("/marmot"),
            Some(ParsedCommand::Unknown { name: "marmot".into(), similar: None })
        );
        for line in
            ["/usr/bin/env is missing", "/etc/hosts", "hello", "/", "/2 of it", "what is /help"]
        {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
