//! What the transcript shows of the layers that acted in the session: which, when, and what each run freed.
//!
//! A run is counted as the session's own log counts it: a stored result is one, so is a batch of results that are
//! cleared together, a batch of deletions in the server's cache, a response for which the server cleared something,
//! a snip, a commit of collapsed spans, a compaction.

use std::collections::BTreeSet;
use std::sync::Arc;

use dormouse_base::LayerSwitch;
use dormouse_conversation::transcript::{Replay, ReplayEvent, ReplayedCompaction};
use dormouse_conversation::{Block, BlockKind, Message, estimate_text};

use super::layer_run::LayerRun;
use super::storing::{stored_bytes, stored_freed};
use crate::compact::CompactionMethod;
use crate::layers::{CLEARED_RESULT, CacheEdits, is_cache_edit, is_cleared};

/// The layers of the table, in the order in which they run before a request.
pub(super) const LAYERS: [LayerSwitch; 8] = [
    LayerSwitch::StoredResults,
    LayerSwitch::Snip,
    LayerSwitch::TimeClearing,
    LayerSwitch::CacheEdits,
    LayerSwitch::ServerClearing,
    LayerSwitch::Collapse,
    LayerSwitch::NotesCompaction,
    LayerSwitch::AutoCompact,
];

/// The layers that acted in a session.
pub(super) fn fired_layers(replay: &Replay) -> BTreeSet<LayerSwitch> {
    replay.events.iter().flat_map(fired_at).collect()
}

fn fired_at(event: &ReplayEvent) -> Vec<LayerSwitch> {
    match event {
        ReplayEvent::Message(said) => {
            let message = &said.message;
            let stored = message.blocks.iter().any(|block| stored_bytes(block).is_some());
            [
                stored.then_some(LayerSwitch::StoredResults),
                is_cache_edit(message).then_some(LayerSwitch::CacheEdits),
                said.server_cleared.map(|_| LayerSwitch::ServerClearing),
            ]
            .into_iter()
            .flatten()
            .collect()
        }
        ReplayEvent::Compacted(compaction) => vec![compacting_layer(compaction)],
        ReplayEvent::LeftOut(change) => leaving_layer(change).into_iter().collect(),
        ReplayEvent::ResultsReplaced { blocks, .. } => {
            let cleared = blocks.iter().any(is_cleared);
            cleared.then_some(LayerSwitch::TimeClearing).into_iter().collect()
        }
        ReplayEvent::PrefixBuilt(_) | ReplayEvent::ThinkingDropped => Vec::new(),
    }
}

/// The layer that compacted: notes need no model, all other ways are the same layer.
pub(super) fn compacting_layer(compaction: &ReplayedCompaction) -> LayerSwitch {
    if compaction.method == CompactionMethod::Notes.as_str() {
        LayerSwitch::NotesCompaction
    } else {
        LayerSwitch::AutoCompact
    }
}

/// The layer that left messages out; none for one that put them back, and for deletions that a clearing takes
/// along: that is part of the clearing.
fn leaving_layer(change: &ReplayedCompaction) -> Option<LayerSwitch> {
    let layer: LayerSwitch = change.method.parse().ok()?;
    (LAYERS.contains(&layer) && layer != LayerSwitch::TimeClearing).then_some(layer)
}

/// What leaving messages out freed.
pub(super) fn left_out_run(change: &ReplayedCompaction) -> Option<LayerRun> {
    let freed = change.pre_tokens.saturating_sub(change.post_tokens);
    Some(LayerRun { layer: leaving_layer(change)?, freed, prefix_changed: true })
}

/// The runs of a message as it comes: each of its stored results, and deletions in the server's cache.
pub(super) fn runs_in(message: &Message, view: &[Arc<Message>]) -> Vec<LayerRun> {
    let stored = message.blocks.iter().filter_map(|block| {
        let freed = stored_freed(block)?;
        Some(LayerRun { layer: LayerSwitch::StoredResults, freed, prefix_changed: false })
    });
    let mut runs: Vec<LayerRun> = stored.collect();
    if is_cache_edit(message) {
        let freed = deleted_tokens(message, view);
        runs.push(LayerRun { layer: LayerSwitch::CacheEdits, freed, prefix_changed: false });
    }
    runs
}

/// The tokens of the results that a message deletes in the server's cache.
fn deleted_tokens(message: &Message, view: &[Arc<Message>]) -> u64 {
    let edits = CacheEdits::in_messages(&[Arc::new(message.clone())]);
    let deleted: BTreeSet<_> = edits
        .sent()
        .iter()
        .flat_map(|sent| &sent.deletions)
        .map(|deletion| &deletion.cache_reference)
        .collect();
    let results = view.iter().flat_map(|message| &message.blocks);
    results
        .filter(
            |block| matches!(block.kind(), BlockKind::ToolResult { id } if deleted.contains(id)),
        )
        .map(|block| u64::from(block.tokens()))
        .sum()
}

/// What clearing frees where these blocks take the place of a message's results; none if none was cleared.
pub(super) fn cleared_tokens(message: &Message, blocks: &[Block]) -> Option<u64> {
    let note = estimate_text(CLEARED_RESULT);
    let cleared: Vec<&Block> = blocks.iter().filter(|block| is_cleared(block)).collect();
    let before = |block: &&Block| message.blocks.iter().find(|old| old.kind() == block.kind());
    let freed = cleared
        .iter()
        .filter_map(before)
        .filter(|old| !is_cleared(old))
        .map(|old| u64::from(old.tokens().saturating_sub(note)))
        .sum();
    (!cleared.is_empty()).then_some(freed)
}
