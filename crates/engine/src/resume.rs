//! Going on with a session: what was stored of it, made whole.

use std::time::Duration;

use dormouse_base::MessageId;
use dormouse_conversation::transcript::{
    LoadedTranscript, MessageHeader, Transcript, TranscriptWarning,
};
use dormouse_conversation::{
    Block, BlockKind, Message, MessageFlags, MessageHistory, PairingRepair, Role,
};
use dormouse_instructions::LoadOccasion;

use crate::compact::UserMessages;
use crate::engine::{ConversationStart, LOST_ANSWER};
use crate::layers::CollapseState;
use crate::prompt::build_prefix;
use crate::session_tools::SessionTools;
use crate::startup_context::StartupContext;
use crate::{Engine, EngineConfig, EngineError, OpenedSession, Surroundings};

/// What a resume found and mended.
#[derive(Debug, Default)]
pub struct ResumeReport {
    /// Lines of the transcript that could not be used.
    pub warnings: Vec<TranscriptWarning>,
    /// Calls that were closed, results that had no call.
    pub repairs: Vec<PairingRepair>,
}

impl Engine {
    /// Goes on with a conversation: its stored prefix is sent again, byte for byte; what has changed
    /// since is told with the next message.
    pub fn resume(
        config: EngineConfig,
        opened: OpenedSession,
        surroundings: &Surroundings,
    ) -> Result<(Self, ResumeReport), EngineError> {
        let OpenedSession { mut transcript, loaded } = opened;
        let said = UserMessages::of(&loaded);
        let folding = CollapseState::of(&loaded.messages, &loaded.compacted);
        let LoadedTranscript { messages, prefix, facts, warnings, origin, skills, .. } = loaded;
        let mut config = config;
        if let Some(kept) = origin.filter(|origin| origin.model == config.origin.model) {
            // It stands in front of the messages: another would change the bytes of the prefix.
            config.origin.max_tokens = kept.max_tokens.or(config.origin.max_tokens);
        }
        let (history, repairs) = mend(messages, &mut transcript, &config)?;
        let own = SessionTools::add_to(&mut config, &transcript);
        config.tools = match &prefix {
            Some(sent) => config.tools_as_sent(sent.tools()),
            None => config.tools_now(),
        };
        let known = StartupContext::look(&config, LoadOccasion::Start);
        let prefix = match prefix {
            Some(prefix) => prefix,
            None => {
                let (tools, size) = (&config.tools, config.budget.prompt.size);
                let prefix = build_prefix(surroundings, tools, size, &config.overrides, &known);
                transcript.record_prefix(&prefix, &config.origin)?;
                prefix
            }
        };
        let around = surroundings.clone();
        let begun =
            ConversationStart { prefix, known, history, told: facts, around, said, folding, own };
        let mut engine = Self::assemble(config, transcript, begun);
        engine.restore_skills(skills);
        engine.take_up();
        Ok((engine, ResumeReport { warnings, repairs }))
    }

    /// What an earlier process sent is where the cache was last written, and what to compare with.
    fn take_up(&mut self) {
        let now = self.config.clock.now();
        let last = self.history.messages().iter().rev().find(|message| message.response.is_some());
        let Some((timestamp, usage)) =
            last.and_then(|m| Some((m.timestamp, m.response.as_ref()?.usage)))
        else {
            return;
        };
        let age = Duration::try_from(now.duration_since(timestamp)).unwrap_or_default();
        // A moment before this process began can not be shown on its clock: the time to live is judged
        // by whether the answer is older than that.
        let at = if age >= self.cache_ttl() { None } else { Some(self.config.clock.elapsed()) };
        let marked = self.body.mark_answered_as_sent(at.unwrap_or_default());
        let Some((sent, asked)) = marked else { return };
        self.last_breakpoint = Some(asked);
        if at.is_some() {
            let cached =
                usage.cache_read_input_tokens.saturating_add(usage.cache_creation_input_tokens);
            self.detector.resume_from(sent, cached);
        }
    }
}

/// Makes a valid history of what was loaded, and writes down what that took: the results of calls that
/// a crash left open, and a note where an answer was lost.
fn mend(
    messages: Vec<Message>,
    transcript: &mut Transcript,
    config: &EngineConfig,
) -> Result<(MessageHistory, Vec<PairingRepair>), EngineError> {
    let make = |blocks| {
        Message::user(
            MessageId::generate(&*config.ids),
            config.clock.now(),
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
            MessageId::generate(&*config.ids),
            config.clock.now(),
            LOST_ANSWER,
        );
        transcript.record_message(&note)?;
        history.push(note)?;
    }
    Ok((history, repairs))
}
