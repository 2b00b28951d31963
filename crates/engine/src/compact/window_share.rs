//! What fills the window, for `/context` and for whoever has to say why it stays full.

use dormouse_conversation::{BlockKind, Role, estimate_json, estimate_text};

use super::breaker::Stop;
use crate::Engine;

/// Something that takes room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WindowShare {
    /// What it is.
    pub what: &'static str,
    /// The tokens it takes, estimated.
    pub tokens: u64,
}

impl Engine {
    /// What fills the window, by kind, as estimated; what there is none of is left out.
    pub fn fillings(&self) -> Vec<WindowShare> {
        let system = self.prefix.system().iter().map(|block| u64::from(estimate_text(&block.text)));
        let tools = self.prefix.tools().iter().map(|tool| {
            u64::from(estimate_text(&tool.description))
                + u64::from(estimate_json(tool.input_schema.get()))
        });
        let first = self.prefix.opening_blocks().iter().map(|block| u64::from(block.tokens()));
        let mut fillings = vec![
            WindowShare { what: "system prompt", tokens: system.sum() },
            WindowShare { what: "tool definitions", tokens: tools.sum() },
            WindowShare { what: "instruction files, memory index, date", tokens: first.sum() },
        ];
        let mut add = |what: &'static str, tokens: u64| match fillings
            .iter_mut()
            .find(|filling| filling.what == what)
        {
            Some(filling) => filling.tokens += tokens,
            None => fillings.push(WindowShare { what, tokens }),
        };
        for message in self.history.messages() {
            for block in &message.blocks {
                let what = match (block.kind(), message.role) {
                    _ if message.flags.compact_summary => "summary of what was compacted",
                    _ if message.flags.meta => "what the program put in",
                    (BlockKind::ToolResult { .. }, _) => "tool results",
                    (BlockKind::ToolUse { .. }, _) => "tool calls",
                    (BlockKind::Thinking | BlockKind::RedactedThinking, _) => "thinking",
                    (BlockKind::Image | BlockKind::Document, _) => "pictures and documents",
                    (_, Role::User) => "what you said, and what went with it",
                    (_, Role::Assistant) => "answers",
                };
                add(what, u64::from(block.tokens()));
            }
        }
        fillings.retain(|filling| filling.tokens > 0);
        fillings
    }
}

/// What takes the most room, in words.
pub(super) fn most(mut fillings: Vec<WindowShare>) -> String {
    fillings.sort_by_key(|filling| std::cmp::Reverse(filling.tokens));
    let named: Vec<String> = fillings
        .iter()
        .take(4)
        .map(|filling| format!("{} (about {} tokens)", filling.what, filling.tokens))
        .collect();
    named.join(", ")
}

/// Why compacting by itself has stopped, and what filled the window before.
pub(super) fn why_it_stops(stop: Stop, fillings: Vec<WindowShare>) -> String {
    let why = match stop {
        Stop::Vain => "compacting hardly frees anything any more",
        Stop::Often => "the window was full three times within ten requests",
    };
    format!(
        "{why}, so it is not compacted by itself any more; it was filled by {}; shorten what you can, or begin anew with /clear; /compact tries again",
        most(fillings)
    )
}
