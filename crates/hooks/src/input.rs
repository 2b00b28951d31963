//! The JSON that hooks get on standard input, with the field names of existing hook scripts.

use std::borrow::Cow;
use std::path::Path;

use dormouse_base::SessionId;
use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_conversation::{Block, BlockKind, ResultContent, ToolUse};
use dormouse_tools::ToolSet;
use serde::Serialize;
use serde_json::value::{RawValue, to_raw_value};

/// Why a session starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionSource {
    /// The program was started.
    Startup,
    /// An earlier session was resumed.
    Resume,
    /// The session before it was cleared.
    Clear,
    /// The conversation was compacted.
    Compact,
}

impl SessionSource {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Startup => "startup",
            Self::Resume => "resume",
            Self::Clear => "clear",
            Self::Compact => "compact",
        }
    }
}

/// Why a session ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SessionEndReason {
    /// The session was cleared.
    Clear,
    /// The user quit.
    PromptInputExit,
    /// Anything else.
    Other,
}

impl SessionEndReason {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::PromptInputExit => "prompt_input_exit",
            Self::Other => "other",
        }
    }
}

/// Why `Setup` hooks run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SetupTrigger {
    /// `--init`.
    Init,
    /// `--maintenance`.
    Maintenance,
}

impl SetupTrigger {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Maintenance => "maintenance",
        }
    }
}

/// A tool call with its result, for `PostToolBatch`.
#[expect(clippy::struct_field_names, reason = "the names are those of the contract")]
#[derive(Debug, Serialize)]
pub struct BatchCall<'a> {
    tool_name: Cow<'a, str>,
    tool_input: Cow<'a, RawValue>,
    tool_use_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_response: Option<Box<RawValue>>,
}

impl<'a> BatchCall<'a> {
    /// Finds the result of a call. A call that forwards to another tool is shown as a call of that tool.
    pub fn new(call: ToolUse<'a>, tools: &ToolSet, results: &[Block]) -> Self {
        let input = tools.repaired(call).input;
        let forwarded = tools.get(call.name).and_then(|tool| tool.forwards(&input));
        let (tool_name, tool_input) = match forwarded {
            Some(call) => (Cow::Owned(call.tool.name().to_owned()), Cow::Owned(call.input)),
            None => (Cow::Borrowed(call.name), input),
        };
        let is_of_call =
            |block: &&Block| matches!(block.kind(), BlockKind::ToolResult { id } if id == call.id);
        let result = results.iter().find(is_of_call).and_then(Block::result_content);
        Self {
            tool_name,
            tool_input,
            tool_use_id: call.id.as_str(),
            tool_response: result.map(|content| result_json(&content)),
        }
    }
}

/// A memory that was written or proposed.
#[derive(Debug, Clone, Serialize)]
pub struct SavedMemory {
    /// The name of its file.
    pub memory: String,
    /// Its path.
    pub file_path: std::path::PathBuf,
    /// `added`, `changed`, `removed` or `proposed`.
    pub effect: &'static str,
}

/// The fields of every event.
#[derive(Debug, Serialize)]
pub(crate) struct CommonInput<'a> {
    pub(crate) session_id: SessionId,
    pub(crate) transcript_path: &'a Path,
    pub(crate) cwd: &'a Path,
    pub(crate) hook_event_name: &'static str,
    pub(crate) permission_mode: &'static str,
    /// The user's prompt that is being worked on; none before the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prompt_id: Option<String>,
    /// Only if it is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) effort: Option<EffortInput>,
    /// Set for subagents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) agent_type: Option<&'a str>,
}

/// How hard the model thinks.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct EffortInput {
    pub(crate) level: &'static str,
}

/// Who sends a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptSource {
    /// A user at the terminal.
    User,
    /// A program: a headless run.
    Sdk,
}

/// What the user has called with `/name`, and what it stands for.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PromptExpansion<'a> {
    /// `slash_command` for a skill or a command, `mcp_prompt` for the prompt of an MCP server.
    pub expansion_type: &'static str,
    /// The name.
    pub command_name: &'a str,
    /// What stands behind it.
    pub command_args: &'a str,
    /// Whose it is: `user`, `project`, `plugin` or `mcp`.
    pub command_source: &'static str,
    /// The whole prompt.
    pub prompt: &'a str,
}

