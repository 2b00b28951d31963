//! What fills the context window, for `/context` and for notices.

use dormouse_conversation::{BlockKind, Role, estimate_json, estimate_text};

use super::breaker::BreakerStop;
use crate::conversation::Conversation;

/// A kind of content that takes room in the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowShare {
    /// The kind.
    pub what: &'static str,
    /// The tokens it takes, estimated.
    pub tokens: u64,
}

/// What fills the window, by kind, estimated; empty kinds are left out.
pub(super) fn window_shares(conversation: &Conversation) -> Vec<WindowShare> {
    let system =
        conversation.prefix().system().iter().map(|block| u64::from(estimate_text(&block.text)));
    let tools = conversation.prefix().tools().iter().map(|tool| {
        u64::from(estimate_text(&tool.description))
            + u64::from(estimate_json(tool.input_schema.get()))
    });
    let first =
        conversation.prefix().opening_blocks().iter().map(|block| u64::from(block.tokens()));
    let mut shares = vec![
        WindowShare { what: "system prompt", tokens: system.sum() },
        WindowShare { what: "tool definitions", tokens: tools.sum() },
        WindowShare { what: "instruction files, memory index, date", tokens: first.sum() },
    ];
    let mut add = |what: &'static str, tokens: u64| match shares
        .iter_mut()
        .find(|share| share.what == what)
    {
        Some(share) => share.tokens += tokens,
        None => shares.push(WindowShare { what, tokens }),
    };
    for message in conversation.messages() {
        for block in &message.blocks {
            let what = match (block.kind(), message.role) {
                _ if message.flags.compact_summary => "summary of compacted messages",
                _ if message.flags.meta => "messages of the program",
                (BlockKind::ToolResult { .. }, _) => "tool results",
                (BlockKind::ToolUse { .. }, _) => "tool calls",
                (BlockKind::Thinking | BlockKind::RedactedThinking, _) => "thinking",
                (BlockKind::Image | BlockKind::Document, _) => "pictures and documents",
                (_, Role::User) => "your messages and their attachments",
                (_, Role::Assistant) => "answers",
            };
            add(what, u64::from(block.tokens()));
        }
    }
    shares.retain(|share| share.tokens > 0);
    shares
}

/// The largest shares, in words.
pub(super) fn largest(mut shares: Vec<WindowShare>) -> String {
    shares.sort_by_key(|share| std::cmp::Reverse(share.tokens));
    let named: Vec<String> = shares
        .iter()
        .take(4)
        .map(|share| format!("{} (about {} tokens)", share.what, share.tokens))
        .collect();
    named.join(", ")
}

/// Why compaction by itself has stopped, and what filled the window before.
pub(super) fn stop_notice(stop: BreakerStop, shares: Vec<WindowShare>) -> String {
    let why = match stop {
        BreakerStop::Ineffective => "Compaction hardly frees anything any more",
        BreakerStop::TooFrequent => "The context window was full three times within ten requests",
    };
    format!(
        "{why}, so it is not compacted by itself any more. It was filled by {}. Start a new session with /clear, or try again with /compact",
        largest(shares)
    )
}
