//! A side chain: the conversation of an agent below another. It is an engine of its own, with a transcript in the
//! session's folder.

use std::sync::Arc;

use dormouse_base::{AgentId, Dir, SessionId};
use dormouse_conversation::transcript::Transcript;

use crate::engine::envelope;
use crate::{Engine, EngineConfig, EngineError, Surroundings};

/// Whose side chain a conversation is.
#[derive(Debug, Clone)]
pub struct SubagentSession {
    /// This run of the agent.
    pub agent: AgentId,
    /// What kind of agent it is, such as `explore`; `fork` for a fork.
    pub agent_type: String,
    /// How many conversations are above it.
    pub depth: u8,
    /// The session that it belongs to.
    pub session: SessionId,
    /// That session's own folder.
    pub session_folder: Dir,
}

impl Engine {
    /// Begins an agent's conversation with nothing in it. The set-up says whose side chain it is.
    pub fn begin_side(
        mut config: EngineConfig,
        side: &SubagentSession,
        surroundings: &Surroundings,
    ) -> Result<Self, EngineError> {
        let transcript = create(&config, side, surroundings)?;
        config.subagent = Some(side.clone());
        // Its memory is its own, where it has any.
        if let Some(memory) = &config.memory {
            memory.access.begin(side.session);
        }
        Self::fresh(config, transcript, surroundings)
    }
}

pub(crate) fn create(
    config: &EngineConfig,
    side: &SubagentSession,
    surroundings: &Surroundings,
) -> Result<Transcript, EngineError> {
    Ok(Transcript::create_subagent(
        &side.session_folder,
        side.session,
        side.agent,
        envelope(surroundings),
        Arc::clone(&config.clock),
        Arc::clone(&config.ids),
    )?)
}
