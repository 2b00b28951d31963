//! Clearing by time: once the server's cache is cold, old results of clearable tools become one fixed
//! line (C-7, C-10).
//!
//! Invariant: a cleared result is the same bytes wherever it is cleared, so that a fork or a resumed
//! session sends what was sent before.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use dormouse_conversation::{Block, BlockKind, Budget, Message, ResultContent, ToolUseId};

use super::edit::{HistoryEdit, LayerPlan, LayerReport};
use super::results::{ToolResult, clearable_results};

/// What replaces a cleared result.
pub const CLEARED_RESULT: &str =
    "[this old result was cleared to make room; call the tool again if its content is needed]";

/// When to clear, and what stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClearRule {
    /// Due when the last answer is this old; zero: as soon as it is cheaper.
    pub idle: Duration,
    /// The newest results that stay; one stays in any case.
    pub keep: usize,
}

impl Default for ClearRule {
    fn default() -> Self {
        Self { idle: Duration::ZERO, keep: 5 }
    }
}

/// What a server that clears by itself is asked for (C-9).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerClearRule {
    /// From this size of a request on.
    pub from_tokens: u32,
    /// At least so much at a time: each time costs the cache.
    pub at_least_tokens: u32,
    /// The newest results that stay.
    pub keep_tool_uses: usize,
}

/// The share of the effective window from which on a server clears, in percent.
const SERVER_CLEARS_FROM: u32 = 70;

impl ServerClearRule {
    /// From 70 % of the effective window on, at least half of that.
    pub fn for_budget(budget: &Budget) -> Self {
        let from_tokens = budget.effective / 100 * SERVER_CLEARS_FROM;
        Self {
            from_tokens,
            at_least_tokens: from_tokens / 2,
            keep_tool_uses: ClearRule::default().keep,
        }
    }
}

/// The results to clear; none if it is not due or there is nothing to clear.
pub fn plan_clear(
    messages: &[Arc<Message>],
    idle: Duration,
    rule: &ClearRule,
) -> Option<LayerPlan> {
    if idle < rule.idle {
        return None;
    }
    ResultsToClear::by_rule(messages, rule).plan(messages)
}

/// The same for results that were cleared before: what a resumed session does with the ids it noted.
pub fn clear_results(messages: &[Arc<Message>], ids: &BTreeSet<ToolUseId>) -> Option<LayerPlan> {
    let mut results = clearable_results(messages);
    results.retain(|result| ids.contains(result.id));
    ResultsToClear::of(results).plan(messages)
}

/// Results that would be cleared, oldest first: none is cleared yet, and each becomes shorter.
pub(super) struct ResultsToClear<'a> {
    pub(super) results: Vec<ToolResult<'a>>,
    pub(super) freed_tokens: u64,
}

impl<'a> ResultsToClear<'a> {
    /// All but the newest.
    pub(super) fn by_rule(messages: &'a [Arc<Message>], rule: &ClearRule) -> Self {
        let mut results = clearable_results(messages);
        results.truncate(results.len().saturating_sub(rule.keep.max(1)));
        Self::of(results)
    }

    fn of(mut results: Vec<ToolResult<'a>>) -> Self {
        let note = note_tokens();
        // What is no longer than the note stays: it would only grow.
        results.retain(|result| result.block.tokens() > note && !is_cleared(result.block));
        let freed = results.iter().map(|result| u64::from(result.block.tokens() - note));
        let freed_tokens = freed.fold(0, u64::saturating_add);
        Self { results, freed_tokens }
    }

    /// The edits that clear them; none if there is nothing to clear.
    pub(super) fn plan(&self, messages: &[Arc<Message>]) -> Option<LayerPlan> {
        let mut goes: BTreeMap<usize, BTreeSet<&ToolUseId>> = BTreeMap::new();
        for result in &self.results {
            goes.entry(result.message).or_default().insert(result.id);
        }
        let edits: Vec<HistoryEdit> = goes
            .iter()
            .filter_map(|(index, ids)| Some(replace(messages.get(*index)?, ids)))
            .collect();
        let report = LayerReport {
            layer: "time_clearing",
            freed_tokens: self.freed_tokens,
            messages: messages.len() as u64,
            changed: edits.len() as u64,
            prefix_changed: true,
        };
        (!edits.is_empty()).then_some(LayerPlan { edits, report })
    }
}

