//! The cases: every place where a real session was compacted, with what the work needed afterwards.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use dormouse_context::compact::{IdentifierKind, identifiers};
use dormouse_conversation::transcript::load_transcript;
use dormouse_conversation::{Block, BlockKind, Message, Role};
use serde_json::Value;

/// How many messages after a compaction tell what was needed.
const AFTER: usize = 60;

/// A name, and what it is.
pub(crate) type CaseName = (IdentifierKind, String);

/// One compaction of a real session.
pub(crate) struct Case {
    /// The file, and which of its compactions.
    pub(crate) name: String,
    /// What the model had in view before: from the compaction before it on.
    pub(crate) dropped: Vec<Arc<Message>>,
    /// The summary that the session's own agent wrote.
    pub(crate) summary: String,
    /// Names seen before that the model or the user used in the messages after it.
    pub(crate) needed: BTreeSet<CaseName>,
}

/// The compactions of a transcript.
pub(crate) fn read(path: &Path) -> std::io::Result<Vec<Case>> {
    let messages: Vec<Arc<Message>> =
        load_transcript(&bytes(path)?).messages.into_iter().map(Arc::new).collect();
    let file = path.file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let file = file.trim_end_matches(".jsonl").to_owned();
    let places: Vec<usize> = messages
        .iter()
        .enumerate()
        .filter(|(_, message)| message.flags.compact_summary)
        .map(|(place, _)| place)
        .collect();
    let mut begin = 0;
    let mut cases = Vec::new();
    for (number, place) in places.into_iter().enumerate() {
        let dropped = messages.get(begin..place).unwrap_or_default().to_vec();
        let after = messages.get(place + 1..).unwrap_or_default();
        let after = after.get(..AFTER.min(after.len())).unwrap_or_default();
        cases.push(Case {
            name: format!("{file}, {}", number + 1),
            needed: needed(&dropped, after),
            dropped,
            summary: messages.get(place).map(|message| message.text()).unwrap_or_default(),
        });
        begin = place;
    }
    Ok(cases)
}

fn bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    if path.extension().is_some_and(|end| end == "gz") {
        let output = Command::new("gzip").arg("-dc").arg(path).output()?;
        return if output.status.success() {
            Ok(output.stdout)
        } else {
            Err(std::io::Error::other(String::from_utf8_lossy(&output.stderr).trim().to_owned()))
        };
    }
    std::fs::read(path)
}

/// Names that were there before, anywhere, and that are used afterwards: in what the model says and asks
/// of tools, and in what the user says. What tools print afterwards is no need.
fn needed(dropped: &[Arc<Message>], after: &[Arc<Message>]) -> BTreeSet<CaseName> {
    let mut before = BTreeSet::new();
    for message in dropped {
        for text in texts(message, Scope::All) {
            before.extend(names(&text));
        }
    }
    let mut needed = BTreeSet::new();
    for message in after.iter().filter(|message| !message.flags.compact_summary) {
        for text in texts(message, Scope::Spoken) {
            needed.extend(names(&text).into_iter().filter(|name| before.contains(name)));
        }
    }
    needed
}

fn names(text: &str) -> Vec<CaseName> {
    identifiers(text)
        .into_iter()
        .filter(|name| !matches!(name.kind, IdentifierKind::Number | IdentifierKind::Error))
        .map(|name| (name.kind, name.text.to_owned()))
        .collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// Everything.
    All,
    /// Without what tools print and the program adds.
    Spoken,
}

/// Every text of a message.
pub(crate) fn all_texts(message: &Message) -> Vec<String> {
    texts(message, Scope::All)
}

fn texts(message: &Message, scope: Scope) -> Vec<String> {
    if scope == Scope::Spoken && message.role == Role::User && message.flags.meta {
        return Vec::new();
    }
    message.blocks.iter().flat_map(|block| block_texts(block, scope)).collect()
}

fn block_texts(block: &Block, scope: Scope) -> Vec<String> {
    match block.kind() {
        BlockKind::Text => block.as_text().into_iter().collect(),
        BlockKind::ToolUse { .. } => {
            let input = block.field("input").map_or("null", |raw| raw.get());
            let mut found = Vec::new();
            strings(&serde_json::from_str(input).unwrap_or_default(), &mut found);
            found
        }
        BlockKind::ToolResult { .. } if scope == Scope::All => {
            let mut found = Vec::new();
            let content = block.field("content").map_or("null", |raw| raw.get());
            strings(&serde_json::from_str(content).unwrap_or_default(), &mut found);
            found
        }
        BlockKind::ToolResult { .. }
        | BlockKind::Thinking
        | BlockKind::RedactedThinking
        | BlockKind::Image
        | BlockKind::Document
        | BlockKind::Other(_) => Vec::new(),
    }
}

fn strings(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(list) => list.iter().for_each(|value| strings(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| strings(value, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
