//! The derived index of one memory directory: a cache that may be lost at any time.
//!
//! Two segments: the `base`, and the `delta`, which has what changed since the base was written and says which
//! memories of the base are gone. A change writes the delta anew; when it has grown too large the two become
//! one base. Files are replaced whole, so a reader holds an old state or a new one. Nobody waits for a lock:
//! whoever does not get it keeps its own state in memory, and writes another time.
//!
//! Invariant: a state answers as an index built from the same files would.

mod disk;
mod file;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::{Dir, FileError};
use jiff::Timestamp;

use super::segment::{Builder, Doc, Segment, merge};
use super::view::{Gone, Part};
use super::words::Words;
use crate::Store;
use crate::store::{HistoryPlace, Since};
use disk::Stamp;
use walk::Seen;

/// A delta of this many memories is too large, or one of this share of the base.
const DELTA_MOST: u32 = 256;
const DELTA_SHARE: u32 = 16;

/// What is known of a directory at a moment.
#[derive(Debug, Clone)]
struct State {
    base: Arc<Segment>,
    delta: Arc<Segment>,
    /// The memories of the base that are no longer there, or are in the delta.
    gone: Arc<Gone>,
    place: HistoryPlace,
    /// When all files were last looked at.
    walked: Timestamp,
    /// The files that this was read from, or written to.
    stamp: Option<Stamp>,
}

/// The index of a directory.
pub(crate) struct Index {
    store: Arc<Store>,
    /// Where it is kept; without, it lives in memory alone.
    cache: Option<Dir>,
    state: Mutex<Option<State>>,
}

