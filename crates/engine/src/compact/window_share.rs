//! What fills the context window, for `/context` and for notices.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use dormouse_conversation::known_tools::MCP_PREFIX;
use dormouse_conversation::{
    Block, BlockKind, Message, Prefix, Role, estimate_json, estimate_text,
};

use super::breaker::BreakerStop;
use crate::memory::index_tokens;

/// A kind of content that takes room in the window. Displayed as English words, for notices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WindowPart {
    /// The system prompt.
    System,
    /// The definitions of the program's own tools.
    Tools,
    /// The definitions of the tools of MCP servers.
    McpTools,
    /// Instruction files and the date.
    Instructions,
    /// The memory index.
    MemoryIndex,
    /// The summary of compacted messages.
    Summary,
    /// Messages of the program: recalled memories, announcements.
    Program,
    /// The user's messages and what is attached to them.
    User,
    /// The model's answers.
    Answers,
    /// What the model thought.
    Thinking,
    /// Tool calls.
    Calls,
    /// Tool results.
    Results,
    /// Pictures and documents.
    Pictures,
}

impl fmt::Display for WindowPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::System => "system prompt",
            Self::Tools => "tool definitions",
            Self::McpTools => "tool definitions of MCP servers",
            Self::Instructions => "instruction files, date",
            Self::MemoryIndex => "memory index",
            Self::Summary => "summary of compacted messages",
            Self::Program => "messages of the program",
            Self::User => "your messages and their attachments",
            Self::Answers => "answers",
            Self::Thinking => "thinking",
            Self::Calls => "tool calls",
            Self::Results => "tool results",
            Self::Pictures => "pictures and documents",
        })
    }
}

/// A kind of content, and the room it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowShare {
    /// The kind.
    pub part: WindowPart,
    /// The tokens it takes, estimated.
    pub tokens: u64,
}

/// What fills the window, in the order of the request, estimated; empty kinds are left out.
pub fn window_shares(prefix: &Prefix, messages: &[Arc<Message>]) -> Vec<WindowShare> {
    let mut shares = BTreeMap::new();
    let mut add = |part: WindowPart, tokens: u64| *shares.entry(part).or_insert(0) += tokens;
    for block in prefix.system() {
        add(WindowPart::System, u64::from(estimate_text(&block.text)));
    }
    for tool in prefix.tools() {
        let tokens = u64::from(estimate_text(&tool.description))
            + u64::from(estimate_json(tool.input_schema.get()));
        let is_mcp = tool.name.starts_with(MCP_PREFIX);
        add(if is_mcp { WindowPart::McpTools } else { WindowPart::Tools }, tokens);
    }
    let opening: u64 = prefix.opening_blocks().iter().map(|block| u64::from(block.tokens())).sum();
    let index = prefix.opening_blocks().iter().filter_map(Block::as_text);
    let index = index.map(|text| index_tokens(&text)).sum();
    add(WindowPart::MemoryIndex, index);
    add(WindowPart::Instructions, opening.saturating_sub(index));
    for message in messages {
        for block in &message.blocks {
            let part = match (block.kind(), message.role) {
                _ if message.flags.compact_summary => WindowPart::Summary,
                _ if message.flags.meta => WindowPart::Program,
                (BlockKind::ToolResult { .. }, _) => WindowPart::Results,
                (BlockKind::ToolUse { .. }, _) => WindowPart::Calls,
                (BlockKind::Thinking | BlockKind::RedactedThinking, _) => WindowPart::Thinking,
                (BlockKind::Image | BlockKind::Document, _) => WindowPart::Pictures,
                (_, Role::User) => WindowPart::User,
                (_, Role::Assistant) => WindowPart::Answers,
            };
            add(part, u64::from(block.tokens()));
        }
    }
    let shares = shares.into_iter().filter(|(_, tokens)| *tokens > 0);
    shares.map(|(part, tokens)| WindowShare { part, tokens }).collect()
}

/// The largest shares, in words.
pub(super) fn largest(mut shares: Vec<WindowShare>) -> String {
    shares.sort_by_key(|share| std::cmp::Reverse(share.tokens));
    let named: Vec<String> = shares
        .iter()
        .take(4)
        .map(|share| format!("{} (about {} tokens)", share.part, share.tokens))
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
