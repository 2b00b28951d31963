//! The events of a turn as the updates that an editor shows.

use std::collections::HashMap;
use std::path::PathBuf;

use agent_client_protocol::v1::schema::{
    ContentChunk, SessionUpdate, ToolCallStatus, ToolCallUpdate, ToolCallUpdateFields,
};
use dormouse_conversation::{Block, ToolUseId};
use dormouse_engine::EngineEvent;

use crate::interactive::tool_calls::result_text;
use crate::wiring::compaction_notice::compaction_notice;
use crate::wiring::engine_notice::notice_text;

use super::tool_updates::{changed, described, todo_plan};

/// The updates of one turn.
pub(super) struct SessionUpdates {
    folder: PathBuf,
    /// The arguments of calls that run.
    running: HashMap<ToolUseId, String>,
}

impl SessionUpdates {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder, running: HashMap::new() }
    }

    /// What an event changes on the editor's screen.
    pub(super) fn of(&mut self, event: &EngineEvent) -> Vec<SessionUpdate> {
        match event {
            EngineEvent::Text(text) => vec![said(text)],
            EngineEvent::Thinking(text) => {
                vec![SessionUpdate::AgentThoughtChunk(ContentChunk::new(text.as_str().into()))]
            }
            EngineEvent::ToolStarted { id, name, input } => self.started(id, name, input),
            EngineEvent::ToolChanged { id, input } => {
                self.running.insert(id.clone(), input.clone());
                Vec::new()
            }
            EngineEvent::ToolDenied { id, name, input, why } => {
                let call = described(id.as_str(), name, input, &self.folder)
                    .status(ToolCallStatus::Failed)
                    .content(vec![why.as_str().into()]);
                vec![SessionUpdate::ToolCall(call)]
            }
            EngineEvent::ToolFinished { id, is_error, result, .. } => {
                vec![self.finished(id, *is_error, result)]
            }
            EngineEvent::Recalled(receipt) if receipt.recalled.is_empty() => Vec::new(),
            EngineEvent::Recalled(receipt) => vec![noted(&receipt.line())],
            EngineEvent::Remembered(what) => {
                vec![noted(&format!("memory: {what}; undo: `dormouse memory undo`"))]
            }
            EngineEvent::Corrected(corrected) => {
                vec![noted(&corrected.line("dormouse memory guard"))]
            }
            EngineEvent::Planned(plan) => vec![said(&plan.text)],
            EngineEvent::Notice(notice) => vec![noted(&notice_text(notice))],
            EngineEvent::Compacted(report) => vec![noted(&compaction_notice(report))],
            EngineEvent::Retrying { error, delay, retry, of } => {
                let wait = delay.as_secs_f32();
                vec![noted(&format!("{error}; retrying in {wait:.1} s ({retry} of {of})"))]
            }
            EngineEvent::Withdrawn => {
                vec![noted("the response broke off and is requested again")]
            }
            EngineEvent::Answering
            | EngineEvent::Message(_)
            | EngineEvent::Counted(_)
            | EngineEvent::Steered(_)
            | EngineEvent::TerminalSequence(_)
            | EngineEvent::Compacting(_)
            | EngineEvent::ToolPrinted { .. } => Vec::new(),
        }
    }

    fn started(&mut self, id: &ToolUseId, name: &str, input: &str) -> Vec<SessionUpdate> {
        self.running.insert(id.clone(), input.to_owned());
        let call = described(id.as_str(), name, input, &self.folder);
        let mut updates = vec![SessionUpdate::ToolCall(call.status(ToolCallStatus::InProgress))];
        updates.extend(todo_plan(input).map(SessionUpdate::Plan));
        updates
    }

    fn finished(&mut self, id: &ToolUseId, is_error: bool, result: &Block) -> SessionUpdate {
        let input = self.running.remove(id).unwrap_or_default();
        let change = changed(&input, &self.folder).filter(|_| !is_error);
        let content = change.unwrap_or_else(|| result_text(result).into());
        let status = if is_error { ToolCallStatus::Failed } else { ToolCallStatus::Completed };
        let fields = ToolCallUpdateFields::new().status(status).content(vec![content]);
        SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(id.as_str().to_owned(), fields))
    }
}

/// Text of the model.
pub(super) fn said(text: &str) -> SessionUpdate {
    SessionUpdate::AgentMessageChunk(ContentChunk::new(text.into()))
}

/// Something that the model did not say: a quotation, so that it is told apart.
fn noted(text: &str) -> SessionUpdate {
    said(&format!("\n> {}\n\n", text.trim().replace('\n', "\n> ")))
}
