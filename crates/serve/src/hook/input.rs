//! What an agent says when it calls a hook. Anything may be missing.

use std::path::PathBuf;

use serde::Deserialize;

/// The events that are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientHookEvent {
    /// A session begins, or goes on after a compaction.
    SessionStart,
    /// The person has said something.
    Prompt,
    /// The agent is done for now.
    Stop,
}

impl ClientHookEvent {
    /// Our word for it, or an agent's own.
    pub fn from_word(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().replace(['-', '_'], "").as_str() {
            "sessionstart" => Some(Self::SessionStart),
            "prompt" | "userpromptsubmit" | "userprompt" | "beforeagent" => Some(Self::Prompt),
            "stop" | "sessionend" | "subagentstop" | "afteragent" => Some(Self::Stop),
            _ => None,
        }
    }

    /// The name to answer under, where the agent does not say its own.
    fn usual_name(self) -> &'static str {
        match self {
            Self::SessionStart => "SessionStart",
            Self::Prompt => "UserPromptSubmit",
            Self::Stop => "Stop",
        }
    }
}

/// What came on standard input.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct HookInput {
    /// The session.
    pub session_id: Option<String>,
    /// Where it is written down.
    pub transcript_path: Option<PathBuf>,
    /// The folder it is in.
    pub cwd: Option<PathBuf>,
    /// What the agent calls the event.
    pub hook_event_name: Option<String>,
    /// What the person typed.
    pub prompt: Option<String>,
    /// Why a session starts.
    pub source: Option<String>,
}

impl HookInput {
    /// Reads it.
    pub fn read(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// The name to answer under.
    pub fn event_name(&self, event: ClientHookEvent) -> &str {
        self.hook_event_name.as_deref().unwrap_or(event.usual_name())
    }

    /// Whether the agent has forgotten what it was told before.
    pub fn starts_anew(&self) -> bool {
        matches!(self.source.as_deref(), Some("startup" | "clear" | "compact"))
    }
}
