//! The list of slash commands, and parsing of a line that starts with one.

use dormouse_base::nearest_name;

/// A slash command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SlashCommand {
    Help,
    Clear,
    Model,
    Cost,
    Stats,
    Config,
    Permissions,
    Compact,
    Context,
    Snip,
    Expand,
    Rewind,
    Plan,
    Skills,
    Plugins,
    Agents,
    Mcp,
    Hooks,
    Memory,
    Recall,
    Dream,
    Guard,
    Notes,
    Quit,
}

/// Every command with its name, arguments and help text, in the order of `/help`.
pub(crate) const COMMANDS: &[(SlashCommand, &str, &str, &str)] = &[
    (SlashCommand::Help, "help", "", "show keys and commands"),
    (SlashCommand::Clear, "clear", "", "start a new session; this one stays saved"),
    (SlashCommand::Model, "model", "[NAME]", "show the model, or switch to another"),
    (SlashCommand::Cost, "cost", "", "show tokens and cost of this run"),
    (SlashCommand::Stats, "stats", "", "show context usage and session statistics"),
    (SlashCommand::Config, "config", "", "show the configuration in effect and where files are"),
    (
        SlashCommand::Permissions,
        "permissions",
        "[MODE]",
        "show permission mode and rules, or set the mode",
    ),
    (
        SlashCommand::Compact,
        "compact",
        "[INSTRUCTIONS]",
        "replace the conversation with a summary; INSTRUCTIONS say what to keep",
    ),
    (SlashCommand::Context, "context", "", "show what fills the context window"),
    (SlashCommand::Expand, "expand", "", "restore the newest collapsed messages"),
    (
        SlashCommand::Rewind,
        "rewind",
        "[N [code|conversation]]",
        "go back to before your message N: files, conversation or both; without N, list your messages",
    ),
    (
        SlashCommand::Snip,
        "snip",
        "",
        "leave the oldest messages out of further requests; the transcript keeps them",
    ),
    (
        SlashCommand::Plan,
        "plan",
        "[TEXT|off]",
        "turn on plan mode (read-only until you accept a plan) and send TEXT; in plan mode, show the plan",
    ),
    (SlashCommand::Skills, "skills", "", "list skills"),
    (SlashCommand::Plugins, "plugins", "", "list plugins and their state"),
    (
        SlashCommand::Mcp,
        "mcp",
        "[reconnect NAME]",
        "list MCP servers and their tools, or reconnect one",
    ),
    (
        SlashCommand::Agents,
        "agents",
        "[show|stop NAME]",
        "list agents and running subagents; show or stop one",
    ),
    (SlashCommand::Hooks, "hooks", "", "list hooks"),
    (
        SlashCommand::Memory,
        "memory",
        "[COMMAND]",
        "list memories, or run a dormouse memory COMMAND such as undo",
    ),
    (
        SlashCommand::Recall,
        "recall",
        "[QUERY]",
        "search memory; without QUERY, explain the last recall",
    ),
    (
        SlashCommand::Dream,
        "dream",
        "[stop|log]",
        "consolidate memory in the background; while it runs, show progress",
    ),
    (
        SlashCommand::Guard,
        "guard",
        "[MEMORY]",
        "turn a repeated correction into a permission rule or hook; without MEMORY, list suggestions",
    ),
    (SlashCommand::Notes, "notes", "", "show the session notes and their path"),
    (SlashCommand::Quit, "quit", "", "leave (also Ctrl-D)"),
];

/// A line that starts with a slash.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum ParsedCommand {
    /// A command and its arguments.
    Known(SlashCommand, String),
    /// Not a command; with the command of the most similar name.
    Unknown { name: String, similar: Option<String> },
}

/// Whether a command has this name; a skill of the same name cannot be called by it.
pub(crate) fn is_command(name: &str) -> bool {
    name == "exit" || COMMANDS.iter().any(|(_, known, ..)| known.eq_ignore_ascii_case(name))
}

/// The command in a line; none if the line is for the model. A path also starts with a slash, but has more of them,
/// or characters that no command has.
pub(crate) fn parse(line: &str) -> Option<ParsedCommand> {
    let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
    let name = word.strip_prefix('/')?;
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphabetic() || c == '-') {
        return None;
    }
    let known = COMMANDS.iter().find(|(_, known, ..)| known.eq_ignore_ascii_case(name));
    Some(match known {
        Some((command, ..)) => ParsedCommand::Known(*command, rest.trim().to_owned()),
        None if name == "exit" => ParsedCommand::Known(SlashCommand::Quit, String::new()),
        None => {
            let names = COMMANDS.iter().map(|(_, known, ..)| (*known).to_owned());
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
            parse("/teleport"),
            Some(ParsedCommand::Unknown { name: "teleport".into(), similar: None })
        );
        for line in
            ["/usr/bin/env is missing", "/etc/hosts", "hello", "/", "/2 of it", "what is /help"]
        {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
