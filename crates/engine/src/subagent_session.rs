//! The session of a subagent: an engine of its own, with a transcript in the folder of the session above.

use std::sync::Arc;

use dormouse_base::{AgentId, Dir, SessionId};
use dormouse_conversation::transcript::Transcript;

use crate::config::EngineConfig;
use crate::engine::{Engine, envelope};
use crate::error::EngineError;
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

impl Engine {
    /// Begins the conversation of a subagent, without messages.
    pub fn begin_subagent(
        mut config: EngineConfig,
        subagent: &SubagentSession,
        surroundings: &Surroundings,
    ) -> Result<Self, EngineError> {
        let transcript = create_transcript(&config, subagent, surroundings)?;
        config.subagent = Some(subagent.clone());
        // Its memory is its own, where it has any.
        if let Some(memory) = &config.memory {
            memory.access.begin(subagent.session);
        }
        Self::begin_in(config, transcript, surroundings)
    }
}

pub(crate) fn create_transcript(
    config: &EngineConfig,
    subagent: &SubagentSession,
    surroundings: &Surroundings,
) -> Result<Transcript, EngineError> {
    Ok(Transcript::create_subagent(
        &subagent.session_folder,
        subagent.session,
        subagent.agent,
        envelope(surroundings),
        Arc::clone(&config.services.clock),
        Arc::clone(&config.services.ids),
    )?)
}
