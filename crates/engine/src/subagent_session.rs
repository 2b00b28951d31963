//! The session of a subagent: an engine of its own, with a transcript in the folder of the session above.

use std::sync::Arc;

use dormouse_base::{AgentId, Dir, SessionId};
use dormouse_conversation::transcript::Transcript;

use crate::config::services::Services;
use crate::error::EngineError;
use crate::session::OpenedSession;
use crate::surroundings::Surroundings;

/// Which subagent a session belongs to.
#[derive(Debug, Clone)]
pub struct SubagentSession {
    /// This run of the subagent.
    pub agent: AgentId,
    /// Its type, such as `explore`; `fork` for a fork.
    pub agent_type: String,
    /// How many conversations are above it.
    pub depth: u8,
    /// The session of the main conversation.
    pub session: SessionId,
    /// That session's own folder.
    pub session_folder: Dir,
}

impl SubagentSession {
    /// Opens its transcript to continue it.
    pub(crate) fn reopen(
        &self,
        services: &Services,
        surroundings: &Surroundings,
    ) -> Result<OpenedSession, EngineError> {
        let (transcript, loaded) = Transcript::resume_subagent(
            &self.session_folder,
            self.session,
            self.agent,
            surroundings.line_envelope(),
            Arc::clone(&services.clock),
            Arc::clone(&services.ids),
        )?;
        Ok(OpenedSession { transcript, loaded, finished_rewind: None })
    }

    /// Creates its transcript.
    pub(crate) fn create_transcript(
        &self,
        services: &Services,
        surroundings: &Surroundings,
    ) -> Result<Transcript, EngineError> {
        Ok(Transcript::create_subagent(
            &self.session_folder,
            self.session,
            self.agent,
            surroundings.line_envelope(),
            Arc::clone(&services.clock),
            Arc::clone(&services.ids),
        )?)
    }
}
