//! What a run looks at (B-9, B-10): the messages since the last one that was seen, and whose word each part of
//! the conversation is.

use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_conversation::{Block, Message, Role};

/// Tools with which the model writes memories itself.
const SAVES: &[&str] = &["MemorySave", "MemoryDelete", "MemoryLog", "memory"];
/// Tools that write files, which may be memories.
const WRITES: &[&str] = &["Write", "Edit"];

/// The messages behind the last one that was seen. Where that one is gone (a compaction took it) all of them
/// count again: never none for ever.
pub(super) fn since(messages: &[Arc<Message>], seen: Option<MessageId>) -> &[Arc<Message>] {
    let place = seen.and_then(|seen| messages.iter().position(|message| message.id == seen));
    match place {
        Some(place) => messages.get(place + 1..).unwrap_or_default(),
        None => messages,
    }
}

/// How many of them the person or the model wrote.
pub(super) fn counted(messages: &[Arc<Message>]) -> usize {
    let counts = |message: &&Arc<Message>| {
        let flags = message.flags;
        let injected = flags.meta || flags.compact_summary || flags.attachment;
        let results = message.tool_results().next().is_some();
        !injected && !results && !message.text().trim().is_empty()
    };
    messages.iter().filter(counts).count()
}

/// Whether the model has written to memory in them itself (B-7). `folders` are the memory directories.
pub(super) fn model_wrote(messages: &[Arc<Message>], folders: &[String]) -> bool {
    let answers = messages.iter().filter(|message| message.role == Role::Assistant);
    let mut calls = answers.flat_map(|message| &message.blocks).filter_map(Block::as_tool_use);
    calls.any(|call| {
        let input = call.input.get();
        let in_memory = || folders.iter().any(|folder| input.contains(folder.as_str()));
        SAVES.contains(&call.name) || (WRITES.contains(&call.name) && in_memory())
    })
}
