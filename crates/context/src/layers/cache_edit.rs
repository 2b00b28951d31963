//! Deletions in the server's cache, by reference to a tool call (C-8).
//!
//! The results stay in the messages; the deletions are a message of their own behind the newest, which the
//! server sees as a block of it. Invariant: a deletion that was sent is sent again, in the same place, with
//! every later request, for as long as nothing in front of it changes: whoever changes that takes all of them
//! out, and they start again.

use std::collections::BTreeSet;
use std::sync::Arc;

use dormouse_base::MessageId;
use dormouse_conversation::{Block, BlockKind, Message, Role, ToolUseId};
use serde::{Deserialize, Serialize};

use super::clear::is_cleared;
use super::edit::LayerReport;
use super::results::clearable_results;

/// When to delete, and what stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheEditRule {
    /// Due when there are more results than this.
    pub above: usize,
    /// The newest that stay; one stays in any case.
    pub keep: usize,
}

impl Default for CacheEditRule {
    fn default() -> Self {
        Self { above: 20, keep: 5 }
    }
}

/// One deletion, as the server reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename = "delete")]
pub struct CacheDeletion {
    /// The tool call whose result goes.
    pub cache_reference: ToolUseId,
}

/// The deletions of one request, with their place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentDeletions {
    /// The user message that carries them.
    pub at: MessageId,
    /// What is deleted.
    pub deletions: Vec<CacheDeletion>,
}

/// What the block is called.
const KIND: &str = "cache_edits";

#[derive(Serialize, Deserialize)]
struct EditsBlock {
    #[serde(rename = "type")]
    kind: String,
    edits: Vec<CacheDeletion>,
}

/// Deletions as the block that a request carries; none if there are none.
pub fn cache_edits_block(edits: &[CacheDeletion]) -> Option<Block> {
    if edits.is_empty() {
        return None;
    }
    let block = EditsBlock { kind: KIND.to_owned(), edits: edits.to_vec() };
    // Strings alone: there is nothing that could fail.
    Block::from_json(serde_json::to_string(&block).ok()?).ok()
}

/// Whether a message carries deletions and nothing else.
pub fn is_cache_edit(message: &Message) -> bool {
    let ours = |block: &Block| matches!(block.kind(), BlockKind::Other(kind) if kind == KIND);
    message.role == Role::User && !message.blocks.is_empty() && message.blocks.iter().all(ours)
}

fn deletions_in(message: &Message) -> Vec<CacheDeletion> {
    let read = |block: &Block| serde_json::from_str::<EditsBlock>(block.raw()).ok();
    message.blocks.iter().filter_map(read).flat_map(|block| block.edits).collect()
}

/// What was deleted so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CacheEdits {
    sent: Vec<SentDeletions>,
    ids: BTreeSet<ToolUseId>,
}

impl CacheEdits {
    /// What the messages of a conversation say was deleted.
    pub fn in_messages(messages: &[Arc<Message>]) -> Self {
        let sent = messages.iter().filter(|message| is_cache_edit(message));
        let sent =
            sent.map(|message| SentDeletions { at: message.id, deletions: deletions_in(message) });
        Self::from_sent(sent.collect())
    }

    /// The state after these were sent: what a resumed session noted.
    pub fn from_sent(sent: Vec<SentDeletions>) -> Self {
        let ids = sent.iter().flat_map(|sent| &sent.deletions);
        let ids = ids.map(|deletion| deletion.cache_reference.clone()).collect();
        Self { sent, ids }
    }

    /// All deletions, in the order they were first sent: every request carries them all.
    pub fn sent(&self) -> &[SentDeletions] {
        &self.sent
    }

    /// Adds what is to be deleted with the next request, and says what that frees; none if nothing is due.
    pub fn plan(&mut self, messages: &[Arc<Message>], rule: &CacheEditRule) -> Option<LayerReport> {
        let mut live = clearable_results(messages);
        live.retain(|result| !self.ids.contains(result.id) && !is_cleared(result.block));
        let keep = rule.keep.max(1);
        if live.len() <= rule.above.max(keep) {
            return None;
        }
        let at = messages.iter().rfind(|message| message.role == Role::User)?.id;
        live.truncate(live.len().saturating_sub(keep));
        let freed = live.iter().map(|result| u64::from(result.block.tokens())).sum();
        let ids: Vec<ToolUseId> = live.iter().map(|result| result.id.clone()).collect();
        let report = LayerReport {
            layer: "cache_edits",
            freed_tokens: freed,
            messages: messages.len() as u64,
            changed: ids.len() as u64,
            prefix_changed: false,
        };
        self.ids.extend(ids.iter().cloned());
        let deletions =
            ids.into_iter().map(|cache_reference| CacheDeletion { cache_reference }).collect();
        self.sent.push(SentDeletions { at, deletions });
        Some(report)
    }

    /// Forgets everything: after a clearing by time or a compaction the server's cache is another.
    pub fn reset(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::Maker;
    use super::*;

    #[test]
    fn beyond_the_count_all_but_the_newest_go_in_one_batch() {
        let mut maker = Maker::new(1);
        let mut messages = Vec::new();
        let mut state = CacheEdits::default();
        let rule = CacheEditRule::default();
        (0..20).for_each(|_| messages.extend(maker.read(10)));
        assert_eq!(state.plan(&messages, &rule), None, "not more than twenty");
        messages.extend(maker.read(10));
        let report = state.plan(&messages, &rule).unwrap();
        assert_eq!((report.changed, report.prefix_changed), (16, false));
        assert_eq!(state.sent()[0].at, messages[41].id);
        (0..15).for_each(|_| messages.extend(maker.read(10)));
        assert_eq!(state.plan(&messages, &rule), None, "twenty are left");
        messages.extend(maker.read(10));
        assert_eq!(state.plan(&messages, &rule).unwrap().changed, 16);
        assert_eq!(state.sent().len(), 2);
        state.reset();
        assert_eq!(state.sent(), []);
    }

    #[test]
    fn the_form_of_a_deletion() {
        let deletion = CacheDeletion { cache_reference: ToolUseId::new("toolu_1") };
        let json = serde_json::to_string(&deletion).unwrap();
        assert_eq!(json, r#"{"type":"delete","cache_reference":"toolu_1"}"#);
        assert_eq!(serde_json::from_str::<CacheDeletion>(&json).unwrap(), deletion);
    }
}
