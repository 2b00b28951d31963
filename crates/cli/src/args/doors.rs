//! Arguments of the doors for other agents.

use clap::{Args, ValueEnum};

pub(crate) const MCP_HELP: &str = "\
Examples:
  dormouse mcp
  dormouse mcp --memory-tool
  dormouse mcp --http
  dormouse mcp --http --port 0

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
pub(crate) struct McpArguments {
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
