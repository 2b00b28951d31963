//! What a hook gets on standard input, with the field names that people's scripts read.

use std::borrow::Cow;
use std::path::Path;

use dormouse_base::SessionId;
use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_conversation::{Block, BlockKind, ToolUse};
use dormouse_permissions::PermissionMode;
use dormouse_tools::ToolSet;
use serde::Serialize;
use serde_json::value::RawValue;

use super::observer::response;

/// Why a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionSource {
    /// The program was started.
    Startup,
    /// An earlier session goes on.
    Resume,
    /// The one before was cleared.
    Clear,
    /// The conversation was compacted and goes on.
    Compact,
}

impl SessionSource {
    pub(super) fn name(self) -> &'static str {
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
    /// It was cleared.
    Clear,
    /// The person left.
    PromptInputExit,
    /// Anything else.
    Other,
}

impl SessionEndReason {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::PromptInputExit => "prompt_input_exit",
            Self::Other => "other",
        }
    }
}

/// Why a project is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum SetupTrigger {
    /// `--init`: for the first time.
    Init,
    /// `--maintenance`: now and then.
    Maintenance,
}

impl SetupTrigger {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Init => "init",
            Self::Maintenance => "maintenance",
        }
    }
}

/// A call of a tool round, with its result.
#[expect(clippy::struct_field_names, reason = "the names are those of the contract")]
#[derive(Debug, Serialize)]
pub(crate) struct BatchCall<'a> {
    pub(crate) tool_name: Cow<'a, str>,
    pub(crate) tool_input: Cow<'a, RawValue>,
    pub(crate) tool_use_id: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool_response: Option<Box<RawValue>>,
}

impl<'a> BatchCall<'a> {
    /// A call, with its result among these. One that was made for another is shown as that.
    pub(crate) fn new(call: ToolUse<'a>, tools: &ToolSet, results: &[Block]) -> Self {
        let forwarded = tools.get(call.name).and_then(|tool| tool.forwards(call.input));
        let (tool_name, tool_input) = match forwarded {
            Some(call) => (Cow::Owned(call.tool.name().to_owned()), Cow::Owned(call.input)),
            None => (Cow::Borrowed(call.name), Cow::Borrowed(call.input)),
        };
        let is_of_call =
            |block: &&Block| matches!(block.kind(), BlockKind::ToolResult { id } if id == call.id);
        let result = results.iter().find(is_of_call).and_then(Block::result_content);
        Self {
            tool_name,
            tool_input,
            tool_use_id: call.id.as_str(),
            tool_response: result.map(|content| response(&content)),
        }
    }
}

/// A memory that was written, or would be.
#[derive(Debug, Clone, Serialize)]
pub struct SavedMemory {
    /// Its file's name: what it is known by.
    pub memory: String,
    /// Where it is.
    pub file_path: std::path::PathBuf,
    /// `added`, `changed`, `removed`, or `proposed` where it waits for the person.
    pub effect: &'static str,
}

/// What every event has.
#[derive(Debug, Serialize)]
pub(super) struct Common<'a> {
    pub(super) session_id: SessionId,
    pub(super) transcript_path: &'a Path,
    pub(super) cwd: &'a Path,
    pub(super) hook_event_name: &'static str,
    pub(super) permission_mode: &'static str,
    /// In an agent below the conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent_id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) agent_type: Option<&'a str>,
}

/// An event and what goes with it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum Details<'a> {
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
    Expansion {
        expansion_type: &'static str,
        command_name: &'a str,
        command_args: &'a str,
        command_source: &'static str,
        prompt: &'a str,
    },
    SubagentStart {
        /// What every event of an agent has already.
        #[serde(skip)]
        kind: &'a str,
    },
    SubagentStop {
        #[serde(skip)]
        kind: &'a str,
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
    Saved {
        scope: &'a str,
        author: &'a str,
        memories: &'a [SavedMemory],
        #[serde(skip_serializing_if = "Option::is_none")]
        proposal: Option<String>,
    },
    Recalled {
        step: &'static str,
        query: &'a str,
        tokens: u32,
        considered: usize,
        memories: Vec<RecalledView<'a>>,
    },
    Dreams {
        dream_id: &'a str,
        sessions: usize,
        scopes: &'a [String],
    },
    Dreamt {
        dream_id: &'a str,
        status: &'a str,
        improved: usize,
        headline: &'a str,
        report: &'a RawValue,
    },
    Setup {
        trigger: SetupTrigger,
    },
}

/// A memory that was recalled.
#[derive(Debug, Serialize)]
pub(super) struct RecalledView<'a> {
    pub(super) memory: &'a str,
    pub(super) file_path: &'a str,
    pub(super) scope: &'a str,
    pub(super) tokens: u32,
    pub(super) why: &'a str,
}

impl Details<'_> {
    /// What a matcher is compared with.
    pub(super) fn subject(&self) -> &str {
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
            Self::Expansion { command_name, .. } => command_name,
            Self::SubagentStart { kind } | Self::SubagentStop { kind, .. } => kind,
            Self::Config { source, .. } => source,
            Self::File { file_path, .. } => {
                file_path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
            }
            Self::Saved { scope, .. } => scope,
            Self::Dreamt { status, .. } => status,
            Self::Setup { trigger } => trigger.name(),
            Self::Prompt { .. }
            | Self::Stop { .. }
            | Self::StopFailure { .. }
            | Self::Batch { .. }
            | Self::Cwd { .. }
            | Self::Recalled { .. }
            | Self::Dreams { .. } => "",
        }
    }

    /// The call, if it is about one.
    pub(super) fn call(&self) -> Option<(&str, &RawValue)> {
        match self {
            Self::Tool { tool_name, tool_input, .. }
            | Self::Asked { tool_name, tool_input, .. }
            | Self::Done { tool_name, tool_input, .. }
            | Self::Failed { tool_name, tool_input, .. } => Some((tool_name, tool_input)),
            _ => None,
        }
    }
}

/// The JSON for a hook.
pub(super) fn render(common: &Common<'_>, details: &Details<'_>) -> Vec<u8> {
    // Strings, numbers and JSON that was read as such: there is nothing that could fail.
    let common = serde_json::to_string(common).unwrap_or_default();
    let details = serde_json::to_string(details).unwrap_or_default();
    // A raw value does not pass through `flatten`, so the two objects are joined as text.
    let (head, tail) = (common.trim_end_matches('}'), details.trim_start_matches('{'));
    if tail == "}" { common.into_bytes() } else { format!("{head},{tail}\n").into_bytes() }
}

/// A mode, by the name that scripts know.
pub(super) fn mode_name(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "default",
        PermissionMode::AcceptEdits => "acceptEdits",
        PermissionMode::Plan => "plan",
        PermissionMode::Bypass => "bypassPermissions",
    }
}