/// The fields of one event.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum EventInput<'a> {
    Tool {
        tool_name: &'a str,
        tool_input: &'a RawValue,
        tool_use_id: &'a str,
    },
    Asked {
        tool_name: &'a str,
        tool_input: &'a RawValue,
        tool_use_id: &'a str,
        reason: &'a str,
    },
    Done {
        tool_name: &'a str,
        tool_input: &'a RawValue,
        tool_use_id: &'a str,
        tool_response: &'a RawValue,
        duration_ms: u64,
    },
    Failed {
        tool_name: &'a str,
        tool_input: &'a RawValue,
        tool_use_id: &'a str,
        error: &'a str,
        is_interrupt: bool,
        duration_ms: u64,
    },
    Prompt {
        prompt: &'a str,
        source: PromptSource,
    },
    Start {
        source: SessionSource,
        model: &'a str,
    },
    End {
        reason: SessionEndReason,
    },
    Stop {
        stop_hook_active: bool,
        last_assistant_message: &'a str,
    },
    StopFailure {
        error: &'a str,
    },
    Notification {
        message: &'a str,
        notification_type: &'a str,
    },
    PreCompact {
        trigger: CompactionTrigger,
        custom_instructions: Option<&'a str>,
    },
    PostCompact {
        trigger: CompactionTrigger,
        compact_summary: &'a str,
    },
    Instructions {
        file_path: &'a Path,
        memory_type: &'static str,
        load_reason: &'static str,
        #[serde(skip_serializing_if = "<[String]>::is_empty")]
        globs: &'a [String],
        #[serde(skip_serializing_if = "Option::is_none")]
        trigger_file_path: Option<&'a Path>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_file_path: Option<&'a Path>,
    },
    Batch {
        tool_calls: &'a [BatchCall<'a>],
    },
    Expansion(PromptExpansion<'a>),
    SubagentStart {
        /// For the matcher; [`CommonInput`] has it as well.
        #[serde(skip)]
        agent_type: &'a str,
    },
    SubagentStop {
        #[serde(skip)]
        agent_type: &'a str,
        stop_hook_active: bool,
        agent_transcript_path: &'a Path,
        last_assistant_message: &'a str,
    },
    Config {
        source: &'static str,
        file_path: &'a Path,
    },
    Cwd {
        old_cwd: &'a str,
        new_cwd: &'a Path,
    },
    File {
        file_path: &'a Path,
        event: &'static str,
    },
    Saved(&'a MemorySavedEvent<'a>),
    Recalled(&'a MemoryRecalledEvent<'a>),
    DreamStart {
        dream_id: &'a str,
        sessions: usize,
        scopes: &'a [String],
    },
    DreamEnd(&'a DreamEndEvent<'a>),
    Synced(&'a TeamSyncedEvent),
    Setup {
        trigger: SetupTrigger,
    },
}

/// Memories were written or proposed.
#[derive(Debug, Clone, Serialize)]
pub struct MemorySavedEvent<'a> {
    /// The scope of the memories.
    pub scope: &'a str,
    /// Who wrote them.
    pub author: &'a str,
    /// The memories.
    pub memories: &'a [SavedMemory],
    /// The id of the proposal, if they wait for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proposal: Option<&'a str>,
}

/// Memories were attached to a message.
#[derive(Debug, Serialize)]
pub struct MemoryRecalledEvent<'a> {
    /// `local` or `selector`.
    pub step: &'static str,
    /// The search text.
    pub query: &'a str,
    /// Tokens of all memories together.
    pub tokens: u32,
    /// How many memories were searched.
    pub considered: usize,
    /// The memories.
    pub memories: Vec<RecalledMemoryInput<'a>>,
}

/// A recalled memory.
#[derive(Debug, Serialize)]
pub struct RecalledMemoryInput<'a> {
    /// The name of its file.
    pub memory: &'a str,
    /// Its path.
    pub file_path: &'a str,
    /// Its scope.
    pub scope: &'a str,
    /// Its estimated tokens.
    pub tokens: u32,
    /// Why it was chosen.
    pub why: &'a str,
}

