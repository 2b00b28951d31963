//! The texts of a collapse: what asks for the summary of a span, and what is shown in its place.

use std::sync::Arc;

use dormouse_conversation::{Block, Message};

use super::fold_span::{FoldSpan, SpanFold};
use super::view::FOLD_MARK;

/// Asks a fork of the conversation for the summary of one span. The fork sees everything; the span is
/// named by its first and last words, since ids are not sent.
pub fn fold_prompt(messages: &[Arc<Message>], span: &FoldSpan, room_tokens: u32) -> String {
    let words = room_tokens / 2;
    let quoted = |id| {
        messages
            .iter()
            .find(|message| message.id == id)
            .map_or_else(String::new, |message| opening(message))
    };
    format!(
        "This message comes from the program, not from the user. Do not call any tool and do not take up the work. One part of the conversation above will be folded: your summary is shown in its place, while everything before and after it stays as it is.\n\nThe part begins with the message that opens:\n{}\n\nand ends with the message that opens:\n{}\n\nSummarize this part only, between <summary> and </summary>, in at most about {words} words: what was asked in it, what was done and found, decisions and their reasons, what failed and how it was fixed, what is still open. Paths, names, commands, ids, numbers and error texts word for word. Do not repeat what stands outside of the part.",
        quoted(span.from),
        quoted(span.to),
    )
}

/// What is shown instead of a span.
pub fn folded_text(fold: &SpanFold, messages: usize, transcript: &str) -> String {
    let FoldSpan { from, to, tokens } = fold.span;
    format!(
        "{FOLD_MARK}{from}\" to=\"{to}\">\n{messages} messages (about {tokens} tokens) are folded here; `/expand` brings them back. Word for word they are in {transcript}, from the line with uuid {from} to the one with uuid {to}. In short:\n\n{}\n</folded>",
        fold.summary.trim()
    )
}

/// The first characters of what a message says, on one line.
fn opening(message: &Message) -> String {
    const SHOWN: usize = 200;
    let text = message.blocks.iter().find_map(said).unwrap_or_default();
    let line: Vec<&str> = text.split_whitespace().collect();
    let line: String = line.join(" ").chars().take(SHOWN).collect();
    format!("> {line}")
}

/// Something of a block to know it by.
fn said(block: &Block) -> Option<String> {
    if let Some(text) = block.as_text() {
        return Some(text);
    }
    if let Some(call) = block.as_tool_use() {
        return Some(format!("(calls {} with {})", call.name, call.input.get()));
    }
    match block.result_content()? {
        dormouse_conversation::ResultContent::Text(text) => Some(format!("(result) {text}")),
        dormouse_conversation::ResultContent::Blocks(blocks) => {
            blocks.iter().find_map(Block::as_text).map(|text| format!("(result) {text}"))
        }
    }
}
