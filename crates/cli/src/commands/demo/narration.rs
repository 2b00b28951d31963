//! What the demo prints: events of a scene, explanations, excerpts of files.

use dormouse_conversation::{Block, Message, ResultContent, Role};
use dormouse_engine::EngineEvent;
use dormouse_tui::width;

use crate::terminal::tty::columns;
use crate::wiring::compaction_notice::compaction_notice;
use crate::wiring::print;

/// How many lines of a long result are shown.
const SHOWN_LINES: usize = 4;

/// Prints an event of the engine.
pub(super) fn narrate(event: &EngineEvent) {
    match event {
        EngineEvent::Message(message) => show_message(message, show_excerpt),
        other => narrate_activity(other),
    }
}

/// Prints an event of the engine: of tool results only the number of lines, and no recalled memories.
pub(super) fn narrate_briefly(event: &EngineEvent) {
    match event {
        EngineEvent::Message(message) => show_message(message, |text| {
            line(&format!("  | {} lines", text.lines().count()));
        }),
        EngineEvent::Recalled(_) => {}
        other => narrate_activity(other),
    }
}

/// Prints a message. Calls are shown from here: the engine starts them before the text in front of them is complete.
fn show_message(message: &Message, show_result: impl Fn(&str)) {
    for block in &message.blocks {
        if let Some(ResultContent::Text(text)) = block.result_content() {
            show_result(&text);
        } else if let Some(call) = block.as_tool_use() {
            row(&format!("  [{}] {}", call.name, call.input.get()));
        } else if message.role == Role::Assistant
            && let Some(text) = Block::as_text(block)
        {
            line(text.trim());
        }
    }
}

fn narrate_activity(event: &EngineEvent) {
    match event {
        EngineEvent::Recalled(receipt) if !receipt.recalled.is_empty() => {
            line(&format!("  {}", receipt.line()));
            receipt.explained().iter().for_each(|detail| row(&format!("    {detail}")));
        }
        EngineEvent::Remembered(what) => line(&format!("  memory: {what}")),
        EngineEvent::Compacted(report) => line(&format!("  {}", compaction_notice(report))),
        EngineEvent::Notice(notice) => line(&format!("  note: {notice}")),
        _ => {}
    }
}

/// Prints text. On a terminal it is wrapped at word boundaries; in a pipe it stays on one line.
pub(super) fn line(text: &str) {
    if !print::is_terminal() {
        return print::data_line(text);
    }
    for part in text.split('\n') {
        let indent = part.len() - part.trim_start().len();
        for wrapped in wrap(part, columns(), indent) {
            print::data_line(&wrapped);
        }
    }
}

/// Prints text in one row: on a terminal it is cut at the edge.
fn row(text: &str) {
    if print::is_terminal() {
        print::data_line(&width::fitted(text, columns()));
    } else {
        print::data_line(text);
    }
}

/// Prints an explanation of what just happened.
pub(super) fn explain(text: &str) {
    line(&format!("  why: {text}"));
}

/// Prints the first lines of a text.
pub(super) fn show_excerpt(text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    // One line more takes no more space than saying so.
    let shown = if lines.len() == SHOWN_LINES + 1 { lines.len() } else { SHOWN_LINES };
    for text in lines.iter().take(shown) {
        row(&format!("  | {text}"));
    }
    if lines.len() > shown {
        line(&format!("  | … {} more lines", lines.len() - shown));
    }
}

/// Wraps text at word boundaries, with a hanging indent. A longer word gets a row of its own.
fn wrap(text: &str, width: usize, indent: usize) -> Vec<String> {
    let margin = " ".repeat(indent + usize::from(indent > 0) * 2);
    let mut rows = vec![" ".repeat(indent)];
    for word in text.split_whitespace() {
        let Some(row) = rows.last_mut() else { break };
        let has_words = !row.trim().is_empty();
        if has_words && width::of(row) + 1 + width::of(word) > width {
            rows.push(format!("{margin}{word}"));
        } else {
            row.push_str(if has_words { " " } else { "" });
            row.push_str(word);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_wrap_at_word_boundaries() {
        assert_eq!(wrap("  why: one two three", 12, 2), ["  why: one", "    two", "    three"]);
        assert_eq!(wrap("Scene 1: 睡鼠 sleeps", 13, 0), ["Scene 1: 睡鼠", "sleeps"]);
        assert_eq!(wrap("", 10, 0), [""]);
        assert_eq!(wrap("incomprehensibilities", 5, 0), ["incomprehensibilities"]);
    }
}
