//! The tools that the program has, by name, with their traits.
//!
//! The one place where a tool's name is written down: descriptions of tools, prompts, settings and readers of
//! transcripts take it from here.

use crate::tool_traits::{
    CallLabel, FileUse, OutputAuthor, ResultDisplay, ToolListing, ToolPurpose, ToolTraits,
};

/// Start of the names of all tools of MCP servers: `mcp__server__tool`.
pub const MCP_PREFIX: &str = "mcp__";

/// A tool by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownTool {
    /// The name by which the model calls it.
    pub name: &'static str,
    /// Its traits.
    pub traits: ToolTraits,
}

const fn tool(name: &'static str, traits: ToolTraits) -> KnownTool {
    KnownTool { name, traits }
}

const WORK: ToolTraits = ToolTraits::DEFAULT;
const OF_SESSION: ToolTraits = ToolTraits { session_bound: true, ..WORK };
const PLANNING: ToolTraits = ToolTraits {
    author: OutputAuthor::Program,
    purpose: ToolPurpose::Planning,
    label: CallLabel::Name,
    ..WORK
};
const MEMORY_READER: ToolTraits =
    ToolTraits { author: OutputAuthor::Program, purpose: ToolPurpose::MemoryRead, ..WORK };
const MEMORY_WRITER: ToolTraits = ToolTraits { purpose: ToolPurpose::MemoryWrite, ..MEMORY_READER };
/// Its results can be had again.
const REPEATABLE: ToolTraits = ToolTraits { clearable: true, ..WORK };
const FILE: ToolTraits =
    ToolTraits { main_argument: Some("file_path"), label: CallLabel::File, ..REPEATABLE };

/// It is about a background command.
const OF_SHELL: ToolTraits =
    ToolTraits { listing: ToolListing::ByName, label: CallLabel::Argument("shell_id"), ..WORK };

/// Starts a subagent.
pub const AGENT: KnownTool = tool("Agent", ToolTraits { label: CallLabel::Subagent, ..OF_SESSION });
/// Runs a command.
pub const BASH: KnownTool = tool(
    "Bash",
    ToolTraits { main_argument: Some("command"), label: CallLabel::Command, ..REPEATABLE },
);
/// Shows the output of a background command.
pub const BASH_OUTPUT: KnownTool = tool("BashOutput", OF_SHELL);
/// Replaces text in a file.
pub const EDIT: KnownTool = tool(
    "Edit",
    ToolTraits { file_use: Some(FileUse::Edits), result_display: ResultDisplay::Hidden, ..FILE },
);
/// Submits a plan.
pub const EXIT_PLAN: KnownTool = tool(
    "ExitPlan",
    ToolTraits {
        listing: ToolListing::ByName,
        session_bound: true,
        label: CallLabel::Plan,
        result_display: ResultDisplay::Hidden,
        ..PLANNING
    },
);
/// Finds files by name.
pub const GLOB: KnownTool = tool(
    "Glob",
    ToolTraits { rule_family: Some(READ.name), label: CallLabel::Search, ..REPEATABLE },
);
/// Finds text in files.
pub const GREP: KnownTool = tool("Grep", GLOB.traits);
/// Ends a background command.
pub const KILL_SHELL: KnownTool = tool("KillShell", OF_SHELL);
/// Calls a tool of an MCP server by name.
pub const MCP_CALL: KnownTool = tool("McpCall", ToolTraits::MCP);
/// The Anthropic memory tool.
pub const MEMORY_FILES: KnownTool =
    tool("memory", ToolTraits { label: CallLabel::MemoryFile, ..MEMORY_WRITER });
/// Deletes a memory.
pub const MEMORY_DELETE: KnownTool =
    tool("MemoryDelete", ToolTraits { label: CallLabel::Argument("file"), ..MEMORY_WRITER });
/// Lists memories.
pub const MEMORY_LIST: KnownTool = tool("MemoryList", MEMORY_READER);
/// Adds to the daily log.
pub const MEMORY_LOG: KnownTool = tool("MemoryLog", MEMORY_WRITER);
/// Saves a memory.
pub const MEMORY_SAVE: KnownTool =
    tool("MemorySave", ToolTraits { label: CallLabel::Argument("name"), ..MEMORY_WRITER });
/// Searches memories.
pub const MEMORY_SEARCH: KnownTool =
    tool("MemorySearch", ToolTraits { label: CallLabel::Argument("query"), ..MEMORY_READER });
