//! The events of a turn as the updates that an editor shows.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_conversation::{Block, ToolUseId};
use dormouse_engine::EngineEvent;

use crate::interactive::tool_calls::result_text;
use crate::message_catalog::msg;
use crate::wiring::compaction_notice::compaction_notice;
use crate::wiring::engine_notice::notice_text;
use crate::wiring::recall_notice::recall_notice;

use super::client_terminals::CallTerminals;
use super::protocol::{CallContent, EditorUpdate, ShownCall, ShownStatus, TextPart};
use super::tool_updates::{changed, described, todo_plan};

/// The updates of one turn.
pub(super) struct SessionUpdates {
    folder: PathBuf,
    /// The arguments of calls that run.
    running: HashMap<ToolUseId, String>,
    terminals: Arc<CallTerminals>,
}

impl SessionUpdates {
    pub(super) fn new(folder: PathBuf, terminals: Arc<CallTerminals>) -> Self {
        Self { folder, running: HashMap::new(), terminals }
    }

    /// What an event changes on the editor's screen.
    pub(super) fn of(&mut self, event: &EngineEvent) -> Vec<EditorUpdate> {
        match event {
            EngineEvent::Text(text) => vec![said(text)],
            EngineEvent::Thinking(text) => {
                vec![EditorUpdate::AgentThoughtChunk { content: TextPart::new(text.as_str()) }]
            }
            EngineEvent::ToolStarted { id, name, input } => self.started(id, name, input),
            EngineEvent::ToolChanged { id, input } => {
                self.running.insert(id.clone(), input.clone());
                Vec::new()
            }
            EngineEvent::ToolDenied { id, name, input, why } => {
                let call = described(id.as_str(), name, input, &self.folder);
                vec![EditorUpdate::ToolCall(ShownCall {
                    status: Some(ShownStatus::Failed),
                    content: vec![CallContent::text(why.as_str())],
                    ..call
                })]
            }
            EngineEvent::ToolFinished { id, is_error, result, .. } => {
                vec![self.finished(id, *is_error, result)]
            }
            EngineEvent::Recalled(receipt) if !receipt.concerns_user() => Vec::new(),
            EngineEvent::Recalled(receipt) => vec![noted(&recall_notice(receipt))],
            EngineEvent::Remembered(what) => vec![remembered(what)],
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
            EngineEvent::Compacting(_) => {
                let content = TextPart::new(msg!("progress-compacting"));
                vec![EditorUpdate::AgentThoughtChunk { content }]
            }
            // The newest line, until the result is there.
            EngineEvent::ToolPrinted { id, line } if self.running.contains_key(id) => {
                vec![EditorUpdate::ToolCallUpdate(ShownCall {
                    tool_call_id: id.as_str().to_owned(),
                    content: vec![CallContent::text(line.as_str())],
                    ..ShownCall::default()
                })]
            }
            EngineEvent::ToolPrinted { .. }
            | EngineEvent::Answering
            | EngineEvent::Message(_)
            | EngineEvent::Counted(_)
            | EngineEvent::Steered(_)
            | EngineEvent::TerminalSequence(_) => Vec::new(),
        }
    }

    fn started(&mut self, id: &ToolUseId, name: &str, input: &str) -> Vec<EditorUpdate> {
        self.running.insert(id.clone(), input.to_owned());
        self.terminals.started(id.as_str());
        let call = described(id.as_str(), name, input, &self.folder);
        let call = ShownCall { status: Some(ShownStatus::InProgress), ..call };
        let mut updates = vec![EditorUpdate::ToolCall(call)];
        updates.extend(todo_plan(input));
        updates
    }

    fn finished(&mut self, id: &ToolUseId, is_error: bool, result: &Block) -> EditorUpdate {
        let input = self.running.remove(id).unwrap_or_default();
        let change = changed(&input, &self.folder).filter(|_| !is_error);
        let shown = self.terminals.finished(id.as_str());
        let shown = shown.map(|terminal_id| CallContent::Terminal { terminal_id });
        // A terminal does not say that its command was killed.
        let text = (shown.is_none() || is_error).then(|| CallContent::text(result_text(result)));
        let content = match change {
            Some(change) => vec![change],
            None => shown.into_iter().chain(text).collect(),
        };
        let status = if is_error { ShownStatus::Failed } else { ShownStatus::Completed };
        EditorUpdate::ToolCallUpdate(ShownCall {
            tool_call_id: id.as_str().to_owned(),
            status: Some(status),
            content,
            ..ShownCall::default()
        })
    }
}

/// Text of the model.
pub(super) fn said(text: &str) -> EditorUpdate {
    EditorUpdate::AgentMessageChunk { content: TextPart::new(text) }
}

/// What memory has saved.
pub(super) fn remembered(what: &str) -> EditorUpdate {
    noted(&format!("memory: {what}; undo: `dormouse memory undo`"))
}

/// Something that the model did not say: a quotation, so that it is told apart.
pub(super) fn noted(text: &str) -> EditorUpdate {
    said(&format!("\n> {}\n\n", text.trim().replace('\n', "\n> ")))
}
