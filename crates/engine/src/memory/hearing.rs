//! What memory is told of a conversation, and how far each part of it can be trusted (M-17): what the person
//! types, and what tools bring.

use dormouse_base::MessageId;
use dormouse_context::{CalledSkill, RecalledMemories};
use dormouse_conversation::{Block, BlockKind, Message, ResultContent, Role, ToolUse};
use dormouse_memory::Trust;

use super::MemoryAccess;

/// Programs that bring text from outside.
const FETCHERS: &[&str] =
    &["curl", "wget", "gh", "glab", "lynx", "w3m", "links", "http", "https", "xh", "nc", "ncat"];
/// The folder of results that were too long to send, as paths to it have it.
const STORED: &str = "/tool-results/";

impl MemoryAccess {
    /// A conversation goes on: what was said in it is heard again.
    pub(crate) fn hear_again<'m>(&self, messages: impl Iterator<Item = &'m Message>) {
        let mut calls: &[Block] = &[];
        for message in messages {
            if message.role == Role::Assistant {
                calls = &message.blocks;
                continue;
            }
            self.hear_results(message.id, &message.blocks, calls);
            // What the program puts in is nobody's word.
            if !message.flags.meta && message.tool_results().next().is_none() {
                self.hear(message.id, Trust::Typed, &typed(message));
            }
        }
    }

    /// What tools brought, and from where.
    pub(crate) fn hear_results(&self, id: MessageId, results: &[Block], calls: &[Block]) {
        for result in results {
            let (BlockKind::ToolResult { id: of }, Some(ResultContent::Text(text))) =
                (result.kind(), result.result_content())
            else {
                continue;
            };
            let call = calls.iter().filter_map(Block::as_tool_use).find(|call| call.id == of);
            let outside = call.is_some_and(|call| self.is_outside(&call));
            self.hear(id, if outside { Trust::Outside } else { Trust::Tool }, &text);
        }
    }

    /// Whether anybody may have written what a call brings.
    fn is_outside(&self, call: &ToolUse<'_>) -> bool {
        let input = call.input.get();
        matches!(call.name, "WebFetch" | "WebSearch")
            || call.name.starts_with("mcp__")
            || (call.name == "Bash" && names_a_fetcher(input))
            // The rest of a page that was too long.
            || (input.contains(STORED) && self.heard_outside(STORED))
    }
}

/// What was said in a message, and by whom: what the program put in, what tools brought and summaries are nobody's
/// word (B-26).
pub fn said_in(message: &Message) -> Option<(Trust, String)> {
    if message.flags.meta
        || message.flags.compact_summary
        || message.tool_results().next().is_some()
    {
        return None;
    }
    match message.role {
        Role::User => Some((Trust::Typed, typed(message))),
        Role::Assistant => Some((Trust::Concluded, message.text())),
    }
}

/// What the person typed of a message: memories and a skill that came with it are not their words.
fn typed(message: &Message) -> String {
    let texts = message.blocks.iter().filter_map(Block::as_text);
    let ours =
        |text: &String| RecalledMemories::paths_in(text).is_some() || CalledSkill::is_in(text);
    texts.filter(|text| !ours(text)).collect()
}

/// Taken from the words of the command: one too many costs trust, one too few lets a page through.
fn names_a_fetcher(input: &str) -> bool {
    let words = input.split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.')));
    words.into_iter().any(|word| FETCHERS.contains(&word))
}
