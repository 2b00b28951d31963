//! Arguments of the doors for other agents.

use clap::{Args, Subcommand, ValueEnum};

use super::Scope;

pub(crate) const MCP_HELP: &str = "\
Examples:
  dormouse mcp
  dormouse mcp --memory-tool
  dormouse mcp --http
  dormouse mcp --http --port 0
  dormouse mcp list

The server speaks on standard input and output; with --http on a port of this machine, whose address it prints, to
whoever sends the token in ~/.dormouse/mcp-token (`Authorization: Bearer TOKEN`). It offers tools (memory_save, memory_search, memory_recall,
memory_list, memory_read, memory_update, memory_delete, memory_undo), the memories and their index as
resources, and the rules about memory as a prompt.";

pub(crate) const HOOK_HELP: &str = "\
Events: session-start (the rules and the index), prompt (what is remembered about it), stop (the transcript is noted for
later). Names that agents have for these events are understood as well.

Example:
  echo '{\"prompt\":\"how do we deploy?\",\"cwd\":\"/home/me/app\"}' | dormouse hook prompt

It never fails: where something is wrong it prints nothing, exits with 0, and says why in ~/.dormouse/hooks/hook.log.";

pub(crate) const SETUP_HELP: &str = "\
Examples:
  dormouse setup claude-code
  dormouse setup codex --yes
  dormouse setup codex --undo

The lines are shown first. --undo takes out just what was put in, also after somebody else has changed the file.";

#[derive(Debug, Args)]
pub(crate) struct SetupArguments {
    /// The agent
    #[arg(value_enum)]
    pub(crate) agent: SetupAgent,
    /// Without a question
    #[arg(long)]
    pub(crate) yes: bool,
    /// Take the lines out again
    #[arg(long)]
    pub(crate) undo: bool,
    /// How the agent is to call this program
    #[arg(long, value_name = "PROGRAM", default_value = "dormouse")]
    pub(crate) program: String,
}

/// Agents that can be set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SetupAgent {
    /// ~/.claude.json, and hooks in ~/.claude/settings.json
    ClaudeCode,
    /// ~/.codex/config.toml
    Codex,
    /// ~/.gemini/settings.json
    #[value(alias = "gemini")]
    GeminiCli,
    /// ~/.config/opencode/opencode.json or .jsonc
    Opencode,
    /// ~/.config/goose/config.yaml
    Goose,
    /// ~/.cursor/mcp.json
    Cursor,
    /// .vscode/mcp.json of this project
    #[value(name = "vscode", alias = "vs-code")]
    VsCode,
}

#[derive(Debug, Args)]
pub(crate) struct HookArguments {
    /// The event
    #[arg(allow_hyphen_values = true, num_args = 0.., trailing_var_arg = true)]
    pub(crate) event: Vec<String>,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArguments {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    /// Serve streamable HTTP on a port of this machine, to several clients
    #[arg(long)]
    pub(crate) http: bool,
    /// The port; 0 takes any that is free
    #[arg(long, value_name = "N", default_value_t = 7437, requires = "http")]
    pub(crate) port: u16,
    /// Offer the Anthropic memory tool as well: files under /memories, which are this project's memories
    #[arg(long)]
    pub(crate) memory_tool: bool,
}

/// The servers that this agent uses.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// List the MCP servers that this agent uses: connects to each and shows its tools
    #[command(after_help = "Examples:\n  dormouse mcp list\n  dormouse mcp list --json")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Set up an MCP server for this agent to use
    #[command(
        after_help = "Examples:\n  dormouse mcp add files -- npx -y @modelcontextprotocol/server-filesystem /data\n  dormouse mcp add tracker --url https://tracker.example/mcp --header 'Authorization: Bearer ${TRACKER_TOKEN}'\n  dormouse mcp add db --env DB_URL=postgres://localhost/app --scope local -- db-mcp"
    )]
    Add(McpAddArguments),
    /// Take an MCP server out of the settings
    #[command(after_help = "Example:\n  dormouse mcp remove files")]
    Remove {
        /// Its name
        name: String,
        /// Whose settings
        #[arg(long, value_enum, default_value_t = Scope::User)]
        scope: Scope,
    },
}

#[derive(Debug, Args)]
pub(crate) struct McpAddArguments {
    /// Its name, which stands in front of its tools' names
    pub(crate) name: String,
    /// Whose settings
    #[arg(long, value_enum, default_value_t = Scope::User)]
    pub(crate) scope: Scope,
    /// Its address, for a server behind one
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// A header to send along, as in 'Name: value'; may be given several times
    #[arg(long, value_name = "HEADER", requires = "url")]
    pub(crate) header: Vec<String>,
    /// A variable for the program, as in NAME=value; may be given several times
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url")]
    pub(crate) env: Vec<String>,
    /// A command without `--` in front: taken, to say what is missing
    #[arg(hide = true)]
    pub(crate) stray: Vec<String>,
    /// The program and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}

pub(crate) const HOOKS_HELP: &str = "\
Examples:
  dormouse hooks
  dormouse hooks PreToolUse --tool Bash --input '{\"command\":\"git push\"}'
  dormouse hooks SessionStart --tool startup --json | jq '.hooks[] | select(.runs | not)'";

#[derive(Debug, Args)]
pub(crate) struct HooksArguments {
    /// The event, such as `PreToolUse`; without it, the hooks of all events
    pub(crate) event: Option<String>,
    /// What matchers are compared with: the tool, or the source or reason of other events
    #[arg(long, value_name = "NAME", requires = "event")]
    pub(crate) tool: Option<String>,
    /// The call's arguments, for hooks that have an `if`
    #[arg(long, value_name = "JSON", requires = "tool")]
    pub(crate) input: Option<String>,
    /// Settings to read as well, as a run would: a file, or JSON
    #[arg(long, value_name = "FILE|JSON")]
    pub(crate) settings: Option<String>,
    /// As JSON
    #[arg(long)]
    pub(crate) json: bool,
}
