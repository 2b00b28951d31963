//! The messages of a session with the trust in each (M-17), for finding where a memory's words come from.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dormouse_base::{MessageId, SessionId};
use dormouse_context::compact::user_text_in;
use dormouse_context::{AttachedFile, AttachedResource, CalledPrompt};
use dormouse_conversation::{Block, BlockKind, Message, ResultContent, Role, ToolUse};
use dormouse_memory::{MessageSource, QuarantinedText, Trust};
use dormouse_provenance::{ClaimedText, ProvenanceRecord, STORED_RESULTS, is_from_outside};

/// The record of the current session.
#[derive(Debug, Default)]
pub(crate) struct SessionProvenance(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    session: String,
    record: ProvenanceRecord,
}

impl SessionProvenance {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A session begins: earlier messages belong to another.
    pub(super) fn begin(&self, session: SessionId) {
        let record = ProvenanceRecord::default();
        *self.state() = State { session: session.to_string(), record };
    }

    /// Adds a message.
    pub(crate) fn record(&self, id: MessageId, trust: Trust, text: &str) {
        self.state().record.add(id, trust, text);
    }

    /// Adds the messages of a session that is resumed.
    pub(crate) fn record_history<'m>(&self, messages: impl Iterator<Item = &'m Message>) {
        let mut calls: &[Block] = &[];
        for message in messages {
            if message.role == Role::Assistant {
                calls = &message.blocks;
                continue;
            }
            self.record_results(message.id, &message.blocks, calls);
            // Messages of the program are no source.
            if !message.flags.meta && message.tool_results().next().is_none() {
                let typed = user_text_in(message).unwrap_or_default();
                self.record(message.id, Trust::Typed, &typed);
                self.record_attached(message.id, &message.blocks);
            }
        }
    }

    /// Adds files that the user attached, whose author cannot be known, and resources and prompts of MCP servers,
    /// which anybody may have written.
    pub(crate) fn record_attached(&self, id: MessageId, blocks: &[Block]) {
        for text in blocks.iter().filter_map(Block::as_text) {
            if AttachedFile::is_in(&text) {
                self.record(id, Trust::Tool, &text);
            } else if AttachedResource::is_in(&text) || CalledPrompt::is_in(&text) {
                self.record(id, Trust::Outside, &text);
            }
        }
    }

    /// Adds tool results; `calls` are the blocks of the response that asked for them.
    pub(crate) fn record_results(&self, id: MessageId, results: &[Block], calls: &[Block]) {
        for result in results {
            let BlockKind::ToolResult { id: call_id } = result.kind() else { continue };
            let Some(ResultContent::Text(text)) = result.result_content() else { continue };
            let call = calls.iter().filter_map(Block::as_tool_use).find(|call| call.id == call_id);
            let outside = call.is_some_and(|call| self.is_outside(&call));
            self.record(id, if outside { Trust::Outside } else { Trust::Tool }, &text);
        }
    }

    /// Whether anybody may have written the result of a call. The stored rest of a page is as much from outside.
    fn is_outside(&self, call: &ToolUse<'_>) -> bool {
        let reads_stored = || call.input.get().contains(STORED_RESULTS);
        is_from_outside(call)
            || (reads_stored() && self.state().record.outside_contains(STORED_RESULTS))
    }

    /// Whether a part of a text is from outside.
    pub(super) fn repeats_outside(&self, text: &str, quarantined: &[QuarantinedText]) -> bool {
        self.state().record.repeats_outside(text, quarantined)
    }

    /// The messages that a text comes from.
    pub(super) fn sources_of(
        &self,
        claimed: &ClaimedText<'_>,
        quarantined: &[QuarantinedText],
    ) -> Vec<MessageSource> {
        let state = self.state();
        state.record.sources_of(claimed, &state.session, quarantined)
    }
}
