//! The selection: a small model gets the list of memories that were not seen yet, and its choice is read.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_base::FileError;
use dormouse_memory::recall::{MAX_CANDIDATES, MemoryQuery};
use dormouse_memory::{FoundMemory, ReachableMemories, RecalledMemoryText as Shown};
use jiff::Timestamp;

use super::result::{LoadedMemory, RecallResult};
use super::selector::{MOST_CHOSEN, SelectorAnswer, SelectorRequest};
use crate::memory::SessionMemory;

/// Memories offered to a small model on this machine: it reads slowly.
const MOST_LOCAL: usize = 20;

/// The selector step: the small model gets the list of memories not seen yet; its choice is read.
pub(super) async fn select(
    mut selection: SelectorRequest,
    access: Arc<SessionMemory>,
    passed: Vec<PathBuf>,
) -> RecallResult {
    let since = selection.clock.elapsed();
    if selection.small.model.is_local() && selection.small.model.slots().await == Some(1) {
        // The conversation needs it. This is no failure: nothing is said about it.
        return RecallResult::default();
    }
    let most = if selection.small.model.is_local() { MOST_LOCAL } else { MAX_CANDIDATES };
    let (clock, query) = (Arc::clone(&selection.clock), selection.query.clone());
    let listing = {
        let access = Arc::clone(&access);
        tokio::task::spawn_blocking(move || {
            list(access.memories(), &query, &passed, most, access.clock().now())
        })
        .await
    };
    let Ok(Ok(mut listed)) = listing else {
        return RecallResult::empty("the memories could not be listed");
    };
    let considered = listed.len();
    if considered == 0 {
        return RecallResult::default();
    }
    selection.manifest = listed.iter().map(|(_, line)| line.clone()).collect();
    // Two scopes may have a file of one name: it is offered once.
    let offered: BTreeSet<String> =
        listed.iter().map(|(found, _)| found.memory.file.to_string()).collect();
    selection.offered = offered.into_iter().collect();
    let SelectorAnswer { names, error, spent } = selection.ask().await;
    let mut chosen = Vec::new();
    for name in names {
        // Two scopes may have a file of one name: both are meant.
        chosen.extend(listed.extract_if(.., |(found, _)| found.memory.file.as_str() == name));
    }
    chosen.truncate(MOST_CHOSEN);
    let now = clock.now();
    let reading = tokio::task::spawn_blocking(move || {
        let memories = access.memories();
        let ready = |(found, _): (FoundMemory, String)| {
            let shown = Shown::read(memories, &found, now)?;
            let why = "chosen by the small model".to_owned();
            Some(LoadedMemory { found, shown, why, ranking: None })
        };
        chosen.into_iter().filter_map(ready).collect()
    });
    let memories = reading.await.unwrap_or_default();
    let took = clock.elapsed().saturating_sub(since);
    RecallResult { memories, considered, note: error, took, spent, ..RecallResult::default() }
}

/// The candidates with a line for each.
fn list(
    memories: &ReachableMemories,
    query: &str,
    passed: &[PathBuf],
    most: usize,
    now: Timestamp,
) -> Result<Vec<(FoundMemory, String)>, FileError> {
    let line = |found: FoundMemory| {
        let about = found.memory.header.description.as_deref();
        let line = format!("- {}: {}", found.memory.file, about.unwrap_or(found.memory.name()));
        (found, line.replace('\n', " "))
    };
    let candidates = candidates(memories, query, passed, most, now)?;
    Ok(candidates.into_iter().map(line).collect())
}

/// The memories that the selector chooses from: all that were not seen, or the best matches among them.
fn candidates(
    memories: &ReachableMemories,
    query: &str,
    seen: &[PathBuf],
    limit: usize,
    now: Timestamp,
) -> Result<Vec<FoundMemory>, FileError> {
    let exclude = memories.excluded(&seen.iter().map(PathBuf::as_path));
    let hits = memories
        .recall()
        .candidates(&MemoryQuery { exclude: &exclude, ..MemoryQuery::new(query, limit, now) })?;
    Ok(hits.iter().filter_map(|hit| memories.found(hit)).collect())
}
