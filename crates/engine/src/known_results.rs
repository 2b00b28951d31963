//! Whether the calls of a round brought anything that the model did not have. They did not where every one of them was made before
//! with the same result, or only reads a memory that came with the prompt, as small models do.

use std::path::PathBuf;
use std::sync::Arc;

use dormouse_context::RecalledMemories;
use dormouse_conversation::{Block, BlockKind, Message, Role};
use dormouse_memory::RecalledTexts;

use crate::turn_state::is_known_result;

/// Messages of the user, results of calls among them, in which a memory that was shown still stands before the model.
const RECENT: usize = 8;

/// Whether all results are known. `files` are those of the calls that have succeeded.
pub(crate) fn are_all_known(
    results: &[Block],
    files: &[PathBuf],
    messages: &[Arc<Message>],
) -> bool {
    let is_result = |block: &&Block| matches!(block.kind(), BlockKind::ToolResult { .. });
    let count = results.iter().filter(is_result).count();
    let is_repeated = || results.iter().filter(is_result).all(is_known_result);
    let is_shown = || {
        let shown = shown_memories(messages);
        files.len() == count && files.iter().all(|file| shown.contains(file))
    };
    count > 0 && (is_repeated() || is_shown())
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
