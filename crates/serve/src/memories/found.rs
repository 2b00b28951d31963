//! Memories as other agents see them.

use dormouse_conversation::estimate_text;
use dormouse_memory::{
    FoundMemory, MemoryType, ReachableMemories, RecalledFor, Scope, UsageUpdate,
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
pub(crate) fn caveat_line(
    memories: &ReachableMemories,
    found: &FoundMemory,
    now: Timestamp,
) -> String {
    let caveat = memories.caveat(found, now);
    if caveat.is_empty() { caveat } else { format!("{caveat}\n") }
}

/// Counts a recall. A count that cannot be written does not hold back the memory.
pub(crate) fn count_recall(found: &FoundMemory, shown: &str) {
    let count = UsageUpdate::of(found.memory.file.clone());
    let count = count.recalled(RecalledFor::Others, estimate_text(shown));
    drop(found.store.usage().record(&[count]));
}
