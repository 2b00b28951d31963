//! Texts of messages, and texts cut to a size.
//!
//! Sizes are bytes: a token stands for four of them in every estimate of this program.

use std::borrow::Cow;

use dormouse_conversation::{Block, BlockKind, Message, ResultContent};
use serde_json::Value;

/// The bytes that this many tokens of text have.
pub(super) fn bytes_of(tokens: u64) -> usize {
    usize::try_from(tokens.saturating_mul(4)).unwrap_or(usize::MAX)
}

/// Whose text it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    /// Whoever wrote the message: the user, the model.
    Author,
    /// A tool that printed it.
    Tool,
}

/// Gives every text of a message: what was said, the strings of a call's arguments, results. Thinking
/// is left out, for it never outlives a compaction.
pub(super) fn each_text(message: &Message, take: &mut impl FnMut(Speaker, &str)) {
    for block in &message.blocks {
        each_text_of_block(block, take);
    }
}

fn each_text_of_block(block: &Block, take: &mut impl FnMut(Speaker, &str)) {
    match block.kind() {
        BlockKind::Text => {
            if let Some(text) = block.as_text() {
                take(Speaker::Author, &text);
            }
        }
        BlockKind::ToolUse { .. } => {
            if let Some(call) = block.as_tool_use()
                && let Ok(input) = serde_json::from_str::<Value>(call.input.get())
            {
                each_string(&input, &mut |text| take(Speaker::Author, text));
            }
        }
        BlockKind::ToolResult { .. } => {
            for text in result_texts(block) {
                take(Speaker::Tool, &text);
            }
        }
        BlockKind::Thinking
        | BlockKind::RedactedThinking
        | BlockKind::Image
        | BlockKind::Document
        | BlockKind::Other(_) => {}
    }
}

/// The texts of a tool's answer.
pub(super) fn result_texts(block: &Block) -> Vec<String> {
    match block.result_content() {
        Some(ResultContent::Text(text)) => vec![text],
        Some(ResultContent::Blocks(blocks)) => blocks.iter().filter_map(Block::as_text).collect(),
        None => Vec::new(),
    }
}

/// The strings and numbers of a value. Its depth is bounded by the parser.
fn each_string(value: &Value, take: &mut dyn FnMut(&str)) {
    match value {
        Value::String(text) => take(text),
        Value::Number(number) => take(&number.to_string()),
        Value::Array(list) => list.iter().for_each(|value| each_string(value, take)),
        Value::Object(fields) => fields.values().for_each(|value| each_string(value, take)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// The first bytes, inside no character.
pub(super) fn head(text: &str, bytes: usize) -> &str {
    text.get(..text.floor_char_boundary(bytes)).unwrap_or_default()
}

/// The last bytes, inside no character.
pub(super) fn tail(text: &str, bytes: usize) -> &str {
    text.get(text.ceil_char_boundary(text.len().saturating_sub(bytes))..).unwrap_or_default()
}

/// The first bytes, up to the end of a line if there is one in them.
pub(super) fn head_lines(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let head = head(text, bytes);
    head.rsplit_once('\n').map_or(head, |(lines, _)| lines)
}

/// The first line that says something, at most this many characters of it.
pub(super) fn first_line(text: &str, chars: usize) -> Cow<'_, str> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(chars) {
        None => Cow::Borrowed(line),
        Some((end, _)) => Cow::Owned(format!("{}…", head(line, end))),
    }
}

/// Head and tail of a text that is too long, and what was left out between them; at most this many bytes,
/// if that is enough for the words in the middle.
pub(crate) fn head_and_tail(text: &str, bytes: usize) -> Cow<'_, str> {
    const BETWEEN: usize = 60;
    if text.len() <= bytes {
        return Cow::Borrowed(text);
    }
    let room = bytes.saturating_sub(BETWEEN);
    let (head, tail) = (head(text, room / 3 * 2), tail(text, room / 3));
    let left_out = text.len() - head.len() - tail.len();
    Cow::Owned(format!("{head}\n[… {left_out} bytes left out here …]\n{tail}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_are_inside_no_character() {
        assert_eq!((head("睡鼠", 4), tail("睡鼠", 4)), ("睡", "鼠"));
        assert_eq!(head_lines("one\ntwo\nthree", 9), "one\ntwo");
        assert_eq!(head_lines("one\ntwo", 9), "one\ntwo");
        assert_eq!(first_line("\n  a long line\nmore", 6), "a long…");
        let long = "睡".repeat(10_000);
        let cut = head_and_tail(&long, 500);
        assert!(cut.len() <= 500 && cut.contains("bytes left out here"), "{cut}");
        assert_eq!(head_and_tail("short", 500), "short");
    }
}
