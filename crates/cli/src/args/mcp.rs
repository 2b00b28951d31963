//! Arguments of `dormouse mcp`.

use clap::{Args, Subcommand};

use super::config::SettingsScope;

pub(crate) const MCP_EXAMPLES: &str = "\
dormouse mcp
dormouse mcp --memory-tool
dormouse mcp --http
dormouse mcp --http --port 0
dormouse mcp list";

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct McpArguments {
    #[command(subcommand)]
    pub(crate) command: Option<McpCommand>,
    #[arg(long)]
    pub(crate) http: bool,
    #[arg(long, value_name = "N", default_value_t = 7437, requires = "http")]
    pub(crate) port: u16,
    #[arg(long)]
    pub(crate) memory_tool: bool,
}

// Commands for the MCP servers that Dormouse itself uses.
#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    #[command(visible_alias = "ls", after_help = "dormouse mcp list\ndormouse mcp list --json")]
    List {
        #[arg(long)]
        json: bool,
    },
    #[command(
        after_help = "dormouse mcp add files -- npx -y @modelcontextprotocol/server-filesystem /data\ndormouse mcp add tracker --url https://tracker.example/mcp --header 'Authorization: Bearer ${TRACKER_TOKEN}'\ndormouse mcp add db --env DB_URL=postgres://localhost/app --scope local -- db-mcp"
    )]
    Add(McpAddArguments),
    #[command(visible_alias = "rm", after_help = "dormouse mcp remove files")]
    Remove {
        name: String,
        #[arg(
            id = "settings_scope",
            long = "scope",
            value_enum,
            value_name = "SCOPE",
            default_value_t = SettingsScope::User
        )]
        scope: SettingsScope,
    },
    #[command(after_help = "dormouse mcp login tracker")]
    Login { name: String },
    #[command(after_help = "dormouse mcp logout tracker")]
    Logout { name: String },
}

#[derive(Debug, Args)]
pub(crate) struct McpAddArguments {
    pub(crate) name: String,
    #[arg(
            id = "settings_scope",
            long = "scope",
            value_enum,
            value_name = "SCOPE",
            default_value_t = SettingsScope::User
        )]
    pub(crate) scope: SettingsScope,
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    #[arg(long, value_name = "HEADER", requires = "url")]
    pub(crate) header: Vec<String>,
    #[arg(long, value_name = "NAME=VALUE", conflicts_with = "url")]
    pub(crate) env: Vec<String>,
    // A command without `--` before it: accepted, so that the error can say what is missing.
    #[arg(hide = true)]
    pub(crate) stray: Vec<String>,
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
}
