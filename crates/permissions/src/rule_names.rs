//! Tool names with a meaning in the syntax of rules: they decide how a pattern is read and what it covers.

/// Rules for commands: `Bash(git diff:*)`.
pub const COMMAND_RULE: &str = "Bash";
/// Rules for hosts: `WebFetch(domain:example.com)`.
pub const HOST_RULE: &str = "WebFetch";
/// Rules for searches name the host of the search server.
pub const SEARCH_RULE: &str = "WebSearch";
/// Rules for every tool that reads or searches files, and for files named in commands: `Read(.env)`.
pub const READ_RULE: &str = "Read";
/// Rules for every tool that writes files: `Edit(src/**)`.
pub const EDIT_RULE: &str = "Edit";
/// Start of the names of all tools of MCP servers: `mcp__server__tool`.
pub const MCP_TOOL_PREFIX: &str = "mcp__";
