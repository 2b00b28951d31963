//! What memory is told of a conversation, and how far each part of it can be trusted (M-17): what the person
//! types, and what tools bring.

use dormouse_base::MessageId;
use dormouse_context::{InvokedSkill, RecalledMemories};
use dormouse_conversation::{Block, BlockKind, Message, ResultContent, Role, ToolUse};
use dormouse_memory::Trust;

use super::SessionMemory;
use super::voices::{STORED, is_from_outside};

impl SessionMemory {
    /// A conversation goes on: what was said in it is heard again.
    pub(crate) fn record_history<'m>(&self, messages: impl Iterator<Item = &'m Message>) {
        let mut calls: &[Block] = &[];
        for message in messages {
            if message.role == Role::Assistant {
                calls = &message.blocks;
                continue;
            }
            self.record_results(message.id, &message.blocks, calls);
            // What the program puts in is nobody's word.
            if !message.flags.meta && message.tool_results().next().is_none() {
                self.record(message.id, Trust::Typed, &typed(message));
            }
        }
    }

    /// What tools brought, and from where.
    pub(crate) fn record_results(&self, id: MessageId, results: &[Block], calls: &[Block]) {
        for result in results {
            let (BlockKind::ToolResult { id: of }, Some(ResultContent::Text(text))) =
                (result.kind(), result.result_content())
            else {
                continue;
            };
            let call = calls.iter().filter_map(Block::as_tool_use).find(|call| call.id == of);
            let outside = call.is_some_and(|call| self.is_outside(&call));
            self.record(id, if outside { Trust::Outside } else { Trust::Tool }, &text);
        }
    }

    /// Whether anybody may have written what a call brings.
    fn is_outside(&self, call: &ToolUse<'_>) -> bool {
        // The rest of a page that was too long is as much from outside.
        is_from_outside(call) || (call.input.get().contains(STORED) && self.heard_outside(STORED))
    }
}

/// What the person typed of a message: memories and a skill that came with it are not their words.
fn typed(message: &Message) -> String {
    let texts = message.blocks.iter().filter_map(Block::as_text);
    let ours =
        |text: &String| RecalledMemories::paths_in(text).is_some() || InvokedSkill::is_in(text);
    texts.filter(|text| !ours(text)).collect()
}
