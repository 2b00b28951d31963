//! Arguments of the doors for other agents.

use clap::Args;

pub(crate) const MCP_HELP: &str = "\
Examples:
  dormouse mcp
  claude mcp add dormouse -- dormouse mcp

The server speaks on standard input and output. It offers tools (memory_save, memory_search, memory_recall,
memory_list, memory_read, memory_update, memory_delete, memory_undo), the memories and their index as
resources, and the rules about memory as a prompt.";

#[derive(Debug, Args)]
pub(crate) struct McpArguments {}
