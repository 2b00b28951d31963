//! The person's words, kept by the program and not left to whoever summarises (C-17).

use dormouse_base::MessageId;
use dormouse_conversation::{Block, BlockKind, Message, Role};
use jiff::Timestamp;

use super::texts::{bytes_of, first_line, head_and_tail};

/// How texts begin that a program put into a message of the person: ours, and those of other agents.
const PROGRAM_MARKS: [&str; 8] = [
    "<system-reminder>",
    "<command-",
    "<local-command-",
    "<bash-stdout>",
    "<bash-stderr>",
    "<task-notification>",
    "<persisted-output>",
    "[Request interrupted by user",
];
/// Characters of an older message that is shown as a line.
const LINE_CHARS: usize = 100;
/// The list of older messages takes at most this share of the budget.
const OLDER_SHARE: usize = 5;

/// What a person typed, and where it is found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The message.
    pub message: MessageId,
    /// When.
    pub at: Timestamp,
    /// The words.
    pub text: String,
    /// How it is found, for instance `line 12 of the transcript`.
    pub place: String,
}

/// The words that a person typed in a message; none if the program wrote it, if it is a summary, or if it
/// brings results.
pub fn said_in(message: &Message) -> Option<String> {
    let flags = message.flags;
    let by_program = flags.meta || flags.compact_summary || flags.attachment || flags.side_chain;
    if message.role != Role::User || by_program || message.tool_results().next().is_some() {
        return None;
    }
    let texts: Vec<String> = message
        .blocks
        .iter()
        .filter(|block| *block.kind() == BlockKind::Text)
        .filter_map(Block::as_text)
        .map(|text| without_reminders(&text))
        .filter(|text| !PROGRAM_MARKS.iter().any(|mark| text.trim_start().starts_with(mark)))
        .filter(|text| !text.trim().is_empty())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}

/// The text without the reminders in it.
fn without_reminders(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, inside)) = rest.split_once("<system-reminder>")
        && let Some((_, after)) = inside.split_once("</system-reminder>")
    {
        kept.push_str(before);
        rest = after;
    }
    kept.push_str(rest);
    kept
}

/// The person's words for a summary message: the newest word for word, up to the budget, shown in the
/// order in which they were said; of the older ones a line each, with the place.
pub fn keep_words(said: &[Said], budget_tokens: u64) -> String {
    let bytes = bytes_of(budget_tokens);
    let older_room = bytes / OLDER_SHARE;
    let (whole, first_whole) = newest_whole(said, bytes - older_room);
    let older = said.get(..first_whole).unwrap_or_default();
    let mut text = older_lines(older, older_room);
    for entry in whole.iter().rev() {
        text.push_str(entry);
    }
    text
}

/// The newest, word for word, newest first; and the place of the first of them.
fn newest_whole(said: &[Said], room: usize) -> (Vec<String>, usize) {
    let mut entries = Vec::new();
    let mut left = room;
    let mut first = said.len();
    for (index, words) in said.iter().enumerate().rev() {
        let head = format!("\n[{}, {}]\n", when(words.at), words.place);
        let need = head.len() + words.text.len() + 1;
        // The newest is always there, and a later one only if a good part of it fits.
        let cut_room = left.saturating_sub(head.len() + 60);
        if need > left && !entries.is_empty() && cut_room < 400 {
            break;
        }
        let entry = format!("{head}{}\n", head_and_tail(words.text.trim(), cut_room.max(400)));
        left = left.saturating_sub(entry.len());
        entries.push(entry);
        first = index;
        if need > left + need.min(left) && left < 400 {
            break;
        }
    }
    (entries, first)
}

/// A line each, the newest of them, and how many more there are.
fn older_lines(older: &[Said], room: usize) -> String {
    let mut lines = Vec::new();
    let mut left = room;
    for words in older.iter().rev() {
        let line = format!(
            "- {}, {}: {}\n",
            when(words.at),
            words.place,
            first_line(&words.text, LINE_CHARS)
        );
        if line.len() > left {
            break;
        }
        left -= line.len();
        lines.push(line);
    }
    let more = older.len() - lines.len();
    let mut text = String::new();
    if more > 0 {
        text.push_str(&format!(
            "- {more} still older messages are not listed; Grep finds them in the transcript.\n"
        ));
    }
    lines.iter().rev().for_each(|line| text.push_str(line));
    text
}

fn when(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}
