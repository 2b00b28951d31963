//! The texts of a collapse: what asks for the summary of a span, and what is shown in its place.

use std::ops::Range;
use std::sync::Arc;

use dormouse_conversation::{Block, Message, Role};

use super::fold_span::{FoldSpan, SpanFold};
use super::view::FOLD_MARK;
use crate::compact::{INDEX_CHARS, UserText, identifier_index, keep_user_texts, user_text_in};

/// At most so many messages of a span are listed by their first words: from its beginning, and from its end.
const LISTED_FIRST: usize = 30;
const LISTED_LAST: usize = 10;
/// Of a span's tokens, this part is for the user's words, and this part of its characters for the index of names.
const WORDS_PART: u64 = 4;
const INDEX_PART: u64 = 16;

/// Asks a fork of the conversation for the summary of one span. The fork sends the conversation as it is, without ids or marks in
/// it, so the span is named by its place and by a numbered list of its messages.
pub fn fold_prompt(messages: &[Arc<Message>], span: &FoldSpan, room_tokens: u32) -> String {
    let words = room_tokens / 2;
    let range = place(messages, span).unwrap_or_default();
    let (first, last) = (range.start + 1, range.end);
    let total = messages.len();
    let list = numbered(messages.get(range).unwrap_or_default());
    format!(
        "This message comes from the program, not from the user. Do not call any tool and do not take up the work. One part of the conversation above will be folded: your summary is shown in its place, while everything before and after it stays as it is.\n\nThe part consists of the messages {first} to {last} of {total}. They begin like this, in this order:\n{list}\nSummarize this part only, between <summary> and </summary>, in at most about {words} words: what was asked in it, what was done and found, decisions and their reasons, what failed and how it was fixed, what is still open. Paths, names, commands, ids, numbers and error texts word for word. Do not repeat what stands outside of the part. The user's own words and an index of names are added by the program.",
    )
}

/// The messages of a span, each with its number and its first words.
fn numbered(span: &[Arc<Message>]) -> String {
    let mut list = String::new();
    let last_from = span.len().saturating_sub(LISTED_LAST).max(LISTED_FIRST);
    for (index, message) in span.iter().enumerate() {
        if index < LISTED_FIRST || index >= last_from {
            list.push_str(&format!("[{}] {}\n", index + 1, opening(message)));
        } else if index == LISTED_FIRST {
            list.push_str(&format!("[…] {} more\n", last_from - LISTED_FIRST));
        }
    }
    list
}

/// Where a span stands; none if it does not exist.
pub(super) fn place(messages: &[Arc<Message>], span: &FoldSpan) -> Option<Range<usize>> {
    let from = messages.iter().position(|message| message.id == span.from)?;
    let to = messages.iter().position(|message| message.id == span.to)?;
    (from <= to).then(|| from..to + 1)
}

/// What is shown instead of a span: its summary, the user's words, and the names that stood in it.
pub fn folded_text(fold: &SpanFold, messages: &[Arc<Message>], transcript: &str) -> String {
    let FoldSpan { from, to, tokens } = fold.span;
    let count = messages.len();
    let summary = fold.summary.trim();
    let mut text = format!(
        "{FOLD_MARK}{from}\" to=\"{to}\">\n{count} messages (about {tokens} tokens) are folded here; `/expand` brings them back. Word for word they are in {transcript}, from the line with uuid {from} to the one with uuid {to}. In short:\n\n{summary}\n"
    );
    let words = keep_user_texts(&user_texts(messages), tokens / WORDS_PART);
    if !words.is_empty() {
        text.push_str(&format!("\nThe user's words in it:\n{words}"));
    }
    let room = usize::try_from(tokens.saturating_mul(4) / INDEX_PART).unwrap_or(usize::MAX);
    let index = identifier_index(messages, &text, room.min(INDEX_CHARS));
    if !index.is_empty() {
        text.push_str(&format!("\nNames that stood in it:\n{index}"));
    }
    text.push_str("</folded>");
    text
}

/// What the user typed in these messages.
fn user_texts(messages: &[Arc<Message>]) -> Vec<UserText> {
    let said = messages.iter().filter_map(|message| {
        Some(UserText {
            message: message.id,
            at: message.timestamp,
            text: user_text_in(message)?,
            location: format!("the line with uuid {} of the transcript", message.id),
        })
    });
    said.collect()
}

/// The first characters of what a message says, on one line.
fn opening(message: &Message) -> String {
    const SHOWN: usize = 160;
    let text = message.blocks.iter().find_map(said).unwrap_or_default();
    let line: Vec<&str> = text.split_whitespace().collect();
    let line: String = line.join(" ").chars().take(SHOWN).collect();
    let who = if message.role == Role::User { "user" } else { "you" };
    format!("{who}: {line}")
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
