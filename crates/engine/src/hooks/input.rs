//! What a hook gets on standard input, with the field names that people's scripts read.

use std::path::Path;

use dormouse_base::SessionId;
use dormouse_conversation::transcript::Trigger;
use dormouse_tools::Mode;
use serde::Serialize;
use serde_json::value::RawValue;

use super::HookEvent;

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

/// What every event has.
#[derive(Debug, Serialize)]
pub(super) struct Common<'a> {
    pub(super) session_id: SessionId,
    pub(super) transcript_path: &'a Path,
    pub(super) cwd: &'a Path,
    pub(super) hook_event_name: &'static str,
    pub(super) permission_mode: &'static str,
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
        trigger: Trigger,
        custom_instructions: Option<&'a str>,
    },
    PostCompact {
        trigger: Trigger,
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
                Trigger::Auto => "auto",
                Trigger::Manual => "manual",
            },
            Self::Instructions { load_reason, .. } => load_reason,
            Self::Prompt { .. } | Self::Stop { .. } | Self::StopFailure { .. } => "",
        }
    }

    /// The call, if it is about one.
    pub(super) fn call(&self) -> Option<(&str, &RawValue)> {
        match self {
            Self::Tool { tool_name, tool_input, .. }
            | Self::Asked { tool_name, tool_input, .. }
            | Self::Done { tool_name, tool_input, .. }
            | Self::Failed { tool_name, tool_input, .. } => Some((tool_name, tool_input)),
            Self::Start { .. }
            | Self::End { .. }
            | Self::Notification { .. }
            | Self::PreCompact { .. }
            | Self::PostCompact { .. }
            | Self::Instructions { .. }
            | Self::Prompt { .. }
            | Self::Stop { .. }
            | Self::StopFailure { .. } => None,
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
pub(super) fn mode_name(mode: Mode) -> &'static str {
    match mode {
        Mode::Default => "default",
        Mode::AcceptEdits => "acceptEdits",
        Mode::Plan => "plan",
        Mode::Bypass => "bypassPermissions",
    }
}

impl HookEvent {
    /// Whether plain text on standard output is for the model.
    pub(super) fn takes_plain_text(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit)
    }
}
