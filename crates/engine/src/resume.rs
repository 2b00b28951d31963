//! Resuming a session from its transcript.

use dormouse_base::MessageId;
use dormouse_conversation::transcript::{
    LoadedTranscript, MessageHeader, Transcript, TranscriptWarning,
};
use dormouse_conversation::{
    Block, BlockKind, Message, MessageFlags, MessageHistory, PairingRepair, Role,
};
use dormouse_instructions::LoadOccasion;

use crate::compact::CompactionState;
use crate::config::EngineConfig;
use crate::conversation::LOST_RESPONSE;
use crate::engine::{Engine, SessionStart, open_conversation};
use crate::error::EngineError;
use crate::prompt::configured_prefix;
use crate::session::OpenedSession;
use crate::session_tools::SessionTools;
use crate::startup_context::StartupContext;
use crate::surroundings::Surroundings;

/// What a resume found and repaired.
#[derive(Debug, Default)]
pub struct ResumeReport {
    /// Lines of the transcript that could not be used.
    pub warnings: Vec<TranscriptWarning>,
    /// Calls that were closed, and results without a call.
    pub repairs: Vec<PairingRepair>,
}

impl Engine {
    /// Continues a session: its stored prefix is sent again, byte for byte; what has changed since is announced with
    /// the next prompt.
    pub fn resume(
        mut config: EngineConfig,
        opened: OpenedSession,
        surroundings: &Surroundings,
    ) -> Result<(Self, ResumeReport), EngineError> {
        let OpenedSession { mut transcript, loaded, .. } = opened;
        let compaction = CompactionState::of(&loaded);
        let prompt = loaded.prefix.as_ref().map_or(0, |prefix| prefix.tokens());
        config.model.budget = compaction.resumed_budget(config.model.budget, prompt);
        let LoadedTranscript { messages, prefix, facts, warnings, origin, skills, .. } = loaded;
        let own_origin = &mut config.model.origin;
        if let Some(stored) = origin.filter(|origin| origin.model == own_origin.model) {
            // It is part of the bytes in front of the messages: another number would change the cached prefix.
            own_origin.max_tokens = stored.max_tokens.or(own_origin.max_tokens);
        }
        let (history, repairs) = repair(messages, &mut transcript, &config)?;
        let session_tools = SessionTools::add_to(&mut config, &transcript);
        config.tools.set = match &prefix {
            Some(sent) => config.tools_as_sent(sent.tools()),
            None => config.tools_now(),
        };
        let startup = StartupContext::load(&config, LoadOccasion::Start);
        let prefix = match prefix {
            Some(prefix) => prefix,
            None => {
                let prefix = configured_prefix(&config, surroundings, &startup);
                transcript.record_prefix(&prefix, &config.model.origin)?;
                prefix
            }
        };
        let start = SessionStart {
            conversation: open_conversation(&config, transcript, prefix, history, facts),
            config,
            startup,
            surroundings: surroundings.clone(),
            compaction,
            session_tools,
        };
        let mut engine = start.into_engine();
        engine.session_tools.skills.restore(skills);
        engine.conversation.continue_cache();
        Ok((engine, ResumeReport { warnings, repairs }))
    }
}

/// Makes a valid history of the loaded messages, and records the repairs: results of calls that a crash left open, and
/// a note where a response was lost.
pub(crate) fn repair(
    messages: Vec<Message>,
    transcript: &mut Transcript,
    config: &EngineConfig,
) -> Result<(MessageHistory, Vec<PairingRepair>), EngineError> {
    let make = |blocks| {
        Message::user(
            MessageId::generate(&*config.services.ids),
            config.services.clock.now(),
            blocks,
            MessageFlags::default(),
        )
    };
    let (mut history, repairs) = MessageHistory::repaired(messages, make);
    let closed: Vec<_> = repairs
        .iter()
        .filter_map(|repair| match repair {
            PairingRepair::ClosedCall(id) => Some(id),
            PairingRepair::OrphanResult(_)
            | PairingRepair::DuplicateCall(_)
            | PairingRepair::DuplicateResult(_)
            | PairingRepair::Empty => None,
        })
        .collect();
    let Some(last) = history.last().cloned() else { return Ok((history, repairs)) };
    let missing: Vec<Block> = last
        .blocks
        .iter()
        .filter(
            |block| matches!(block.kind(), BlockKind::ToolResult { id } if closed.contains(&id)),
        )
        .cloned()
        .collect();
    if !missing.is_empty() {
        transcript.record_blocks(MessageHeader::of(&last), &missing)?;
    } else if last.role == Role::User {
        let note = Message::synthetic_response(
            MessageId::generate(&*config.services.ids),
            config.services.clock.now(),
            LOST_RESPONSE,
        );
        transcript.record_message(&note)?;
        history.push(note)?;
    }
    Ok((history, repairs))
}
