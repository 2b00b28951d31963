//! The events that run hooks, and the effect of a blocking response at each.

use thiserror::Error;

/// The events that run hooks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookEvent {
    /// Before the permission check of a tool call.
    PreToolUse,
    /// A tool call has succeeded.
    PostToolUse,
    /// A tool call has failed.
    PostToolUseFailure,
    /// All tool calls of a response have their results.
    PostToolBatch,
    /// Before a permission prompt.
    PermissionRequest,
    /// A tool call was denied.
    PermissionDenied,
    /// The user has called a skill.
    UserPromptExpansion,
    /// The user has sent a prompt.
    UserPromptSubmit,
    /// A session starts or resumes.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// The model has finished a turn.
    Stop,
    /// A request to the model failed.
    StopFailure,
    /// A subagent starts.
    SubagentStart,
    /// A subagent has finished.
    SubagentStop,
    /// The conversation is about to be compacted.
    PreCompact,
    /// The conversation was compacted.
    PostCompact,
    /// An instruction file was loaded.
    InstructionsLoaded,
    /// A settings file has changed on disk.
    ConfigChange,
    /// The session continues in another folder.
    CwdChanged,
    /// A watched file has changed on disk.
    FileChanged,
    /// The user's attention is needed.
    Notification,
    /// A memory was written, or proposed to the user.
    MemorySaved,
    /// Memories were attached to a message.
    MemoryRecalled,
    /// A dream starts.
    DreamStart,
    /// A dream has ended.
    DreamEnd,
    /// Team memories came in or went out.
    TeamSynced,
    /// The program was started with `--init` or `--maintenance`.
    Setup,
}

/// The effect of a blocking response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BlockEffect {
    /// The action does not happen.
    Blocks,
    /// The action has happened; the model gets the reason.
    TellsModel,
    /// The action happens; the user gets the reason.
    TellsUser,
}

/// Events of the contract that never happen here, and why.
const NEVER: &[(&str, &str)] = &[
    ("PreModelSwitch", "not supported"),
    ("PostModelSwitch", "not supported"),
    ("TeammateIdle", "agent teams are not supported"),
    ("TaskCreated", "shared tasks are not supported"),
    ("TaskCompleted", "shared tasks are not supported"),
    ("Elicitation", "not supported"),
    ("ElicitationResult", "not supported"),
    ("WorktreeCreate", "not supported"),
    ("WorktreeRemove", "not supported"),
    ("DirectoryAdded", "not supported"),
    ("MessageDisplay", "not supported"),
];

/// A name that is not an event of this program.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum UnknownHookEvent {
    /// The contract has the event, but this program never fires it.
    #[error("this event never happens here: {0}")]
    Never(&'static str),
    /// There is no such event.
    #[error("unknown event{}", suggestion.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default())]
    Unknown {
        /// A similar name.
        suggestion: Option<String>,
    },
}

impl HookEvent {
    /// All events.
    pub const ALL: [Self; 27] = [
        Self::PreToolUse,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::PostToolBatch,
        Self::PermissionRequest,
        Self::PermissionDenied,
        Self::UserPromptExpansion,
        Self::UserPromptSubmit,
        Self::SessionStart,
        Self::SessionEnd,
        Self::Stop,
        Self::StopFailure,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::PreCompact,
        Self::PostCompact,
        Self::InstructionsLoaded,
        Self::ConfigChange,
        Self::CwdChanged,
        Self::FileChanged,
        Self::Notification,
        Self::MemorySaved,
        Self::MemoryRecalled,
        Self::DreamStart,
        Self::DreamEnd,
        Self::TeamSynced,
        Self::Setup,
    ];

    /// The name in settings and on standard input.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::PostToolBatch => "PostToolBatch",
            Self::PermissionRequest => "PermissionRequest",
            Self::PermissionDenied => "PermissionDenied",
            Self::UserPromptExpansion => "UserPromptExpansion",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::Stop => "Stop",
            Self::StopFailure => "StopFailure",
            Self::SubagentStart => "SubagentStart",
            Self::SubagentStop => "SubagentStop",
            Self::PreCompact => "PreCompact",
            Self::PostCompact => "PostCompact",
            Self::InstructionsLoaded => "InstructionsLoaded",
            Self::ConfigChange => "ConfigChange",
            Self::CwdChanged => "CwdChanged",
            Self::FileChanged => "FileChanged",
            Self::Notification => "Notification",
            Self::MemorySaved => "MemorySaved",
            Self::MemoryRecalled => "MemoryRecalled",
            Self::DreamStart => "DreamStart",
            Self::DreamEnd => "DreamEnd",
            Self::TeamSynced => "TeamSynced",
            Self::Setup => "Setup",
        }
    }

    /// The event with this name.
    pub fn named(name: &str) -> Result<Self, UnknownHookEvent> {
        if let Some(event) = Self::ALL.into_iter().find(|event| event.name() == name) {
            return Ok(event);
        }
        if let Some((_, reason)) = NEVER.iter().find(|(known, _)| *known == name) {
            return Err(UnknownHookEvent::Never(reason));
        }
        let names = Self::ALL.into_iter().map(|event| event.name().to_owned());
        Err(UnknownHookEvent::Unknown { suggestion: dormouse_base::nearest_name(name, names) })
    }

    /// Whether the event belongs to a tool call.
    pub fn is_tool_event(self) -> bool {
        matches!(
            self,
            Self::PreToolUse
                | Self::PostToolUse
                | Self::PostToolUseFailure
                | Self::PermissionRequest
                | Self::PermissionDenied
        )
    }

    /// Whether plain text on standard output goes to the model.
    pub(crate) fn takes_plain_text(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit | Self::UserPromptExpansion)
    }

    /// Hooks of a compaction can neither end the turn nor send notices.
    pub(crate) fn is_compaction(self) -> bool {
        matches!(self, Self::PreCompact | Self::PostCompact)
    }

    pub(crate) fn block_effect(self) -> BlockEffect {
        match self {
            Self::PreToolUse
            | Self::PostToolBatch
            | Self::PermissionRequest
            | Self::UserPromptExpansion
            | Self::UserPromptSubmit
            | Self::Stop
            | Self::SubagentStop
            | Self::PreCompact
            | Self::ConfigChange => BlockEffect::Blocks,
            Self::PostToolUse | Self::PostToolUseFailure => BlockEffect::TellsModel,
            Self::PermissionDenied
            | Self::SessionStart
            | Self::SessionEnd
            | Self::StopFailure
            | Self::SubagentStart
            | Self::PostCompact
            | Self::InstructionsLoaded
            | Self::CwdChanged
            | Self::FileChanged
            | Self::Notification
            | Self::MemorySaved
            | Self::MemoryRecalled
            | Self::DreamStart
            | Self::DreamEnd
            | Self::TeamSynced
            | Self::Setup => BlockEffect::TellsUser,
        }
    }
}
