//! Tools that only look.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{ToolAnswer, arguments, said, scope};
use crate::memories::{FoundForClient, MemoryRow, RankedForClient, ranked, recalled};
use crate::{Client, ClientMemories};

/// Results of a search unless the call says otherwise, and at most.
const USUAL_RESULTS: usize = 5;
const MOST_RESULTS: usize = 50;
/// The same for a list.
const USUAL_LINES: usize = 200;
const MOST_LINES: usize = 1_000;
/// ClientMemories recalled at once.
const MOST_RECALLED: usize = 5;

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
    row: MemoryRow,
    score: f64,
    preview: String,
}

pub(super) fn search(
    memories: &ClientMemories,
    _: &Client,
    input: Value,
) -> Result<ToolAnswer, String> {
    let input: Search = arguments(input)?;
    let only = scope(input.scope.as_deref())?;
    let most = input.limit.unwrap_or(USUAL_RESULTS).clamp(1, MOST_RESULTS);
    let (hits, more) = ranked(memories, &input.query, only, most).map_err(said)?;
    let found = hits.len() + more;
    let now = memories.now();
    let (mut texts, mut rows) = (Vec::new(), Vec::new());
    for RankedForClient { found, score } in &hits {
        // One that went away since it was found is left out.
        let Ok(preview) = found.preview() else { continue };
        texts.push(format!("{}\n{}{preview}", found.line(now), found.caveat(now)));
        rows.push(Hit { row: found.row(now), score: *score, preview });
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
    row: MemoryRow,
    text: String,
}

pub(super) fn recall(
    memories: &ClientMemories,
    _: &Client,
    input: Value,
) -> Result<ToolAnswer, String> {
    let input: Recall = arguments(input)?;
    let most = input.limit.unwrap_or(MOST_RECALLED).clamp(1, MOST_RECALLED);
    let now = memories.now();
    let mut rows = Vec::new();
    let sure = recalled(memories, &input.query, &BTreeSet::new()).map_err(said)?;
    for found in sure.into_iter().take(most) {
        let Ok(text) = found.recalled(now) else { continue };
        found.note_use(&text);
        rows.push(Recalled { row: found.row(now), text });
    }
    let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
    let text = if texts.is_empty() {
        "no memory surely bears on this; memory_search looks more widely".to_owned()
    } else {
        texts.join("\n\n")
    };
    ToolAnswer::new(text, &json!({"memories": rows}))
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
) -> Result<ToolAnswer, String> {
    let input: List = arguments(input)?;
    let all = memories.all(scope(input.scope.as_deref())?).map_err(said)?;
    let (now, total) = (memories.now(), all.len());
    let passed = input.offset.unwrap_or(0);
    let most = input.limit.unwrap_or(USUAL_LINES).clamp(1, MOST_LINES);
    let shown: Vec<&FoundForClient<'_>> = all.iter().skip(passed).take(most).collect();
    let mut lines: Vec<String> = shown.iter().map(|found| found.line(now)).collect();
    let more = total.saturating_sub(passed.saturating_add(shown.len()));
    if more > 0 {
        lines.push(format!("[{more} more; `offset` {} lists them]", passed + shown.len()));
    }
    if total == 0 {
        lines.push("there are no memories yet".to_owned());
    }
    let rows: Vec<MemoryRow> = shown.iter().map(|found| found.row(now)).collect();
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
) -> Result<ToolAnswer, String> {
    let input: Read = arguments(input)?;
    let found = memories.find(&input.name, scope(input.scope.as_deref())?).map_err(said)?;
    let now = memories.now();
    let text = found.text().map_err(|error| error.to_string())?;
    let shown = format!("{}{text}", found.caveat(now));
    ToolAnswer::new(shown, &json!({"memory": found.row(now), "text": text}))
}
