//! What hooks can run at, and what each event makes of an answer.

/// What hooks can run at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookEvent {
    /// A call is about to be decided about.
    PreToolUse,
    /// A call has succeeded.
    PostToolUse,
    /// A call has failed.
    PostToolUseFailure,
    /// All calls of an answer have their results.
    PostToolBatch,
    /// A person is about to be asked.
    PermissionRequest,
    /// A call was denied.
    PermissionDenied,
    /// The person has called a skill.
    UserPromptExpansion,
    /// The person has said something.
    UserPromptSubmit,
    /// A session begins, or goes on.
    SessionStart,
    /// It ends.
    SessionEnd,
    /// The model is done.
    Stop,
    /// The model could not be asked.
    StopFailure,
    /// An agent below the conversation begins.
    SubagentStart,
    /// It is done.
    SubagentStop,
    /// The conversation is about to be compacted.
    PreCompact,
    /// It was.
    PostCompact,
    /// An instruction file was loaded.
    InstructionsLoaded,
    /// A settings file has changed on disk.
    ConfigChange,
    /// The session goes on in another folder.
    CwdChanged,
    /// A watched file has changed on disk.
    FileChanged,
    /// The person is wanted.
    Notification,
    /// A memory was written, or waits for the person.
    MemorySaved,
    /// Memories were put beside a message.
    MemoryRecalled,
    /// A dream begins.
    DreamStart,
    /// It has ended.
    DreamEnd,
    /// The program was started to set a project up, or to maintain it.
    Setup,
}

/// What it means that a hook refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusing {
    /// It does not happen.
    Blocks,
    /// It has happened: the model is told why it should not have.
    TellsModel,
    /// It happens all the same: the person is told.
    TellsPerson,
}

/// Events of the contract that are known and never happen here, and why.
const NEVER: &[(&str, &str)] = &[
    ("TeamSynced", "memory of a team is not synchronised by this version"),
    ("PreModelSwitch", "this version runs no hooks at it"),
    ("PostModelSwitch", "this version runs no hooks at it"),
    ("TeammateIdle", "there are no teams of agents"),
    ("TaskCreated", "there are no shared tasks"),
    ("TaskCompleted", "there are no shared tasks"),
    ("Elicitation", "this version runs no hooks at it"),
    ("ElicitationResult", "this version runs no hooks at it"),
    ("WorktreeCreate", "this version runs no hooks at it"),
    ("WorktreeRemove", "this version runs no hooks at it"),
    ("DirectoryAdded", "this version runs no hooks at it"),
    ("MessageDisplay", "this version runs no hooks at it"),
];

impl HookEvent {
    /// All of them.
    pub const ALL: [Self; 26] = [
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
            Self::Setup => "Setup",
        }
    }

    /// The event of a name; else why there is none.
    pub fn named(name: &str) -> Result<Self, String> {
        if let Some(event) = Self::ALL.into_iter().find(|event| event.name() == name) {
            return Ok(event);
        }
        if let Some((_, why)) = NEVER.iter().find(|(known, _)| *known == name) {
            return Err(format!("the event is known but never happens here: {why}"));
        }
        let names = Self::ALL.into_iter().map(|event| event.name().to_owned());
        Err(match dormouse_base::nearest_name(name, names) {
            Some(meant) => format!("there is no such event (did you mean `{meant}`?)"),
            None => "there is no such event".to_owned(),
        })
    }

    /// Whether it is about a call of a tool.
    pub fn is_of_tool(self) -> bool {
        matches!(
            self,
            Self::PreToolUse
                | Self::PostToolUse
                | Self::PostToolUseFailure
                | Self::PermissionRequest
                | Self::PermissionDenied
        )
    }

    /// Whether plain text on standard output is for the model.
    pub(super) fn takes_plain_text(self) -> bool {
        matches!(self, Self::SessionStart | Self::UserPromptSubmit | Self::UserPromptExpansion)
    }

    /// What comes before and after a compaction can not end the turn, nor talk to the person.
    pub(super) fn is_of_compaction(self) -> bool {
        matches!(self, Self::PreCompact | Self::PostCompact)
    }

    pub(super) fn refusing(self) -> Refusing {
        match self {
            Self::PreToolUse
            | Self::PostToolBatch
            | Self::PermissionRequest
            | Self::UserPromptExpansion
            | Self::UserPromptSubmit
            | Self::Stop
            | Self::SubagentStop
            | Self::PreCompact
            | Self::ConfigChange => Refusing::Blocks,
            Self::PostToolUse | Self::PostToolUseFailure => Refusing::TellsModel,
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
            | Self::Setup => Refusing::TellsPerson,
        }
    }
}
