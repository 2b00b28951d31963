//! The index of one memory directory: a cache that may be lost at any time.
//!
//! Two segments: the `base`, and the `delta` with the changes since the base was written, including which memories of
//! the base were deleted. A change rewrites the delta; when it grows too large, the next scan merges both into a new base:
//! not the query that finds the change. Files are
//! replaced whole, so a reader sees an old state or a new one. Nothing waits for the lock: a process that does not get it
//! keeps its state in memory and writes later.
//!
//! Invariant: the index answers like one built from the same files.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::{Dir, FileError};
use dormouse_search::{DeletedDocs, DocId, FileStamp, Segment, Tokenizer, ViewSegment, merge};
use jiff::Timestamp;

use super::files_stamp::IndexFilesStamp;
use super::new_segment::{SeenFile, new_segment};
use super::state::IndexState;
use super::{disk, walk};
use crate::store::{ChangesSince, HistoryPosition, Store};

/// Maximum size of the delta: this number of memories, or this fraction of the base.
const DELTA_MOST: u32 = 256;
const DELTA_SHARE: u32 = 16;
/// Maximum number of changed files that a query reads.
const MOST_AT_ONCE: usize = 256;

/// The index of a directory.
pub(crate) struct DirectoryIndex {
    store: Arc<Store>,
    /// Cache folder; without one, the index is kept in memory.
    cache: Option<Dir>,
    state: Mutex<Option<IndexState>>,
}

impl DirectoryIndex {
    pub(crate) fn new(store: Arc<Store>, cache: Option<Dir>) -> Self {
        Self { store, cache, state: Mutex::new(None) }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// The cache folder.
    pub(crate) fn folder(&self) -> Option<&Dir> {
        self.cache.as_ref()
    }

    /// The current segments, including changes by this program; builds the index if there is none.
    pub(crate) fn segments(
        &self,
        tokenizer: &Tokenizer,
        collection: usize,
        now: Timestamp,
    ) -> Result<(Vec<ViewSegment>, Timestamp), FileError> {
        let mut held = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.current(held.take(), tokenizer, now)?;
        let part = |segment: &Arc<Segment>, deleted: &Arc<DeletedDocs>| ViewSegment {
            collection,
            segment: Arc::clone(segment),
            deleted: Arc::clone(deleted),
        };
        let segments = vec![part(&state.base, &state.deleted), part(&state.delta, &Arc::default())];
        let scanned = state.scanned;
        *held = Some(state);
        Ok((segments, scanned))
    }

    /// Lists all files and adds changes by other programs. Queries are not blocked.
    pub(crate) fn rescan(&self, tokenizer: &Tokenizer, now: Timestamp) -> Result<(), FileError> {
        let held = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let state = match held.or_else(|| self.cache.as_ref().and_then(disk::read)) {
            Some(state) => self.scan(&state, tokenizer, now)?,
            None => self.build(tokenizer, now)?,
        };
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
        Ok(())
    }

    /// The state in memory or a newer one on disk, updated from the history.
    fn current(
        &self,
        held: Option<IndexState>,
        tokenizer: &Tokenizer,
        now: Timestamp,
    ) -> Result<IndexState, FileError> {
        let on_disk = self.cache.as_ref().and_then(IndexFilesStamp::of);
        let state = match held {
            Some(state) if on_disk.is_none() || state.stamp == on_disk => Some(state),
            held => self.cache.as_ref().and_then(disk::read).or(held),
        };
        let Some(state) = state else { return self.build(tokenizer, now) };
        match self.store.history().changes_since(state.position) {
            ChangesSince::Nothing => Ok(state),
            ChangesSince::Files(files, position) => {
                let changes = self.newest_changes(&state, files);
                let delta = Folding::Deferred;
                Ok(self.save(
                    update(&self.store, &state, tokenizer, &changes, position, delta),
                    &state,
                ))
            }
            ChangesSince::Unknown => self.scan(&state, tokenizer, now),
        }
    }

    /// The newest of the files that the history names, as far as they differ from the index. A first change after many by
    /// others names all of those: the next scan finds what is left out here.
    fn newest_changes(
        &self,
        state: &IndexState,
        files: Vec<String>,
    ) -> BTreeMap<String, Option<FileStamp>> {
        let newest: BTreeSet<String> = files.into_iter().rev().take(MOST_AT_ONCE).collect();
        newest
            .into_iter()
            .filter_map(|file| {
                let seen = walk::stamp_of(self.store.dir(), &file);
                (seen != state.stamp_of(&file)).then_some((file, seen))
            })
            .collect()
    }

    fn build(&self, tokenizer: &Tokenizer, now: Timestamp) -> Result<IndexState, FileError> {
        let position = self.store.history().end();
        let there = walk::walk(&self.store)?;
        let files: Vec<SeenFile<'_>> =
            there.iter().map(|(file, seen)| (file.as_str(), *seen)).collect();
        let state = IndexState {
            base: Arc::new(new_segment(self.store.dir(), tokenizer, &files)),
            delta: Arc::new(Segment::empty()),
            deleted: Arc::default(),
            position,
            scanned: now,
            stamp: None,
        };
        Ok(match &self.cache {
            Some(cache) => disk::write(cache, state, None),
            None => state,
        })
    }

    fn scan(
        &self,
        state: &IndexState,
        tokenizer: &Tokenizer,
        now: Timestamp,
    ) -> Result<IndexState, FileError> {
        let position = self.store.history().end();
        let there = walk::walk(&self.store)?;
        let changes = differences(state, &there);
        let fresh = IndexState {
            scanned: now,
            ..update(&self.store, state, tokenizer, &changes, position, Folding::Allowed)
        };
        Ok(self.save(fresh, state))
    }

    /// Writes a state derived from `before`, unless another process has written since.
    fn save(&self, state: IndexState, before: &IndexState) -> IndexState {
        match &self.cache {
            Some(cache) => disk::write(cache, state, Some(before)),
            None => state,
        }
    }
}

/// The files that differ from the index.
fn differences(
    state: &IndexState,
    there: &BTreeMap<String, FileStamp>,
) -> BTreeMap<String, Option<FileStamp>> {
    let mut known: BTreeMap<&str, FileStamp> = BTreeMap::new();
    for (segment, deleted) in [(&state.base, Some(&state.deleted)), (&state.delta, None)] {
        let live =
            segment.docs().filter(|doc| deleted.is_none_or(|deleted| !deleted.docs.contains(doc)));
        known.extend(live.map(|doc| (segment.file(doc), walk::indexed_stamp(segment.info(doc)))));
    }
    let changed = there.iter().filter(|(file, seen)| known.get(file.as_str()) != Some(seen));
    let mut changes: BTreeMap<String, Option<FileStamp>> =
        changed.map(|(file, seen)| (file.clone(), Some(*seen))).collect();
    let removed = known.keys().filter(|file| !there.contains_key(**file));
    changes.extend(removed.map(|file| ((*file).to_owned(), None)));
    changes
}

/// Whether a delta that has become too large may be merged into the base, which takes long in a large directory: not
/// while a question waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Folding {
    Allowed,
    Deferred,
}

