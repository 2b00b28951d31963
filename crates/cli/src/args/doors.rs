//! Arguments of the doors for other agents.

use clap::Args;

pub(crate) const MCP_HELP: &str = "\
Examples:
  dormouse mcp
  claude mcp add dormouse -- dormouse mcp
  dormouse mcp --http
  dormouse mcp --http --port 0

The server speaks on standard input and output; with --http on a port of this machine, whose address it prints, to
whoever sends the token in ~/.dormouse/mcp-token (`Authorization: Bearer TOKEN`). It offers tools (memory_save, memory_search, memory_recall,
memory_list, memory_read, memory_update, memory_delete, memory_undo), the memories and their index as
resources, and the rules about memory as a prompt.";

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
