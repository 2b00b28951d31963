//! How the program treats a tool, whatever the arguments of a call are.
//!
//! A tool carries its traits in its description; whoever reads a transcript looks them up by name, since the tools of
//! that session may not be there any more ([`known_tools`](crate::known_tools)).

/// The properties of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ToolTraits {
    /// The tool whose permission rules cover this one as well.
    pub rule_family: Option<&'static str>,
    /// Whether it belongs to MCP servers, whose tools may change during a session.
    pub is_mcp: bool,
    /// Who wrote its output.
    pub author: OutputAuthor,
    /// What calls of it are for.
    pub purpose: ToolPurpose,
    /// What it does with the file of its `file_path`.
    pub file_use: Option<FileUse>,
    /// How the model is told of it.
    pub listing: ToolListing,
    /// Whether it acts on its own conversation: forks and subagents do not inherit it.
    pub session_bound: bool,
    /// Whether old results may be cleared: the call can be repeated, or the result only confirms it.
    pub clearable: bool,
    /// The argument that a call is mainly about.
    pub main_argument: Option<&'static str>,
    /// How a call is shown in one line.
    pub label: CallLabel,
    /// How a successful result is shown.
    pub result_display: ResultDisplay,
}

/// How the model is told of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolListing {
    /// Its definition is among the tools of every request.
    Defined,
    /// It is seldom needed: the model is told its name, and its definition when it asks. In small windows this makes no
    /// difference.
    ByName,
}

/// Who wrote the output of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OutputAuthor {
    /// The project: files, and programs run in it.
    Project,
    /// Anybody: web pages, MCP servers.
    Outside,
    /// The program itself: memories, skills, confirmations.
    Program,
}

/// What calls of a tool are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolPurpose {
    /// Work on the task.
    Work,
    /// Planning it.
    Planning,
    /// Reading memories.
    MemoryRead,
    /// Writing memories.
    MemoryWrite,
}

impl ToolPurpose {
    /// Whether the tool is for memories.
    pub const fn is_memory(self) -> bool {
        matches!(self, Self::MemoryRead | Self::MemoryWrite)
    }
}

/// What a tool does with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileUse {
    /// Reads it.
    Reads,
    /// Writes it whole.
    Writes,
    /// Edits a part of it.
    Edits,
}

impl FileUse {
    /// Whether the file is changed.
    pub const fn changes(self) -> bool {
        matches!(self, Self::Writes | Self::Edits)
    }
}

/// How a call is shown in one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallLabel {
    /// The name and all arguments.
    Arguments,
    /// The name alone.
    Name,
    /// The name and the command; permission prompts show the whole command.
    Command,
    /// The name and the file.
    File,
    /// The name, the pattern and the folder.
    Search,
    /// The name and one argument.
    Argument(&'static str),
    /// The name, the subagent and its task.
    Subagent,
    /// The name, the receiver and the summary.
    Message,
    /// The name, the command and the path in a memory directory.
    MemoryFile,
    /// A plan, which permission prompts show in full.
    Plan,
}

/// How a successful result is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultDisplay {
    /// A single line, or the number of lines.
    Output,
    /// The number of lines.
    LineCount,
    /// Nothing: the label says it all.
    Hidden,
    /// The to-do list.
    TodoList,
    /// The web addresses in it.
    Links,
}

impl ToolTraits {
    /// A tool about which nothing special is known.
    pub const DEFAULT: Self = Self {
        rule_family: None,
        is_mcp: false,
        author: OutputAuthor::Project,
        purpose: ToolPurpose::Work,
        file_use: None,
        listing: ToolListing::Defined,
        session_bound: false,
        clearable: false,
        main_argument: None,
        label: CallLabel::Arguments,
        result_display: ResultDisplay::Output,
    };

    /// A tool of an MCP server.
    pub const MCP: Self = Self { is_mcp: true, author: OutputAuthor::Outside, ..Self::DEFAULT };
}