/// The state with these files updated; `None` means deleted.
fn update(
    store: &Store,
    state: &IndexState,
    tokenizer: &Tokenizer,
    changes: &BTreeMap<String, Option<FileStamp>>,
    position: HistoryPosition,
    folding: Folding,
) -> IndexState {
    if changes.is_empty() && (folding == Folding::Deferred || !is_large(state)) {
        return IndexState { position, ..state.clone() };
    }
    let written = changes.iter().filter_map(|(file, seen)| Some((file.as_str(), (*seen)?)));
    let written: Vec<SeenFile<'_>> = written.collect();
    let new = new_segment(store.dir(), tokenizer, &written);
    let mut dead = state.deleted.docs.clone();
    dead.extend(state.base.docs().filter(|doc| changes.contains_key(state.base.file(*doc))));
    let stays = |doc: DocId| !changes.contains_key(state.delta.file(doc));
    let all = |_: DocId| true;
    let size = state.delta.doc_count() + new.doc_count();
    let is_large = size.max(count(&dead)) > most_changed(&state.base);
    if is_large && folding == Folding::Allowed {
        let lives = |doc: DocId| !dead.contains(&doc);
        let base =
            merge([(&*state.base, &lives as _), (&*state.delta, &stays as _), (&new, &all as _)]);
        return IndexState {
            base: Arc::new(base),
            delta: Arc::new(Segment::empty()),
            deleted: Arc::default(),
            position,
            ..state.clone()
        };
    }
    let delta = Arc::new(merge([(&*state.delta, &stays as _), (&new, &all as _)]));
    let deleted = if dead == state.deleted.docs {
        Arc::clone(&state.deleted)
    } else {
        Arc::new(DeletedDocs::count(&state.base, dead))
    };
    IndexState { delta, deleted, position, ..state.clone() }
}

/// Maximum size of a delta.
fn most_changed(base: &Segment) -> u32 {
    DELTA_MOST.max(base.doc_count() / DELTA_SHARE)
}

/// Whether the delta is to be merged into the base.
fn is_large(state: &IndexState) -> bool {
    state.delta.doc_count().max(count(&state.deleted.docs)) > most_changed(&state.base)
}

fn count(docs: &BTreeSet<DocId>) -> u32 {
    u32::try_from(docs.len()).unwrap_or(u32::MAX)
}
