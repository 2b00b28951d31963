//! The results of clearable tools, found in one pass.

use std::sync::Arc;

use dormouse_conversation::known_tools::traits_of;
use dormouse_conversation::{Block, BlockKind, Message, Role, ToolUseId};

/// A tool's result in a conversation.
#[derive(Debug, Clone, Copy)]
pub(super) struct ToolResult<'a> {
    /// The place of its message.
    pub(super) message: usize,
    /// The call it answers.
    pub(super) id: &'a ToolUseId,
    /// The block.
    pub(super) block: &'a Block,
}

/// The results that may be cleared, oldest first. Results stand in the message behind their calls, so
/// only the calls of the answer before are remembered.
pub(super) fn clearable_results(messages: &[Arc<Message>]) -> Vec<ToolResult<'_>> {
    let mut calls: Vec<&ToolUseId> = Vec::new();
    let mut after_user = true;
    let mut found = Vec::new();
    for (index, message) in messages.iter().enumerate() {
        if message.role == Role::Assistant && after_user {
            calls.clear();
        }
        after_user = message.role == Role::User;
        for block in &message.blocks {
            match block.kind() {
                BlockKind::ToolUse { id, name } if traits_of(name).clearable => calls.push(id),
                BlockKind::ToolResult { id } if calls.contains(&id) => {
                    found.push(ToolResult { message: index, id, block });
                }
                BlockKind::Text
                | BlockKind::Thinking
                | BlockKind::RedactedThinking
                | BlockKind::ToolUse { .. }
                | BlockKind::ToolResult { .. }
                | BlockKind::Image
                | BlockKind::Document
                | BlockKind::Other(_) => {}
            }
        }
    }
    found
}
