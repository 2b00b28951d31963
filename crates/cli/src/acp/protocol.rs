//! The messages of the Agent Client Protocol (version 1), as far as this agent speaks it.
//!
//! The crate of the protocol's authors is not used: it makes `serde_json` keep the order of every map of the program, and with
//! it the order in which an MCP server happens to send its schemas, which must not show in requests.

use std::path::PathBuf;

use dormouse_tools::TerminalEnd;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version that is spoken.
pub(super) const VERSION: u16 = 1;

/// `initialize`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Initialize {
    pub(super) client_capabilities: Option<ClientCapabilities>,
}

/// What an editor offers.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(default)]
pub(super) struct ClientCapabilities {
    pub(super) fs: Option<FileCapabilities>,
    pub(super) terminal: bool,
}

/// Which files an editor reads and writes for an agent.
#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct FileCapabilities {
    pub(super) read_text_file: bool,
    pub(super) write_text_file: bool,
}

/// The answer to `fs/read_text_file`, which this agent sends.
#[derive(Debug, Deserialize)]
pub(super) struct EditorFileText {
    pub(super) content: String,
}

/// The answer to `terminal/create`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TerminalId {
    pub(super) terminal_id: String,
}

/// The answer to `terminal/output`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct TerminalOutput {
    pub(super) output: String,
    #[serde(default)]
    pub(super) truncated: bool,
}

/// The answer to `terminal/wait_for_exit`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct TerminalExit {
    exit_code: Option<i32>,
    signal: Option<String>,
}

impl TerminalExit {
    /// How the command ended. An editor that does not say counts as a failure.
    pub(super) fn end(self) -> TerminalEnd {
        match (self.exit_code, self.signal) {
            (Some(code), _) => TerminalEnd::Code(code),
            (None, Some(signal)) => TerminalEnd::Signal(signal),
            (None, None) => TerminalEnd::Code(1),
        }
    }
}

/// `session/new`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct NewSession {
    pub(super) cwd: PathBuf,
    #[serde(default)]
    pub(super) mcp_servers: Vec<OfferedServer>,
}

/// An MCP server that the editor offers.
#[derive(Debug, Deserialize)]
pub(super) struct OfferedServer {
    /// None for a program on standard input and output.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) name: String,
    pub(super) command: Option<String>,
    #[serde(default)]
    pub(super) args: Vec<String>,
    #[serde(default)]
    pub(super) env: Vec<NamedValue>,
    pub(super) url: Option<String>,
    #[serde(default)]
    pub(super) headers: Vec<NamedValue>,
}

/// A variable or a header.
#[derive(Debug, Deserialize)]
pub(super) struct NamedValue {
    pub(super) name: String,
    pub(super) value: String,
}

/// `session/load`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LoadSession {
    pub(super) session_id: String,
    pub(super) cwd: PathBuf,
    #[serde(default)]
    pub(super) mcp_servers: Vec<OfferedServer>,
}

/// `session/list`.
#[derive(Debug, Deserialize)]
pub(super) struct ListSessions {
    pub(super) cwd: Option<PathBuf>,
}

/// `session/prompt`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Prompt {
    pub(super) session_id: String,
    pub(super) prompt: Vec<PromptBlock>,
}

/// `session/set_mode`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetMode {
    pub(super) session_id: String,
    pub(super) mode_id: String,
}

/// `session/cancel`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CancelTurn {
    pub(super) session_id: String,
}

/// A part of a prompt.
#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum PromptBlock {
    Text {
        text: String,
    },
    #[serde(rename_all = "camelCase")]
    Image {
        data: String,
        mime_type: String,
    },
    ResourceLink {
        uri: String,
    },
    Resource {
        resource: EmbeddedText,
    },
    /// Sound, and what later versions add.
    #[serde(other)]
    Unsupported,
}

/// A file, or the unsaved buffer of one, that the editor sends along.
#[derive(Debug, Deserialize)]
pub(super) struct EmbeddedText {
    pub(super) uri: String,
    /// None for bytes that are not a text.
    pub(super) text: Option<String>,
}

/// The parameters of `session/update`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UpdateOf<'a> {
    pub(super) session_id: &'a str,
    pub(super) update: EditorUpdate,
}

/// What changes on the editor's screen.
#[derive(Debug, Serialize)]
#[serde(tag = "sessionUpdate", rename_all = "snake_case")]
pub(super) enum EditorUpdate {
    UserMessageChunk {
        content: TextPart,
    },
    AgentMessageChunk {
        content: TextPart,
    },
    AgentThoughtChunk {
        content: TextPart,
    },
    ToolCall(ShownCall),
    ToolCallUpdate(ShownCall),
    Plan {
        entries: Vec<PlanStep>,
    },
    #[serde(rename_all = "camelCase")]
    AvailableCommandsUpdate {
        available_commands: Vec<AvailableCommand>,
    },
}

/// A slash command.
#[derive(Debug, Serialize)]
pub(super) struct AvailableCommand {
    pub(super) name: String,
    pub(super) description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) input: Option<CommandHint>,
}

/// What may follow a command.
#[derive(Debug, Serialize)]
pub(super) struct CommandHint {
    pub(super) hint: String,
}

/// A text.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "text")]
pub(super) struct TextPart {
    pub(super) text: String,
}

impl TextPart {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self { text: text.into() }
    }
}

/// A tool call, or what has changed of it.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ShownCall {
    pub(super) tool_call_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) title: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) kind: Option<CallKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) status: Option<ShownStatus>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) content: Vec<CallContent>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) locations: Vec<FilePlace>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) raw_input: Option<Value>,
}

/// What a call does.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum CallKind {
    Read,
    Edit,
    Search,
    Execute,
    Fetch,
    SwitchMode,
    Other,
}

/// How far a call is.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ShownStatus {
    InProgress,
    Completed,
    Failed,
}

/// What a call shows.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum CallContent {
    Content {
        content: TextPart,
    },
    #[serde(rename_all = "camelCase")]
    Diff {
        path: PathBuf,
        old_text: Option<String>,
        new_text: String,
    },
    #[serde(rename_all = "camelCase")]
    Terminal {
        terminal_id: String,
    },
}

impl CallContent {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Content { content: TextPart::new(text) }
    }
}

/// A place in a file.
#[derive(Debug, Serialize)]
pub(super) struct FilePlace {
    pub(super) path: PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<u64>,
}

/// A step of a plan.
#[derive(Debug, Serialize)]
pub(super) struct PlanStep {
    pub(super) content: String,
    pub(super) priority: &'static str,
    pub(super) status: String,
}

/// `session/request_permission`, which this agent sends.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionQuestion {
    pub(super) tool_call: ShownCall,
    pub(super) options: Vec<PermissionChoice>,
}

/// An answer that the user may choose.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PermissionChoice {
    pub(super) option_id: &'static str,
    pub(super) name: String,
    pub(super) kind: &'static str,
}

/// The editor's answer to it.
#[derive(Debug, Deserialize)]
pub(super) struct PermissionAnswerMessage {
    pub(super) outcome: PermissionOutcome,
}

/// What the user chose.
#[derive(Debug, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(super) enum PermissionOutcome {
    #[serde(rename_all = "camelCase")]
    Selected { option_id: String },
    #[serde(other)]
    Cancelled,
}
