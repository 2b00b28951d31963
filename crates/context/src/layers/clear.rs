//! Clearing by time: once the server's cache is cold, old results of clearable tools become one fixed
//! line (C-7, C-10).
//!
//! Invariant: a cleared result is the same bytes wherever it is cleared, so that a fork or a resumed
//! session sends what was sent before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use dormouse_conversation::{Block, BlockKind, Message, ResultContent, ToolUseId};

use super::edit::{Edit, LayerReport, Plan};
use super::results::{ToolResult, results_of};

/// What stands in place of a cleared result.
pub const CLEARED: &str =
    "[this old result was cleared to make room; call the tool again if its content is needed]";

/// The tools whose old results can be had again, or were a note of what was done.
pub const CLEARABLE: &[&str] =
    &["Read", "Bash", "Grep", "Glob", "WebSearch", "WebFetch", "Edit", "Write"];

/// When to clear, and what stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClearRule {
    /// Due when the last answer is this old.
    pub idle: Duration,
    /// The newest results that stay; one stays in any case.
    pub keep: usize,
}

impl Default for ClearRule {
    fn default() -> Self {
        Self { idle: Duration::from_hours(1), keep: 5 }
    }
}

/// The results to clear; none if it is not due or there is nothing to clear.
pub fn plan_clear(messages: &[Arc<Message>], idle: Duration, rule: &ClearRule) -> Option<Plan> {
    if idle < rule.idle {
        return None;
    }
    let mut results = results_of(messages, CLEARABLE);
    results.truncate(results.len().saturating_sub(rule.keep.max(1)));
    plan_of(messages, &results)
}

/// The same for results that were cleared before: what a resumed session does with the ids it noted.
pub fn clear_results(messages: &[Arc<Message>], ids: &BTreeSet<ToolUseId>) -> Option<Plan> {
    let mut results = results_of(messages, CLEARABLE);
    results.retain(|result| ids.contains(result.id));
    plan_of(messages, &results)
}

/// The calls whose results a plan clears, oldest first.
pub fn cleared_ids(plan: &Plan) -> Vec<ToolUseId> {
    let blocks = plan.edits.iter().filter_map(|edit| match edit {
        Edit::Replace { blocks, .. } => Some(blocks),
        Edit::Drop { .. } | Edit::Insert { .. } => None,
    });
    blocks
        .flatten()
        .filter(|block| is_cleared(block))
        .filter_map(|block| match block.kind() {
            BlockKind::ToolResult { id } => Some(id.clone()),
            _ => None,
        })
        .collect()
}

/// Whether a result was cleared.
pub fn is_cleared(block: &Block) -> bool {
    // A cleared result is short: a long one is settled without a look inside.
    block.raw().len() < 2 * CLEARED.len() + LONGEST_ID
        && matches!(block.result_content(), Some(ResultContent::Text(text)) if text == CLEARED)
}

/// Servers choose ids; none is nearly so long.
const LONGEST_ID: usize = 1_000;

/// The edits that clear these results. What is no longer than the note stays: it would only grow.
fn plan_of(messages: &[Arc<Message>], results: &[ToolResult<'_>]) -> Option<Plan> {
    let mut goes: BTreeMap<usize, BTreeSet<&ToolUseId>> = BTreeMap::new();
    let mut freed_tokens: u64 = 0;
    for result in results.iter().filter(|result| !is_cleared(result.block)) {
        let freed = result.block.tokens().saturating_sub(note_tokens());
        if freed > 0 {
            freed_tokens = freed_tokens.saturating_add(u64::from(freed));
            goes.entry(result.message).or_default().insert(result.id);
        }
    }
    let edits: Vec<Edit> =
        goes.iter().filter_map(|(index, ids)| Some(replace(messages.get(*index)?, ids))).collect();
    let report = LayerReport {
        layer: "time_clearing",
        freed_tokens,
        messages: messages.len() as u64,
        changed: edits.len() as u64,
        prefix_changed: true,
    };
    (!edits.is_empty()).then_some(Plan { edits, report })
}

fn note_tokens() -> u32 {
    dormouse_conversation::estimate_text(CLEARED)
}

fn replace(message: &Message, ids: &BTreeSet<&ToolUseId>) -> Edit {
    let note = ResultContent::Text(CLEARED.to_owned());
    let clear = |block: &Block| match block.kind() {
        BlockKind::ToolResult { id } if ids.contains(id) => {
            Block::tool_result(id, &note, block.is_error())
        }
        _ => block.clone(),
    };
    Edit::Replace { message: message.id, blocks: message.blocks.iter().map(clear).collect() }
}