/// The calls whose results a plan clears, oldest first.
pub fn cleared_ids(plan: &LayerPlan) -> Vec<ToolUseId> {
    let blocks = plan.edits.iter().filter_map(|edit| match edit {
        HistoryEdit::Replace { blocks, .. } => Some(blocks),
        HistoryEdit::Drop { .. } | HistoryEdit::Insert { .. } => None,
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
    // A cleared result is short and has the note as it is: others are settled without parsing.
    block.raw().len() < 2 * CLEARED_RESULT.len() + LONGEST_ID
        && block.raw().contains(CLEARED_RESULT)
        && matches!(block.result_content(), Some(ResultContent::Text(text)) if text == CLEARED_RESULT)
}

/// Servers choose ids; none is nearly so long.
const LONGEST_ID: usize = 1_000;

fn note_tokens() -> u32 {
    dormouse_conversation::estimate_text(CLEARED_RESULT)
}

fn replace(message: &Message, ids: &BTreeSet<&ToolUseId>) -> HistoryEdit {
    let note = ResultContent::Text(CLEARED_RESULT.to_owned());
    let clear = |block: &Block| match block.kind() {
        BlockKind::ToolResult { id } if ids.contains(id) => {
            Block::tool_result(id, &note, block.is_error())
        }
        _ => block.clone(),
    };
    HistoryEdit::Replace { message: message.id, blocks: message.blocks.iter().map(clear).collect() }
}

#[cfg(test)]
mod tests {
    use super::super::apply_edits;
    use super::super::testing::{Maker, text_of};
    use super::*;

    const HOUR: Duration = Duration::from_hours(1);

    fn cleared(messages: &[Arc<Message>]) -> Vec<bool> {
        let blocks = messages.iter().flat_map(|message| &message.blocks);
        blocks
            .filter(|block| matches!(block.kind(), BlockKind::ToolResult { .. }))
            .map(is_cleared)
            .collect()
    }

    fn clear(maker: &Maker, messages: &[Arc<Message>], keep: usize) -> Vec<Arc<Message>> {
        let plan = plan_clear(messages, HOUR, &ClearRule { idle: HOUR, keep }).unwrap();
        apply_edits(messages, &plan.edits, |text| maker.meta(&text))
    }

    #[test]
    fn old_results_of_clearable_tools_go() {
        let mut maker = Maker::new(1);
        let mut messages = vec![maker.user("go")];
        messages.extend(maker.round(&["Read", "mcp__a__b", "Bash"], &text_of(500)));
        messages.extend(maker.round(&["Read"], &text_of(5)));
        messages.extend(maker.round(&["Write"], &text_of(500)));
        messages.extend(maker.round(&["Grep"], &text_of(500)));
        // Of MCP: never. A short one: not worth it. The newest: stays.
        assert_eq!(cleared(&clear(&maker, &messages, 2)), [true, false, true, false, false, false]);
        let most = clear(&maker, &messages, 0);
        assert_eq!(cleared(&most), [true, false, true, false, true, false], "one stays");
        // Once cleared, they stay so, and the next come on top.
        let mut later = clear(&maker, &messages, 2);
        let note = later[2].blocks[0].raw().to_owned();
        later.extend(maker.round(&["Read", "Read"], &text_of(500)));
        let later = clear(&maker, &later, 2);
        assert_eq!(cleared(&later), [true, false, true, false, true, true, false, false]);
        assert_eq!(later[2].blocks[0].raw(), note, "the same bytes");
    }

    #[test]
    fn failures_stay_failures_and_pictures_go() {
        let mut maker = Maker::new(1);
        let picture = ResultContent::Blocks(vec![Block::image("image/png", &"A".repeat(9_000))]);
        let mut messages = maker.round(&["Read"], &picture).to_vec();
        messages.extend(maker.round(&["Bash"], &text_of(100)));
        let failed = Block::tool_result(&ToolUseId::new("call_2"), &text_of(100), true);
        messages[3] = Arc::new(Message { blocks: vec![failed], ..Message::clone(&messages[3]) });
        messages.extend(maker.read(100));
        let view = clear(&maker, &messages, 1);
        assert_eq!(cleared(&view), [true, true, false]);
        assert!(!view[1].blocks[0].raw().contains("image"));
        assert!(!view[1].blocks[0].is_error() && view[3].blocks[0].is_error());
    }

    #[test]
    fn an_abridged_result_is_told_from_a_cleared_one_by_its_length() {
        let text = ResultContent::Text("x".repeat(3_000));
        let whole = Block::tool_result(&ToolUseId::new("t"), &text, false);
        let most = 2 * CLEARED_RESULT.len() + LONGEST_ID;
        assert!(whole.abridged().raw().len() >= most && whole.abridged().raw().len() < 3_000);
    }
}
