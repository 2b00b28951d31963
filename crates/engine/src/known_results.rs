//! Whether the calls of a round brought anything that the model did not have. Small models make the same call again, and read the
//! files of memories that came with the prompt.

use std::path::PathBuf;
use std::sync::Arc;

use dormouse_context::RecalledMemories;
use dormouse_conversation::{Block, BlockKind, Message, Role};
use dormouse_memory::RecalledTexts;

use crate::turn_state::is_known_result;

/// How many of the latest user messages, tool results among them, are searched for memories that were shown.
const RECENT: usize = 8;

/// Whether every call was made before, with the same result.
pub(crate) fn are_repeated(results: &[Block]) -> bool {
    let mut calls = tool_results(results).peekable();
    calls.peek().is_some() && calls.all(is_known_result)
}

/// Whether every call reads a memory whose text came with a message. `files` are those of the calls that have succeeded.
pub(crate) fn are_shown_memories(
    results: &[Block],
    files: &[PathBuf],
    messages: &[Arc<Message>],
) -> bool {
    if files.is_empty() || files.len() != tool_results(results).count() {
        return false;
    }
    let shown = shown_memories(messages);
    files.iter().all(|file| shown.contains(file))
}

fn tool_results(blocks: &[Block]) -> impl Iterator<Item = &Block> {
    blocks.iter().filter(|block| matches!(block.kind(), BlockKind::ToolResult { .. }))
}

/// The files of the memories whose text came with the user's last messages.
fn shown_memories(messages: &[Arc<Message>]) -> Vec<PathBuf> {
    let mut shown = Vec::new();
    let from_user = messages.iter().rev().filter(|message| message.role == Role::User);
    for text in from_user.take(RECENT).flat_map(|it| it.blocks.iter().filter_map(Block::as_text)) {
        let files = RecalledMemories::text_in(&text).map(RecalledTexts::shown_in);
        shown.extend(files.into_iter().flatten().map(PathBuf::from));
    }
    shown
}
