//! A resumed conversation, as the updates that show it again.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_conversation::{Block, BlockKind, Role};
use dormouse_engine::{Conversation, EngineEvent, without_notes};

use super::protocol::{EditorUpdate, TextPart};
use super::updates::{SessionUpdates, said};

/// All that was said and done, in its order. What was compacted is not in the conversation any more.
pub(super) fn replayed(conversation: &Conversation, folder: &Path) -> Vec<EditorUpdate> {
    let prompts: HashMap<MessageId, String> = conversation
        .user_messages()
        .into_iter()
        .map(|prompt| (prompt.message, prompt.text))
        .collect();
    let mut calls = SessionUpdates::new(folder.to_owned(), Arc::default());
    let mut updates = Vec::new();
    for message in conversation.history().messages() {
        if let Some(text) = prompts.get(&message.id) {
            updates.push(EditorUpdate::UserMessageChunk { content: TextPart::new(text.as_str()) });
            continue;
        }
        if message.role == Role::Assistant && !message.text().trim().is_empty() {
            updates.push(said(&message.text()));
        }
        for block in &message.blocks {
            updates.extend(event_of(block).map(|event| calls.of(&event)).unwrap_or_default());
        }
    }
    updates
}

fn event_of(block: &Block) -> Option<EngineEvent> {
    if let Some(call) = block.as_tool_use() {
        let (id, name) = (call.id.clone(), call.name.to_owned());
        return Some(EngineEvent::ToolStarted { id, name, input: call.input.get().to_owned() });
    }
    match block.kind() {
        BlockKind::ToolResult { id } => Some(EngineEvent::ToolFinished {
            id: id.clone(),
            name: String::new(),
            is_error: block.is_error(),
            result: without_notes(block),
        }),
        _ => None,
    }
}