/// A dream has ended.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct DreamEndEvent<'a> {
    /// The id of the dream.
    #[serde(rename = "dream_id")]
    pub id: &'a str,
    /// How it ended; matchers are compared with it.
    pub status: &'a str,
    /// How many memories were improved.
    pub improved: usize,
    /// The report in one line.
    pub headline: &'a str,
    /// The report as JSON.
    pub report: &'a RawValue,
}

/// Team memories came in or went out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TeamSyncedEvent {
    /// The repository's name on the server; matchers are compared with it.
    pub repository: String,
    /// Memories that came in.
    pub pulled: Vec<PulledMemory>,
    /// Files of memories that were deleted for everybody.
    pub removed: Vec<String>,
    /// Files of memories that were sent, proposals included.
    pub pushed: Vec<String>,
}

/// A team memory that came in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PulledMemory {
    /// The name of its file.
    pub memory: String,
    /// Who wrote it.
    pub author: String,
}

/// The tool call that an event belongs to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallInput<'a> {
    pub(crate) tool_name: &'a str,
    pub(crate) tool_input: &'a RawValue,
}

impl EventInput<'_> {
    /// The subject that matchers are compared with.
    pub(crate) fn subject(&self) -> &str {
        match self {
            Self::Tool { tool_name, .. }
            | Self::Asked { tool_name, .. }
            | Self::Done { tool_name, .. }
            | Self::Failed { tool_name, .. } => tool_name,
            Self::Start { source, .. } => source.name(),
            Self::End { reason } => reason.name(),
            Self::Notification { notification_type, .. } => notification_type,
            Self::PreCompact { trigger, .. } | Self::PostCompact { trigger, .. } => match trigger {
                CompactionTrigger::Auto => "auto",
                CompactionTrigger::Manual => "manual",
            },
            Self::Instructions { load_reason, .. } => load_reason,
            Self::Expansion(expansion) => expansion.command_name,
            Self::SubagentStart { agent_type } | Self::SubagentStop { agent_type, .. } => {
                agent_type
            }
            Self::Config { source, .. } => source,
            Self::File { file_path, .. } => {
                file_path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
            }
            Self::Saved(event) => event.scope,
            Self::DreamEnd(event) => event.status,
            Self::Synced(event) => &event.repository,
            Self::Setup { trigger } => trigger.name(),
            Self::Prompt { .. }
            | Self::Stop { .. }
            | Self::StopFailure { .. }
            | Self::Batch { .. }
            | Self::Cwd { .. }
            | Self::Recalled(_)
            | Self::DreamStart { .. } => "",
        }
    }

    pub(crate) fn call(&self) -> Option<CallInput<'_>> {
        match self {
            Self::Tool { tool_name, tool_input, .. }
            | Self::Asked { tool_name, tool_input, .. }
            | Self::Done { tool_name, tool_input, .. }
            | Self::Failed { tool_name, tool_input, .. } => {
                Some(CallInput { tool_name, tool_input })
            }
            _ => None,
        }
    }
}

/// The JSON of an event.
pub(crate) fn render(common: &CommonInput<'_>, details: &EventInput<'_>) -> Vec<u8> {
    // Strings, numbers and raw JSON always serialize.
    let common = serde_json::to_string(common).unwrap_or_default();
    let details = serde_json::to_string(details).unwrap_or_default();
    // Raw values do not pass through `flatten`, so the two objects are joined as text.
    let head = common.strip_suffix('}').unwrap_or_default();
    let tail = details.strip_prefix('{').unwrap_or_default();
    if tail == "}" { common.into_bytes() } else { format!("{head},{tail}\n").into_bytes() }
}

/// A tool result as JSON: a string or a list of blocks.
pub(crate) fn result_json(content: &ResultContent) -> Box<RawValue> {
    let json = match content {
        ResultContent::Text(text) => to_raw_value(text),
        ResultContent::Blocks(blocks) => to_raw_value(blocks),
    };
    // Strings and blocks that were read from JSON always serialize.
    json.unwrap_or_default()
}
