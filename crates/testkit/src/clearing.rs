//! What a server leaves out of a request by itself: results that the request deletes from the cache, and the
//! oldest tool uses, where the request asks for that. Emulated; the second as the public API documents it.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

/// What of a request does not count.
#[derive(Debug, Clone, Default)]
pub(crate) struct LeftOut {
    /// Calls whose results are deleted from the cache: what stands before and behind stays in it.
    pub(crate) deleted: HashSet<String>,
    /// Calls whose results are replaced: what stands behind is new to the cache.
    pub(crate) cleared: HashSet<String>,
    /// What was cleared for this request, as the answer tells it.
    pub(crate) applied: Option<Value>,
    /// What the server would refuse.
    pub(crate) problems: Vec<String>,
}

/// A result, with the tool that gave it.
struct ToolResult<'a> {
    id: &'a str,
    tool: &'a str,
    tokens: u64,
}

/// Looks at a request; `earlier` are the calls that were cleared for requests before it.
pub(crate) fn left_out(body: &[u8], earlier: &HashSet<String>) -> LeftOut {
    let asks = |word: &[u8]| body.windows(word.len()).any(|part| part == word);
    if !asks(br#""cache_edits""#) && !asks(br#""context_management""#) {
        return LeftOut::default();
    }
    let Ok(body) = serde_json::from_slice::<Value>(body) else { return LeftOut::default() };
    let results = results(&body);
    let mut left_out = LeftOut::default();
    deletions(&body, &mut left_out);
    clear_tool_uses(&body, &results, earlier, &mut left_out);
    left_out
}

fn blocks(body: &Value) -> impl Iterator<Item = &Value> {
    let messages = body["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    messages.iter().filter_map(|message| message["content"].as_array()).flatten()
}

fn results(body: &Value) -> Vec<ToolResult<'_>> {
    let mut tools: HashMap<&str, &str> = HashMap::new();
    let mut found = Vec::new();
    for block in blocks(body) {
        match block["type"].as_str() {
            Some("tool_use") => {
                let text = |field: &str| block[field].as_str().unwrap_or_default();
                tools.insert(text("id"), text("name"));
            }
            Some("tool_result") => {
                let id = block["tool_use_id"].as_str().unwrap_or_default();
                let tool = tools.get(id).copied().unwrap_or_default();
                let tokens = (block.to_string().len() as u64).div_ceil(4);
                found.push(ToolResult { id, tool, tokens });
            }
            _ => {}
        }
    }
    found
}

/// A deletion names a call whose result was there before it, and is made once.
fn deletions(body: &Value, left_out: &mut LeftOut) {
    let mut there: HashSet<&str> = HashSet::new();
    for block in blocks(body) {
        match block["type"].as_str() {
            Some("tool_result") => {
                there.insert(block["tool_use_id"].as_str().unwrap_or_default());
            }
            Some("cache_edits") => {
                for edit in block["edits"].as_array().map(Vec::as_slice).unwrap_or_default() {
                    let id = edit["cache_reference"].as_str().unwrap_or_default();
                    let known = edit["type"] == "delete" && there.contains(id);
                    if !known || !left_out.deleted.insert(id.to_owned()) {
                        left_out.problems.push(format!("a deletion that can not be made: {edit}"));
                    }
                }
            }
            _ => {}
        }
    }
}

/// From the trigger on all results but the newest are cleared, if that is enough at a time. What was cleared
/// once stays so.
fn clear_tool_uses(
    body: &Value,
    results: &[ToolResult<'_>],
    earlier: &HashSet<String>,
    left_out: &mut LeftOut,
) {
    let edits = body["context_management"]["edits"].as_array();
    let edits = edits.map(Vec::as_slice).unwrap_or_default();
    let of = |kind: &str| edits.iter().position(|edit| edit["type"] == kind);
    let Some(place) = of("clear_tool_uses_20250919") else { return };
    if of("clear_thinking_20251015").is_some_and(|thinking| thinking > place) {
        left_out.problems.push("the edit for thinking does not come first".to_owned());
    }
    let edit = &edits[place];
    let number = |field: &str, unless: u64| edit[field]["value"].as_u64().unwrap_or(unless);
    let excluded = |tool: &str| {
        edit["exclude_tools"].as_array().is_some_and(|names| names.iter().any(|name| name == tool))
    };
    let cleared_before = |result: &&ToolResult<'_>| earlier.contains(result.id);
    left_out.cleared.extend(results.iter().filter(cleared_before).map(|r| r.id.to_owned()));
    let gone: u64 = results.iter().filter(cleared_before).map(|result| result.tokens).sum();
    let total = (body.to_string().len() as u64).div_ceil(4).saturating_sub(gone);
    let keep = usize::try_from(number("keep", 3)).unwrap_or(usize::MAX);
    let old = results.get(..results.len().saturating_sub(keep)).unwrap_or_default();
    let now: Vec<&ToolResult<'_>> = old
        .iter()
        .filter(|result| !earlier.contains(result.id) && !excluded(result.tool))
        .collect();
    let tokens: u64 = now.iter().map(|result| result.tokens).sum();
    let enough = tokens > 0 && tokens >= number("clear_at_least", 0);
    if total <= number("trigger", 100_000) || !enough {
        return;
    }
    left_out.cleared.extend(now.iter().map(|result| result.id.to_owned()));
    left_out.applied = Some(json!({ "applied_edits": [{
        "type": "clear_tool_uses_20250919",
        "cleared_tool_uses": now.len(),
        "cleared_input_tokens": tokens,
    }] }));
}
