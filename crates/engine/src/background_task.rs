//! Background tasks of a session: they are told when they could start a fork, and are asked for the session notes when
//! the conversation is compacted.

use std::path::PathBuf;
use std::sync::Arc;

use dormouse_base::{Dir, MessageId, SessionId};
use dormouse_context::compact::notes::Template;
use dormouse_conversation::metrics::SessionMetrics;
use dormouse_conversation::{Budget, Message};
use dormouse_tools::ToolSet;

use crate::config::model_setup::ModelSetup;
use crate::conversation::Conversation;
use crate::fork::ForkSource;
use crate::jobs::Jobs;
use crate::memory::SessionMemory;

/// Below this share of the rate limit, background tasks send no requests.
const LEAST_QUOTA: f64 = 0.25;

/// Why background tasks are told of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskOccasion {
    /// It was opened for more prompts; none was sent yet.
    Opened,
    /// Nobody has said anything for a while, or it ends.
    Paused,
}

/// Works in the background of a session. These calls must return at once: anything slow is a job.
pub trait BackgroundTask: Send + Sync {
    /// No call waits for its result: after every response, also within a turn.
    fn on_idle(&self, snapshot: &TurnSnapshot<'_>);

    /// Nobody has said anything for a while, or the session ends: what was put off is done now.
    fn on_pause(&self, _snapshot: &TurnSnapshot<'_>) {}

    /// A session was opened for more prompts; none was sent yet.
    fn on_open(&self, _snapshot: &TurnSnapshot<'_>) {}

    /// The notes of this session, if there are any.
    fn session_notes(&self, _session: &Dir) -> Option<SavedNotes> {
        None
    }

    /// The conversation was compacted: earlier counts are void.
    fn on_compacted(&self, _snapshot: &TurnSnapshot<'_>) {}
}

/// The saved notes of a session.
#[derive(Debug, Clone)]
pub struct SavedNotes {
    /// The text.
    pub text: String,
    /// The template they started from.
    pub template: Template,
    /// Their file.
    pub path: PathBuf,
    /// The last message that they cover; none before the first completed run.
    pub reach: Option<MessageId>,
}

/// The session at a point at which no call waits for its result.
pub struct TurnSnapshot<'a> {
    pub(crate) turn_end: bool,
    pub(crate) conversation: &'a Conversation,
    pub(crate) model: &'a ModelSetup,
    pub(crate) tools: &'a ToolSet,
    pub(crate) memory: Option<&'a Arc<SessionMemory>>,
    pub(crate) jobs: &'a Jobs,
    pub(crate) has_room: bool,
    pub(crate) is_cached: bool,
    pub(crate) figures: &'a SessionMetrics,
    /// Copies the conversation.
    pub(crate) fork: Box<dyn Fn() -> ForkSource + 'a>,
}

impl<'a> TurnSnapshot<'a> {
    /// Whether the last response called no tool.
    pub fn is_turn_end(&self) -> bool {
        self.turn_end
    }

    /// The tokens that the conversation uses.
    pub fn tokens(&self) -> u64 {
        self.conversation.tokens_used()
    }

    /// The tokens of what was said, without the prompt in front of it.
    pub fn conversation_tokens(&self) -> u64 {
        self.messages().iter().map(|message| message.tokens()).sum()
    }

    /// Whether the server has the conversation in its cache.
    pub fn is_cached(&self) -> bool {
        self.is_cached
    }

    /// The messages.
    pub fn messages(&self) -> &'a [Arc<Message>] {
        self.conversation.messages()
    }

    /// Token budgets of the window.
    pub fn budget(&self) -> &'a Budget {
        &self.model.budget
    }

    /// The session's own folder.
    pub fn session_folder(&self) -> &'a Dir {
        self.conversation.transcript.session_folder()
    }

    /// The path of the transcript.
    pub fn transcript_path(&self) -> &'a std::path::Path {
        self.conversation.transcript_path()
    }

    /// The session.
    pub fn session(&self) -> SessionId {
        self.conversation.session()
    }

    /// Memory, where it is on.
    pub fn memory(&self) -> Option<&'a Arc<SessionMemory>> {
        self.memory
    }

    /// Whether the rest of the rate limit is needed for the user's own requests.
    pub fn quota_is_low(&self) -> bool {
        self.model.client.quota_left().is_some_and(|left| left < LEAST_QUOTA)
    }

    /// Whether background tasks may spend more of the session's cost.
    pub fn has_background_room(&self) -> bool {
        self.has_room
    }

    /// Whether the model has a tool of this name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.tools.get(name).is_some()
    }

    /// The background jobs.
    pub fn jobs(&self) -> &'a Jobs {
        self.jobs
    }

    /// The log of figures of the session.
    pub fn figures(&self) -> &'a SessionMetrics {
        self.figures
    }

    /// The conversation at this point, to fork from.
    pub fn fork_source(&self) -> ForkSource {
        (self.fork)()
    }
}
