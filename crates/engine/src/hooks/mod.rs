//! Hooks: commands of the person's that run at events (L-24 to L-27).
//!
//! `config` reads them from the settings, `matcher` chooses, `input` writes what they get, `run` starts
//! them, `answer` reads what they say, `runner` ties that together for the engine, and `observer` is how
//! calls reach them. The contract (names, exit codes, JSON) is the one that people's hooks have already.
//!
//! Invariant: a hook that fails, hangs or prints nonsense decides nothing and never ends a turn; what it
//! said is told to the person.

mod answer;
mod config;
mod handler;
mod input;
mod list;
mod matcher;
mod observer;
mod origin;
mod run;
mod runner;
mod spot;

pub use config::{HookProblem, Hooks};
pub use input::{SessionEndReason, SessionSource};
pub use list::HookView;
pub(crate) use observer::HookObserver;
pub use origin::{HookLayer, HookOrigin, Idle, PluginHome};
pub(crate) use run::Place;
pub(crate) use runner::{HookRunner, HookSession};

/// What hooks can run at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HookEvent {
    /// A call is about to be decided about.
    PreToolUse,
    /// A call has succeeded.
    PostToolUse,
    /// A call has failed.
    PostToolUseFailure,
    /// A person is about to be asked.
    PermissionRequest,
    /// A call was denied.
    PermissionDenied,
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
    /// The person is wanted.
    Notification,
    /// An instruction file was loaded.
    InstructionsLoaded,
    /// The conversation is about to be compacted.
    PreCompact,
    /// It was.
    PostCompact,
}

impl HookEvent {
    /// Those that run by now.
    pub const ALL: [Self; 14] = [
        Self::PreToolUse,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::PermissionRequest,
        Self::PermissionDenied,
        Self::UserPromptSubmit,
        Self::SessionStart,
        Self::SessionEnd,
        Self::Stop,
        Self::StopFailure,
        Self::Notification,
        Self::InstructionsLoaded,
        Self::PreCompact,
        Self::PostCompact,
    ];

    /// The name in settings and on standard input.
    pub fn name(self) -> &'static str {
        match self {
            Self::PreToolUse => "PreToolUse",
            Self::PostToolUse => "PostToolUse",
            Self::PostToolUseFailure => "PostToolUseFailure",
            Self::PermissionRequest => "PermissionRequest",
            Self::PermissionDenied => "PermissionDenied",
            Self::UserPromptSubmit => "UserPromptSubmit",
            Self::SessionStart => "SessionStart",
            Self::SessionEnd => "SessionEnd",
            Self::Stop => "Stop",
            Self::StopFailure => "StopFailure",
            Self::Notification => "Notification",
            Self::InstructionsLoaded => "InstructionsLoaded",
            Self::PreCompact => "PreCompact",
            Self::PostCompact => "PostCompact",
        }
    }
}
