//! The input of a hook. Every field may be missing.

use std::path::PathBuf;

use serde::Deserialize;

/// The events that are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientHookEvent {
    /// A session starts, or continues after a compaction.
    SessionStart,
    /// The user sent a prompt.
    Prompt,
    /// The agent has finished its turn.
    Stop,
}

impl ClientHookEvent {
    /// Parses our name of an event, or an agent's own.
    pub fn from_word(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
            "sessionstart" => Some(Self::SessionStart),
            "prompt" | "userpromptsubmit" | "userprompt" | "beforeagent" => Some(Self::Prompt),
            "stop" | "sessionend" | "subagentstop" | "afteragent" => Some(Self::Stop),
            _ => None,
        }
    }

    /// The name in the answer, where the agent does not give its own.
    fn usual_name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::Prompt => "UserPromptSubmit",
            Self::Stop => "Stop",
        }
    }
}

/// The input on standard input.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct HookInput {
    /// The session.
    pub session_id: Option<String>,
    /// Its transcript.
    pub transcript_path: Option<PathBuf>,
    /// Its working directory.
    pub cwd: Option<PathBuf>,
    /// The agent's name of the event.
    pub hook_event_name: Option<String>,
    /// The user's prompt.
    pub prompt: Option<String>,
    /// Why a session starts.
    pub source: Option<String>,
}

impl HookInput {
    /// Parses the input.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The name in the answer.
    pub fn event_name(&self, event: ClientHookEvent) -> &str {
        self.hook_event_name.as_deref().unwrap_or(event.usual_name())
    }

    /// Whether the conversation starts empty: earlier context is gone.
    pub fn starts_anew(&self) -> bool {
        matches!(self.source.as_deref(), Some("startup" | "clear" | "compact"))
    }
}
