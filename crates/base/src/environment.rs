//! The environment as a value: read once at the top, handed down, replaceable in a test.
//!
//! Every variable the program reads stands in [`VARIABLES`] with what it does; a tidy test compares
//! that table with the documentation.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::redact::Secret;

/// The names of the variables the program reads.
pub mod names {
    /// Moves `~/.dormouse`.
    pub const HOME: &str = "DORMOUSE_HOME";
    /// The model to talk to.
    pub const MODEL: &str = "DORMOUSE_MODEL";
    /// The model's context window, in tokens.
    pub const CONTEXT_WINDOW: &str = "DORMOUSE_CONTEXT_WINDOW";
    /// The window that counts for compacting ahead, in tokens.
    pub const AUTO_COMPACT_WINDOW: &str = "DORMOUSE_AUTO_COMPACT_WINDOW";
    /// How long a stream may be silent, in milliseconds.
    pub const IDLE_TIMEOUT_MS: &str = "DORMOUSE_IDLE_TIMEOUT_MS";
    /// The first delay of a retry, in milliseconds.
    pub const RETRY_BASE_MS: &str = "DORMOUSE_RETRY_BASE_MS";
    /// The Anthropic key.
    pub const ANTHROPIC_API_KEY: &str = "ANTHROPIC_API_KEY";
    /// A bearer token for an Anthropic-compatible gateway.
    pub const ANTHROPIC_AUTH_TOKEN: &str = "ANTHROPIC_AUTH_TOKEN";
    /// The Anthropic-compatible server.
    pub const ANTHROPIC_BASE_URL: &str = "ANTHROPIC_BASE_URL";
    /// The key of an OpenAI-compatible server.
    pub const OPENAI_API_KEY: &str = "OPENAI_API_KEY";
    /// The OpenAI-compatible server.
    pub const OPENAI_BASE_URL: &str = "OPENAI_BASE_URL";
    /// The user's home folder.
    pub const USER_HOME: &str = "HOME";
    /// Where the user's running programs may keep sockets.
    pub const XDG_RUNTIME_DIR: &str = "XDG_RUNTIME_DIR";
    /// The folder for temporary files.
    pub const TMPDIR: &str = "TMPDIR";
    /// The socket of the agent that holds the user's SSH keys.
    pub const SSH_AUTH_SOCK: &str = "SSH_AUTH_SOCK";
    /// Where programs are found.
    pub const PATH: &str = "PATH";
    /// The user's shell.
    pub const SHELL: &str = "SHELL";
    /// Turns memory off.
    pub const DISABLE_AUTO_MEMORY: &str = "DORMOUSE_DISABLE_AUTO_MEMORY";
    /// Nothing but the conversation and its tools.
    pub const SIMPLE: &str = "DORMOUSE_SIMPLE";
    /// The program runs on another machine than the user's.
    pub const REMOTE: &str = "DORMOUSE_REMOTE";
    /// Where memory is then.
    pub const REMOTE_MEMORY_DIR: &str = "DORMOUSE_REMOTE_MEMORY_DIR";
    /// Where memory is, over everything else.
    pub const MEMORY_PATH_OVERRIDE: &str = "DORMOUSE_MEMORY_PATH_OVERRIDE";
    /// The database of the team server.
    pub const TEAM_DATABASE: &str = "DORMOUSE_TEAM_DATABASE";
    /// Configuration file of the team server.
    pub const TEAM_CONFIG: &str = "DORMOUSE_TEAM_CONFIG";
    /// Address and port of the team server.
    pub const TEAM_LISTEN: &str = "DORMOUSE_TEAM_LISTEN";
    /// Certificate chain of the team server, in PEM.
    pub const TEAM_TLS_CERT: &str = "DORMOUSE_TEAM_TLS_CERT";
    /// Private key of the team server, in PEM.
    pub const TEAM_TLS_KEY: &str = "DORMOUSE_TEAM_TLS_KEY";
    /// Maximum number of entries of a repository on the team server.
    pub const TEAM_MAX_ENTRIES: &str = "DORMOUSE_TEAM_MAX_ENTRIES";
    /// Maximum number of requests a second for one token; 0 for no limit.
    pub const TEAM_RATE: &str = "DORMOUSE_TEAM_RATE";
    /// Log of the team server: `text`, `json` or `none`.
    pub const TEAM_LOG: &str = "DORMOUSE_TEAM_LOG";
    /// The token for the team server.
    pub const TEAM_TOKEN: &str = "DORMOUSE_TEAM_TOKEN";
    /// Added to the rules about memory.
    pub const MEMORY_EXTRA_GUIDELINES: &str = "DORMOUSE_MEMORY_EXTRA_GUIDELINES";
    /// Switches collapse.
    pub const CONTEXT_COLLAPSE: &str = "DORMOUSE_CONTEXT_COLLAPSE";
    /// A folder instead of `/etc/dormouse` (debug builds).
    pub const TEST_MANAGED: &str = "DORMOUSE_TEST_MANAGED";
    /// The user's editor, for a terminal.
    pub const VISUAL: &str = "VISUAL";
    /// The user's editor.
    pub const EDITOR: &str = "EDITOR";
    /// The pager for long output.
    pub const PAGER: &str = "PAGER";
    /// What the terminal is.
    pub const TERM: &str = "TERM";
    /// What colors it has.
    pub const COLORTERM: &str = "COLORTERM";
    /// No colors, please.
    pub const NO_COLOR: &str = "NO_COLOR";
    /// The locale, over all others.
    pub const LC_ALL: &str = "LC_ALL";
    /// The locale of characters.
    pub const LC_CTYPE: &str = "LC_CTYPE";
    /// The locale.
    pub const LANG: &str = "LANG";
    /// A fault to inject (debug builds).
    pub const FAULT: &str = "DORMOUSE_FAULT";
    /// The time to show (debug builds).
    pub const TEST_NOW: &str = "DORMOUSE_TEST_NOW";
    /// Deadlines that a test holds or shortens (debug builds).
    pub const TEST_DEADLINES: &str = "DORMOUSE_TEST_DEADLINES";
    /// Debug builds only: `0` lets extraction learn from what memory said.
    pub const TEST_ECHO_GUARD: &str = "DORMOUSE_TEST_ECHO_GUARD";
    /// The seed of new ids (debug builds).
    pub const TEST_SEED: &str = "DORMOUSE_TEST_SEED";
}

