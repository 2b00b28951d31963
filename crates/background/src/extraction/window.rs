//! The messages that a run looks at (B-9, B-10): those since the last one that was seen.

use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_conversation::known_tools::traits_of;
use dormouse_conversation::{Block, FileUse, Message, Role, ToolPurpose};

/// The messages after the last one that was seen. Where a compaction has removed that one, all messages count again:
/// better twice than never.
pub(super) fn messages_since(
    messages: &[Arc<Message>],
    seen: Option<MessageId>,
) -> &[Arc<Message>] {
    let position = seen.and_then(|seen| messages.iter().position(|message| message.id == seen));
    match position {
        Some(position) => messages.get(position + 1..).unwrap_or_default(),
        None => messages,
    }
}

/// How many of the messages the user or the model wrote.
pub(super) fn count_written(messages: &[Arc<Message>]) -> usize {
    let is_written = |message: &&Arc<Message>| {
        let flags = message.flags;
        let inserted = flags.meta || flags.compact_summary || flags.attachment;
        let has_results = message.tool_results().next().is_some();
        !inserted && !has_results && !message.text().trim().is_empty()
    };
    messages.iter().filter(is_written).count()
}

/// Whether the model has saved memories itself (B-7). `folders` are the memory directories.
pub(super) fn model_saved(messages: &[Arc<Message>], folders: &[String]) -> bool {
    let responses = messages.iter().filter(|message| message.role == Role::Assistant);
    let mut calls = responses.flat_map(|message| &message.blocks).filter_map(Block::as_tool_use);
    calls.any(|call| {
        let input = call.input.get();
        let in_memory = || folders.iter().any(|folder| input.contains(folder.as_str()));
        let traits = traits_of(call.name);
        traits.purpose == ToolPurpose::MemoryWrite
            || (traits.file_use.is_some_and(FileUse::changes) && in_memory())
    })
}
