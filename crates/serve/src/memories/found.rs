//! Memories as other agents see them.

use dormouse_conversation::estimate_text;
use dormouse_memory::{
    ChangeError, FoundMemory, MemoryType, RecalledFor, Scope, UsageUpdate, beginning,
};
use jiff::Timestamp;
use serde::Serialize;

/// A memory in structured results.
#[derive(Debug, Serialize)]
pub(crate) struct ServedMemory {
    name: String,
    description: Option<String>,
    #[serde(rename = "type")]
    kind: Option<MemoryType>,
    scope: Scope,
    file: String,
    path: String,
    age_days: u64,
    age: String,
}

impl ServedMemory {
    pub(crate) fn of(found: &FoundMemory, now: Timestamp) -> Self {
        let age = found.age(now);
        Self {
            name: found.memory.name().to_owned(),
            description: found.memory.header.description.clone(),
            kind: found.memory.header.kind,
            scope: found.scope(),
            file: found.memory.file.to_string(),
            path: found.path().display().to_string(),
            age_days: age.days(),
            age: age.to_string(),
        }
    }
}

/// The warning about an old memory on a line of its own; empty for a recent one.
pub(crate) fn caveat_line(found: &FoundMemory, now: Timestamp) -> String {
    found.age(now).caveat().map(|caveat| format!("{caveat}\n")).unwrap_or_default()
}

/// Counts a recall. A count that cannot be written does not hold back the memory.
pub(crate) fn count_recall(found: &FoundMemory, shown: &str) {
    let count = UsageUpdate::of(found.memory.file.clone());
    let count = count.recalled(RecalledFor::Others, estimate_text(shown));
    drop(found.store.usage().record(&[count]));
}

/// A recalled memory: age or warning, path, text.
pub(crate) fn recalled_text(found: &FoundMemory, now: Timestamp) -> Result<String, ChangeError> {
    let (entry, _) = found.read()?;
    let text = entry.body.trim();
    let path = found.path().display().to_string();
    let shown = beginning(text);
    let rest = if shown.len() < text.len() {
        let file = &found.memory.file;
        format!("\n[cut here; memory_read `{file}`, or the file itself, has the rest]")
    } else {
        String::new()
    };
    let age = found.age(now);
    let head = match age.caveat() {
        None => format!("Memory (saved {age}): {path}:\n"),
        Some(_) => format!("{}Memory: {path}:\n", caveat_line(found, now)),
    };
    Ok(format!("{head}{shown}{rest}"))
}