/// A variable the program reads, and what it does.
#[derive(Debug, Clone, Copy)]
pub struct EnvironmentVariable {
    /// Its name.
    pub name: &'static str,
    /// What setting it does, in one line.
    pub description: &'static str,
}

const fn variable(name: &'static str, effect: &'static str) -> EnvironmentVariable {
    EnvironmentVariable { name, description: effect }
}

/// All of them, in the order in which the documentation lists them.
pub const VARIABLES: &[EnvironmentVariable] = &[
    variable(names::ANTHROPIC_API_KEY, "key for the Anthropic API"),
    variable(
        names::ANTHROPIC_AUTH_TOKEN,
        "bearer token for a gateway that speaks the Anthropic API, instead of a key",
    ),
    variable(
        names::ANTHROPIC_BASE_URL,
        "server that speaks the Anthropic API; default https://api.anthropic.com",
    ),
    variable(names::OPENAI_API_KEY, "key for an OpenAI-compatible server"),
    variable(
        names::OPENAI_BASE_URL,
        "OpenAI-compatible server, with its /v1; default https://api.openai.com/v1",
    ),
    variable(names::MODEL, "model to use; --model takes precedence"),
    variable(names::CONTEXT_WINDOW, "context window of the model, in tokens"),
    variable(
        names::AUTO_COMPACT_WINDOW,
        "context window for automatic compaction, in tokens; at most the model's window",
    ),
    variable(names::HOME, "folder to use instead of ~/.dormouse"),
    variable(
        names::IDLE_TIMEOUT_MS,
        "milliseconds without data after which a stream counts as broken; default 90000",
    ),
    variable(names::RETRY_BASE_MS, "first delay before a retry, in milliseconds; default 500"),
    variable(
        names::SIMPLE,
        "1: no memory, hooks, skills, plugins, MCP servers or instruction files; the same as --bare",
    ),
    variable(names::DISABLE_AUTO_MEMORY, "1: disable memory"),
    variable(
        names::REMOTE,
        "1: the program runs on a remote machine; memory is off unless DORMOUSE_REMOTE_MEMORY_DIR is set",
    ),
    variable(
        names::REMOTE_MEMORY_DIR,
        "memory folder on a remote machine; extraction and dreaming do not run there",
    ),
    variable(
        names::MEMORY_PATH_OVERRIDE,
        "memory folder; takes precedence over DORMOUSE_REMOTE_MEMORY_DIR and the settings",
    ),
    variable(
        names::TEAM_DATABASE,
        "database of the team server: a file, or `postgres://…`, whose password arguments would show",
    ),
    variable(names::TEAM_CONFIG, "configuration file of the team server"),
    variable(names::TEAM_LISTEN, "address and port of the team server"),
    variable(names::TEAM_TLS_CERT, "certificate chain of the team server, in PEM"),
    variable(names::TEAM_TLS_KEY, "private key of the team server, in PEM"),
    variable(
        names::TEAM_MAX_ENTRIES,
        "maximum number of entries of a repository on the team server",
    ),
    variable(names::TEAM_RATE, "maximum number of requests a second for one token; 0 for no limit"),
    variable(names::TEAM_LOG, "log of the team server: `text`, `json` or `none`"),
    variable(names::TEAM_TOKEN, "token for the team server, instead of the stored one"),
    variable(names::MEMORY_EXTRA_GUIDELINES, "text added to the memory rules in the prompt"),
    variable(names::CONTEXT_COLLAPSE, "1 or 0: the switch `collapse`, as DORMOUSE_COLLAPSE"),
    variable(names::USER_HOME, "the user's home folder"),
    variable(
        names::XDG_RUNTIME_DIR,
        "where the sockets of sessions with a name are, in the folder `dormouse`; without it, in `run` in the home",
    ),
    variable(names::TMPDIR, "a temporary folder that commands in the sandbox may write to"),
    variable(
        names::SSH_AUTH_SOCK,
        "the socket of the SSH agent, which commands in the sandbox cannot reach",
    ),
    variable(names::PATH, "where programs are found"),
    variable(names::SHELL, "named to the model as the shell of the environment"),
    variable(names::VISUAL, "the editor for `dormouse memory edit`, over EDITOR"),
    variable(names::EDITOR, "the editor for `dormouse memory edit`; default vi"),
    variable(names::PAGER, "the pager for the output of a call (Ctrl-O); default less -R"),
    variable(names::TERM, "terminal type; `dumb` or unset disables cursor control"),
    variable(names::COLORTERM, "color support of the terminal"),
    variable(names::NO_COLOR, "disables colors and bold text if set"),
    variable(names::LC_ALL, "locale; takes precedence over LC_CTYPE and LANG"),
    variable(names::LC_CTYPE, "character locale; takes precedence over LANG"),
    variable(names::LANG, "the locale"),
    variable(names::FAULT, "debug builds only: a fault to inject, see CONTRIBUTING.md"),
    variable(names::TEST_MANAGED, "debug builds only: a folder instead of /etc/dormouse"),
    variable(names::TEST_NOW, "debug builds only: the time the clock shows"),
    variable(names::TEST_ECHO_GUARD, "debug builds only: 0 lets extraction learn from memory"),
    variable(names::TEST_DEADLINES, "debug builds only: deadlines that a test holds or shortens"),
    variable(names::TEST_SEED, "debug builds only: seed of new ids"),
];