/// Describes seldom needed tools and passes calls on to them.
pub const MORE_TOOLS: KnownTool = tool(
    "MoreTools",
    ToolTraits {
        author: OutputAuthor::Program,
        label: CallLabel::Argument("tool"),
        result_display: ResultDisplay::LineCount,
        ..OF_SESSION
    },
);
/// Changes a cell of a notebook.
pub const NOTEBOOK_EDIT: KnownTool = tool(
    "NotebookEdit",
    ToolTraits {
        listing: ToolListing::ByName,
        rule_family: Some(EDIT.name),
        result_display: ResultDisplay::Output,
        ..EDIT.traits
    },
);
/// Shows a file.
pub const READ: KnownTool = tool(
    "Read",
    ToolTraits { file_use: Some(FileUse::Reads), result_display: ResultDisplay::LineCount, ..FILE },
);
/// Sends a message to another agent.
pub const SEND_MESSAGE: KnownTool = tool(
    "SendMessage",
    ToolTraits { listing: ToolListing::ByName, label: CallLabel::Message, ..OF_SESSION },
);
/// The web search of the model's server.
pub const SERVER_WEB_SEARCH: KnownTool =
    tool("web_search", ToolTraits { rule_family: Some(WEB_SEARCH.name), ..WEB_SEARCH.traits });
/// Uses a skill.
pub const SKILL: KnownTool = tool(
    "Skill",
    ToolTraits { author: OutputAuthor::Program, label: CallLabel::Argument("skill"), ..OF_SESSION },
);
/// Keeps the to-do list.
pub const TODO_WRITE: KnownTool =
    tool("TodoWrite", ToolTraits { result_display: ResultDisplay::TodoList, ..PLANNING });
/// Fetches a web page.
pub const WEB_FETCH: KnownTool = tool(
    "WebFetch",
    ToolTraits {
        author: OutputAuthor::Outside,
        main_argument: Some("url"),
        label: CallLabel::Argument("url"),
        ..REPEATABLE
    },
);
/// Searches the web.
pub const WEB_SEARCH: KnownTool = tool(
    "WebSearch",
    ToolTraits {
        rule_family: Some(WEB_FETCH.name),
        main_argument: Some("query"),
        label: CallLabel::Argument("query"),
        result_display: ResultDisplay::Links,
        ..WEB_FETCH.traits
    },
);
/// Writes a file.
pub const WRITE: KnownTool = tool(
    "Write",
    ToolTraits { rule_family: Some(EDIT.name), file_use: Some(FileUse::Writes), ..EDIT.traits },
);

/// All tools of the program, whichever of them a session has. Those of MCP servers are not among them.
pub const KNOWN_TOOLS: &[KnownTool] = &[
    AGENT,
    BASH,
    BASH_OUTPUT,
    EDIT,
    EXIT_PLAN,
    GLOB,
    GREP,
    KILL_SHELL,
    MCP_CALL,
    MEMORY_DELETE,
    MEMORY_FILES,
    MEMORY_LIST,
    MEMORY_LOG,
    MEMORY_SAVE,
    MEMORY_SEARCH,
    MORE_TOOLS,
    NOTEBOOK_EDIT,
    READ,
    SEND_MESSAGE,
    SERVER_WEB_SEARCH,
    SKILL,
    TODO_WRITE,
    WEB_FETCH,
    WEB_SEARCH,
    WRITE,
];

/// Tools of other agents, in their transcripts and in rules that users bring along.
pub const FOREIGN_TOOLS: &[KnownTool] = &[
    tool("ExitPlanMode", PLANNING),
    tool("MultiEdit", ToolTraits { clearable: false, ..EDIT.traits }),
    tool("Task", WORK),
];

/// The traits of the tool of that name.
pub fn traits_of(name: &str) -> ToolTraits {
    let mut known = KNOWN_TOOLS.iter().chain(FOREIGN_TOOLS);
    match known.find(|tool| tool.name == name) {
        Some(tool) => tool.traits,
        None if name.starts_with(MCP_PREFIX) => ToolTraits::MCP,
        None => ToolTraits::DEFAULT,
    }
}

/// Whether the name is that of a tool of the program, of an MCP server or of another agent.
pub fn is_known(name: &str) -> bool {
    name.starts_with(MCP_PREFIX)
        || KNOWN_TOOLS.iter().chain(FOREIGN_TOOLS).any(|tool| tool.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        let known = KNOWN_TOOLS.iter().chain(FOREIGN_TOOLS);
        let mut names: Vec<&str> = known.map(|tool| tool.name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn tools_are_found_by_name() {
        assert_eq!(traits_of("Write").file_use, Some(FileUse::Writes));
        assert_eq!(traits_of("mcp__a__b"), ToolTraits::MCP);
        assert_eq!(traits_of("read"), ToolTraits::DEFAULT);
        assert!(is_known("Task") && !is_known("Taks"));
    }
}
