//! The seam for work beside a conversation: whoever is put there is told when a fork could start, and is
//! asked for the session's notes when the conversation is compacted.

use std::path::PathBuf;
use std::sync::Arc;

use dormouse_base::{Dir, MessageId, SessionId};
use dormouse_context::compact::notes::Template;
use dormouse_conversation::metrics::SessionMetrics;
use dormouse_conversation::{Budget, Message};

use crate::{Engine, ForkSource, Jobs, SessionMemory};

/// Below this share of the rate limit nothing is asked beside a conversation.
const LEAST_QUOTA: f64 = 0.25;

/// Works beside a conversation. Nothing here may take time: what does is a job.
pub trait BackgroundTask: Send + Sync {
    /// The conversation has come to a point at which no call waits for its result: after every answer, in
    /// the middle of a turn too.
    fn on_idle(&self, snapshot: &TurnSnapshot<'_>);

    /// A conversation was opened to go on with, and nothing was said in it yet.
    fn on_open(&self, _snapshot: &TurnSnapshot<'_>) {}

    /// The notes about this session, if there are any.
    fn session_notes(&self, _session: &Dir) -> Option<SavedNotes> {
        None
    }

    /// The conversation was compacted: what was counted before says nothing any more.
    fn on_compacted(&self, _snapshot: &TurnSnapshot<'_>) {}
}

/// Notes about a session, as they stand.
#[derive(Debug, Clone)]
pub struct SavedNotes {
    /// What they say.
    pub text: String,
    /// What they began as.
    pub template: Template,
    /// Where they are.
    pub path: PathBuf,
    /// The last message that they cover; none if no run has come to its end.
    pub reach: Option<MessageId>,
}

/// A point at which no call waits for its result.
pub struct TurnSnapshot<'a> {
    engine: &'a Engine,
    turn_end: bool,
}

impl<'a> TurnSnapshot<'a> {
    pub(crate) fn of(engine: &'a Engine, turn_end: bool) -> Self {
        Self { engine, turn_end }
    }

    /// Whether the last answer called no tool.
    pub fn is_turn_end(&self) -> bool {
        self.turn_end
    }

    /// The tokens that the conversation uses.
    pub fn tokens(&self) -> u64 {
        self.engine.tokens_used()
    }

    /// The messages.
    pub fn messages(&self) -> &'a [Arc<Message>] {
        self.engine.history().messages()
    }

    /// The numbers of the window.
    pub fn budget(&self) -> &'a Budget {
        &self.engine.config.budget
    }

    /// The session's own folder.
    pub fn session_folder(&self) -> &'a Dir {
        self.engine.transcript.session_folder()
    }

    /// Where the transcript is.
    pub fn transcript_path(&self) -> &'a std::path::Path {
        self.engine.transcript_path()
    }

    /// The session.
    pub fn session(&self) -> SessionId {
        self.engine.session()
    }

    /// Memory, where it is on.
    pub fn memory(&self) -> Option<&'a Arc<SessionMemory>> {
        self.engine.config.memory.as_ref().map(|memory| &memory.access)
    }

    /// Whether so little of the server's rate limit is left that the person's own requests need it.
    pub fn quota_is_low(&self) -> bool {
        self.engine.config.model.quota_left().is_some_and(|left| left < LEAST_QUOTA)
    }

    /// Whether the model has a tool of this name.
    pub fn has_tool(&self, name: &str) -> bool {
        self.engine.config.tools.get(name).is_some()
    }

    /// What runs beside the conversation.
    pub fn jobs(&self) -> &'a Jobs {
        self.engine.jobs()
    }

    /// Where the session's figures go.
    pub fn figures(&self) -> &'a SessionMetrics {
        &self.engine.figures
    }

    /// The conversation as it stands, to start a fork from.
    pub fn fork_source(&self) -> ForkSource {
        self.engine.fork_source()
    }
}

impl Engine {
    /// The notes about this session, if any are kept.
    pub fn kept_notes(&self) -> Option<SavedNotes> {
        let session = self.transcript.session_folder();
        self.config.background_tasks.iter().find_map(|task| task.session_notes(session))
    }
}