/// A snapshot of the environment.
#[derive(Debug, Clone, Default)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// The environment of this process.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one door to the process's environment"
    )]
    pub fn of_process() -> Self {
        Self { variables: std::env::vars_os().collect() }
    }

    /// An environment made of these pairs.
    pub fn from_pairs<K: Into<OsString>, V: Into<OsString>>(
        pairs: impl IntoIterator<Item = (K, V)>,
    ) -> Self {
        Self {
            variables: pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        }
    }

    /// The values of all variables whose names say that they hold a key or a token, and which look like one.
    pub fn secrets(&self) -> Vec<Secret> {
        const ENDS: [&str; 8] =
            ["_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_PASSWD", "_CREDENTIALS", "_PAT", "_DSN"];
        let is_key = |name: &str| ENDS.iter().any(|end| name.to_uppercase().ends_with(end));
        // A shorter value, or a word, would take ordinary text out.
        let looks_secret = |value: &str| {
            value.len() >= 16
                && value.contains(|c: char| c.is_ascii_digit())
                && value.contains(char::is_alphabetic)
                && !value.contains(char::is_whitespace)
                && !value.starts_with('/')
        };
        let pairs = self
            .variables
            .iter()
            .filter_map(|(name, value)| Some((name.to_str()?, value.to_str()?)));
        let secrets = pairs.filter(|(name, value)| is_key(name) && looks_secret(value));
        secrets.map(|(_, value)| Secret::new(value)).collect()
    }

    /// A variable's value; one that is empty or not UTF-8 counts as not set.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(std::ffi::OsStr::new(name))?.to_str().filter(|value| !value.is_empty())
    }

    /// A variable's value as a path.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.variables
            .get(std::ffi::OsStr::new(name))
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    }

    /// The environment without a variable: a key is no business of a child process.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.variables.remove(std::ffi::OsStr::new(name));
        self
    }

    /// The environment with these variables set.
    #[must_use]
    pub fn with<'a>(mut self, pairs: impl IntoIterator<Item = &'a (&'a str, &'a str)>) -> Self {
        self.variables
            .extend(pairs.into_iter().map(|(name, value)| ((*name).into(), (*value).into())));
        self
    }

    /// Every pair, for handing on to a child process.
    pub fn pairs(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.variables.iter()
    }
}
