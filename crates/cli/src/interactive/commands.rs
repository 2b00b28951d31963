//! Slash commands: which there are, and which one was meant. `obey` carries them out.

use dormouse_base::nearest_name;

/// A command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Name {
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

/// Every command with what it takes and does, in the order of the help.
pub(crate) const COMMANDS: &[(Name, &str, &str, &str)] = &[
    (Name::Help, "help", "", "keys and commands"),
    (Name::Clear, "clear", "", "begin a new session; this one is kept"),
    (Name::Model, "model", "[NAME]", "the model, or go on with another"),
    (Name::Cost, "cost", "", "tokens and cost since you began to talk"),
    (Name::Stats, "stats", "", "how full the window is, and what the session came to"),
    (Name::Config, "config", "", "what is in force, and where things are kept"),
    (Name::Permissions, "permissions", "[MODE]", "what is permitted; or go over to another mode"),
    (
        Name::Compact,
        "compact",
        "[WORDS]",
        "make room: a summary in place of what was said; WORDS say what it should look at",
    ),
    (Name::Context, "context", "", "what fills the window"),
    (Name::Expand, "expand", "", "unfold the newest messages that are shown as a summary"),
    (
        Name::Snip,
        "snip",
        "",
        "leave out the oldest messages from now on; they stay in the transcript",
    ),
    (
        Name::Plan,
        "plan",
        "[TEXT|off]",
        "nothing but reading until you accept a plan; with TEXT, say that; again, the plan so far",
    ),
    (Name::Skills, "skills", "", "the skills there are, and what each is for"),
    (Name::Plugins, "plugins", "", "the plugins there are, and whether they are used"),
    (Name::Mcp, "mcp", "[reconnect NAME]", "the MCP servers and their tools; or start one again"),
    (
        Name::Agents,
        "agents",
        "[show|stop NAME]",
        "the agents there are, and what those that were started do; what one did; end one",
    ),
    (Name::Hooks, "hooks", "", "what runs at which event, and where it comes from"),
    (
        Name::Memory,
        "memory",
        "[COMMAND]",
        "what is remembered; COMMAND as in dormouse memory, such as undo",
    ),
    (
        Name::Recall,
        "recall",
        "[QUERY]",
        "what memory has on this; without it, why memories came with the last message",
    ),
    (
        Name::Dream,
        "dream",
        "[stop|log]",
        "tidy up what is remembered, beside the conversation; again, how it goes",
    ),
    (
        Name::Guard,
        "guard",
        "[MEMORY]",
        "make a rule or a hook of what you had to say again and again; without MEMORY, what is offered",
    ),
    (Name::Notes, "notes", "", "the notes about this session, and where they are"),
    (Name::Quit, "quit", "", "leave (also Ctrl-D)"),
];

/// What a line with a slash means.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Meant {
    Command(Name, String),
    /// None of them; with the one that was probably meant.
    Unknown(String, Option<String>),
}

/// Whether a command has this name: no skill can take it.
pub(crate) fn is_command(name: &str) -> bool {
    name == "exit" || COMMANDS.iter().any(|(_, known, ..)| known.eq_ignore_ascii_case(name))
}

/// The command in a line; nothing, if the line is for the model. A path begins with a slash as well:
/// it has more of them, or letters that no command has.
pub(crate) fn parse(line: &str) -> Option<Meant> {
    let (word, rest) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
    let name = word.strip_prefix('/')?;
    if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphabetic() || c == '-') {
        return None;
    }
    let known = COMMANDS.iter().find(|(_, known, ..)| known.eq_ignore_ascii_case(name));
    Some(match known {
        Some((command, ..)) => Meant::Command(*command, rest.trim().to_owned()),
        None if name == "exit" => Meant::Command(Name::Quit, String::new()),
        None => {
            let names = COMMANDS.iter().map(|(_, known, ..)| (*known).to_owned());
            Meant::Unknown(name.to_owned(), nearest_name(name, names))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_paths_and_mistakes() {
        assert_eq!(parse("/help"), Some(Meant::Command(Name::Help, String::new())));
        assert_eq!(parse(" /model big one "), Some(Meant::Command(Name::Model, "big one".into())));
        assert_eq!(parse("/exit"), Some(Meant::Command(Name::Quit, String::new())));
        assert_eq!(parse("/hlep"), Some(Meant::Unknown("hlep".into(), Some("help".into()))));
        assert_eq!(parse("/teleport"), Some(Meant::Unknown("teleport".into(), None)));
        for line in
            ["/usr/bin/env is missing", "/etc/hosts", "hello", "/", "/2 of it", "what is /help"]
        {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