impl Index {
    pub(crate) fn new(store: Arc<Store>, cache: Option<Dir>) -> Self {
        Self { store, cache, state: Mutex::new(None) }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// Where it is kept.
    pub(crate) fn folder(&self) -> Option<&Dir> {
        self.cache.as_ref()
    }

    /// The index as it is, with our own writes; made first where there is none.
    pub(crate) fn parts(
        &self,
        words: &Words,
        shelf: usize,
        now: Timestamp,
    ) -> Result<(Vec<Part>, Timestamp), FileError> {
        let mut held = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let state = self.current(held.take(), words, now)?;
        let part = |segment: &Arc<Segment>, gone: &Arc<Gone>| Part {
            shelf,
            segment: Arc::clone(segment),
            gone: Arc::clone(gone),
        };
        let parts = vec![part(&state.base, &state.gone), part(&state.delta, &Arc::default())];
        let walked = state.walked;
        *held = Some(state);
        Ok((parts, walked))
    }

    /// Looks at all files and takes up what others have changed. Queries go on meanwhile.
    pub(crate) fn walk(&self, words: &Words, now: Timestamp) -> Result<(), FileError> {
        let held = self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let state = match held.or_else(|| self.cache.as_ref().and_then(disk::read)) {
            Some(state) => self.walked(&state, words, now)?,
            None => self.built(words, now)?,
        };
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some(state);
        Ok(())
    }

    /// What we hold, or what somebody else has written since, and what the history tells.
    fn current(
        &self,
        held: Option<State>,
        words: &Words,
        now: Timestamp,
    ) -> Result<State, FileError> {
        let on_disk = self.cache.as_ref().and_then(Stamp::of);
        let state = match held {
            Some(state) if on_disk.is_none() || state.stamp == on_disk => Some(state),
            held => self.cache.as_ref().and_then(disk::read).or(held),
        };
        let Some(state) = state else { return self.built(words, now) };
        match self.store.changes_since(state.place) {
            Since::Nothing => Ok(state),
            Since::Files(files, place) => {
                let files: BTreeSet<String> = files.into_iter().collect();
                let seen: BTreeMap<_, _> = files
                    .into_iter()
                    .map(|file| {
                        let seen = walk::look(self.store.dir(), &file);
                        (file, seen)
                    })
                    .collect();
                Ok(self.kept(updated(&self.store, &state, words, &seen, place), &state))
            }
            Since::Unknown => self.walked(&state, words, now),
        }
    }

    fn built(&self, words: &Words, now: Timestamp) -> Result<State, FileError> {
        let place = self.store.history_end();
        let mut builder = Builder::default();
        for (file, seen) in walk::walk(&self.store)? {
            file::add(&mut builder, self.store.dir(), words, &file, seen);
        }
        let state = State {
            base: Arc::new(builder.finish()),
            delta: Arc::new(Segment::empty()),
            gone: Arc::default(),
            place,
            walked: now,
            stamp: None,
        };
        Ok(match &self.cache {
            Some(cache) => disk::write(cache, state, None),
            None => state,
        })
    }

    fn walked(&self, state: &State, words: &Words, now: Timestamp) -> Result<State, FileError> {
        let place = self.store.history_end();
        let there = walk::walk(&self.store)?;
        let changes = differences(state, &there);
        let fresh = State { walked: now, ..updated(&self.store, state, words, &changes, place) };
        Ok(self.kept(fresh, state))
    }

    /// Writes a state that came from another, if nobody has written since.
    fn kept(&self, state: State, before: &State) -> State {
        match &self.cache {
            Some(cache) => disk::write(cache, state, Some(before)),
            None => state,
        }
    }
}

/// The files that are not as the index has them.
fn differences(state: &State, there: &BTreeMap<String, Seen>) -> BTreeMap<String, Option<Seen>> {
    let mut known: BTreeMap<&str, Seen> = BTreeMap::new();
    for (segment, gone) in [(&state.base, Some(&state.gone)), (&state.delta, None)] {
        let live = segment.docs().filter(|doc| gone.is_none_or(|gone| !gone.docs.contains(doc)));
        known.extend(live.map(|doc| (segment.file(doc), Seen::of(segment.about(doc)))));
    }
    let changed = there.iter().filter(|(file, seen)| known.get(file.as_str()) != Some(seen));
    let mut changes: BTreeMap<String, Option<Seen>> =
        changed.map(|(file, seen)| (file.clone(), Some(*seen))).collect();
    let removed = known.keys().filter(|file| !there.contains_key(**file));
    changes.extend(removed.map(|file| ((*file).to_owned(), None)));
    changes
}

/// The state with these files as they are now; one of none is gone.
fn updated(
    store: &Store,
    state: &State,
    words: &Words,
    changes: &BTreeMap<String, Option<Seen>>,
    place: HistoryPlace,
) -> State {
    if changes.is_empty() {
        return State { place, ..state.clone() };
    }
    let mut builder = Builder::default();
    for (file, seen) in changes {
        if let Some(seen) = seen {
            file::add(&mut builder, store.dir(), words, file, *seen);
        }
    }
    let new = builder.finish();
    let mut dead = state.gone.docs.clone();
    dead.extend(state.base.docs().filter(|doc| changes.contains_key(state.base.file(*doc))));
    let stays = |doc: Doc| !changes.contains_key(state.delta.file(doc));
    let all = |_: Doc| true;
    let size = state.delta.doc_count() + new.doc_count();
    if size.max(count(&dead)) > DELTA_MOST.max(state.base.doc_count() / DELTA_SHARE) {
        let lives = |doc: Doc| !dead.contains(&doc);
        let base =
            merge([(&*state.base, &lives as _), (&*state.delta, &stays as _), (&new, &all as _)]);
        let (base, delta) = (Arc::new(base), Arc::new(Segment::empty()));
        return State { base, delta, gone: Arc::default(), place, ..state.clone() };
    }
    let delta = Arc::new(merge([(&*state.delta, &stays as _), (&new, &all as _)]));
    let gone = if dead == state.gone.docs {
        Arc::clone(&state.gone)
    } else {
        Arc::new(Gone::from(&state.base, dead))
    };
    State { delta, gone, place, ..state.clone() }
}

fn count(docs: &BTreeSet<Doc>) -> u32 {
    u32::try_from(docs.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
