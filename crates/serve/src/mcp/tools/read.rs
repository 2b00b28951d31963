//! Tools that only read.

use std::collections::BTreeSet;

use dormouse_memory::{
    FoundMemory, RecalledMemoryLine, RecalledMemoryText, RecalledTexts, UnaskedMemory,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::call::{ToolAnswer, ToolCallError, arguments, scope};
use crate::memories::{
    Client, ClientMemories, MemoryRequestError, RankedForClient, ServedMemory, caveat_line,
    count_recall, search as search_memories, unasked,
};

/// Results of a search without `limit`, and the maximum for `limit`.
const DEFAULT_RESULTS: usize = 5;
const MAX_RESULTS: usize = 50;
/// Lines of a list without `limit`, and the maximum for `limit`.
const DEFAULT_LINES: usize = 200;
const MAX_LINES: usize = 1_000;
/// Maximum number of memories of a recall.
const MAX_RECALLED: usize = 5;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Search {
    query: String,
    limit: Option<usize>,
    scope: Option<String>,
}

#[derive(Serialize)]
struct Hit {
    #[serde(flatten)]
    row: ServedMemory,
    score: f64,
    preview: String,
}

pub(super) fn search(
    memories: &ClientMemories,
    _: &Client,
    input: Value,
) -> Result<ToolAnswer, ToolCallError> {
    let input: Search = arguments(input)?;
    let only = scope(input.scope.as_deref())?;
    let most = input.limit.unwrap_or(DEFAULT_RESULTS).clamp(1, MAX_RESULTS);
    let (hits, more) = search_memories(memories, &input.query, only, most)?;
    let found = hits.len() + more;
    let now = memories.now();
    let (mut texts, mut rows) = (Vec::new(), Vec::new());
    for RankedForClient { found, score } in &hits {
        // A memory that was removed meanwhile is left out.
        let Ok(preview) = found.preview() else { continue };
        texts.push(format!(
            "{}\n{}{preview}",
            found.manifest_line(now),
            caveat_line(memories.reachable(), found, now)
        ));
        rows.push(Hit { row: ServedMemory::of(found, now), score: *score, preview });
    }
    let text = match (texts.is_empty(), more) {
        (true, _) => "no memory has any of these words".to_owned(),
        (false, 0) => texts.join("\n\n"),
        (false, more) => {
            format!("{}\n\n[{more} more; give `limit` or more words]", texts.join("\n\n"))
        }
    };
    ToolAnswer::new(text, &json!({"memories": rows, "found": found}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Recall {
    query: String,
    limit: Option<usize>,
}

#[derive(Serialize)]
struct Recalled {
    #[serde(flatten)]
    row: ServedMemory,
    text: String,
}

pub(super) fn recall(
    memories: &ClientMemories,
    _: &Client,
    input: Value,
) -> Result<ToolAnswer, ToolCallError> {
    let input: Recall = arguments(input)?;
    let most = input.limit.unwrap_or(MAX_RECALLED).clamp(1, MAX_RECALLED);
    let now = memories.now();
    let (mut texts, mut rows, mut likely) = (RecalledTexts::default(), Vec::new(), Vec::new());
    let found = unasked(memories, &input.query, &BTreeSet::new())?;
    for UnaskedMemory { found, .. } in found.sure.into_iter().take(most) {
        let Some(memory) = RecalledMemoryText::read(memories.reachable(), &found, now) else {
            continue;
        };
        let text = memory.render();
        count_recall(&found, &text);
        rows.push(Recalled { row: ServedMemory::of(&found, now), text });
        texts.memories.push(memory);
    }
    for UnaskedMemory { found, .. } in found.likely {
        likely.push(ServedMemory::of(&found, now));
        texts.lines.push(RecalledMemoryLine::of(&found));
    }
    let text = if texts.is_empty() {
        "no memory clearly matches; memory_search searches more widely".to_owned()
    } else {
        texts.render()
    };
    ToolAnswer::new(text, &json!({"memories": rows, "likely": likely}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    scope: Option<String>,
    limit: Option<usize>,
    offset: Option<usize>,
}

pub(super) fn list(
    memories: &ClientMemories,
    _: &Client,
    input: Value,
) -> Result<ToolAnswer, ToolCallError> {
    let input: List = arguments(input)?;
    let all = memories.list(scope(input.scope.as_deref())?)?;
    let (now, total) = (memories.now(), all.len());
    let passed = input.offset.unwrap_or(0);
    let most = input.limit.unwrap_or(DEFAULT_LINES).clamp(1, MAX_LINES);
    let shown: Vec<&FoundMemory> = all.iter().skip(passed).take(most).collect();
    let mut lines: Vec<String> = shown.iter().map(|found| found.manifest_line(now)).collect();
    let more = total.saturating_sub(passed.saturating_add(shown.len()));
    if more > 0 {
        lines.push(format!("[{more} more; `offset` {} lists them]", passed + shown.len()));
    }
    if total == 0 {
        lines.push("there are no memories yet".to_owned());
    }
    let rows: Vec<ServedMemory> = shown.iter().map(|found| ServedMemory::of(found, now)).collect();
    ToolAnswer::new(lines.join("\n"), &json!({"memories": rows, "total": total}))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    name: String,
    scope: Option<String>,
}

pub(super) fn read(
    memories: &ClientMemories,
    _: &Client,
    input: Value,
) -> Result<ToolAnswer, ToolCallError> {
    let input: Read = arguments(input)?;
    let found = memories.find(&input.name, scope(input.scope.as_deref())?)?;
    let now = memories.now();
    let text = found.file_text().map_err(MemoryRequestError::from)?;
    let shown = format!("{}{text}", caveat_line(memories.reachable(), &found, now));
    ToolAnswer::new(shown, &json!({"memory": ServedMemory::of(&found, now), "text": text}))
}
