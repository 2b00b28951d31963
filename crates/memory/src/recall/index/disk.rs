//! The files of the index: `base`, `delta`, and `walked`, the time when all memories were last listed.
//!
//! The delta names its base; a delta of another base is ignored. Nothing here fails: a cache that cannot be read or
//! written is treated as missing.

use std::collections::HashMap;
use std::sync::Arc;

use dormouse_base::{Dir, Durability, Lock, RelPath, Replacement};
use dormouse_search::{DeletedDocs, DocId, Segment, TermId};
use jiff::Timestamp;

use super::files_stamp::{BASE, DELTA, IndexFilesStamp};
use super::state::IndexState;
use crate::store::HistoryPosition;

const SCANNED: &str = "walked";
const LOCK: &str = "lock";
const MAGIC: &[u8; 8] = b"DORMDELT";
const CHECK: usize = 32;

fn path(name: &str) -> Option<RelPath> {
    RelPath::new(name).ok()
}

/// Reads the index; `None` if there is none or it is damaged.
pub(super) fn read(cache: &Dir) -> Option<IndexState> {
    // Read the stamp first: files that are replaced during reading have another one afterwards.
    let stamp = IndexFilesStamp::of(cache)?;
    let base = Segment::open(cache.read(&path(BASE)?).ok()?).ok()?;
    let delta = Delta::decode(&cache.read(&path(DELTA)?).ok()?)?;
    if delta.base != base.id() {
        return None;
    }
    Some(IndexState {
        base: Arc::new(base),
        delta: Arc::new(delta.segment),
        deleted: Arc::new(delta.deleted),
        position: delta.position,
        scanned: scanned(cache).unwrap_or(Timestamp::MIN),
        stamp: Some(stamp),
    })
}

fn scanned(cache: &Dir) -> Option<Timestamp> {
    String::from_utf8(cache.read(&path(SCANNED)?).ok()?).ok()?.trim().parse().ok()
}

/// Writes a state. `before` is the state it was derived from: if another process has written since, its files are kept.
/// A state built from the memory files replaces any other.
pub(super) fn write(cache: &Dir, state: IndexState, before: Option<&IndexState>) -> IndexState {
    let stamp = try_write(cache, &state, before).or(before.and_then(|before| before.stamp));
    IndexState { stamp, ..state }
}

fn try_write(
    cache: &Dir,
    state: &IndexState,
    before: Option<&IndexState>,
) -> Option<IndexFilesStamp> {
    let _lock = Lock::try_acquire(cache, &path(LOCK)?).ok()?;
    let there = IndexFilesStamp::of(cache);
    let ours = before.filter(|before| before.stamp.is_some() && before.stamp == there);
    if before.is_some() && ours.is_none() && read(cache).is_some() {
        return None;
    }
    if ours.is_none_or(|before| before.base.id() != state.base.id()) {
        put(cache, BASE, state.base.bytes())?;
    }
    put(cache, DELTA, &Delta::encode(state))?;
    put(cache, SCANNED, state.scanned.to_string().as_bytes())?;
    IndexFilesStamp::of(cache)
}

fn put(cache: &Dir, name: &str, content: &[u8]) -> Option<()> {
    let replacement = Replacement { durability: Durability::Unsynced, ..Replacement::new(content) };
    cache.replace_with(&path(name)?, &replacement).ok()
}

/// Changes since the base.
struct Delta {
    base: [u8; CHECK],
    position: HistoryPosition,
    deleted: DeletedDocs,
    segment: Segment,
}

impl Delta {
    fn encode(state: &IndexState) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&state.base.id());
        bytes.extend_from_slice(&state.position.0.to_le_bytes());
        bytes.extend_from_slice(&state.deleted.length.to_le_bytes());
        let number =
            |bytes: &mut Vec<u8>, number: u32| bytes.extend_from_slice(&number.to_le_bytes());
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        number(&mut bytes, count(state.deleted.docs.len()));
        number(&mut bytes, count(state.deleted.frequencies.len()));
        for doc in &state.deleted.docs {
            number(&mut bytes, doc.0);
        }
        for (term, lost) in &state.deleted.frequencies {
            number(&mut bytes, term.0);
            number(&mut bytes, *lost);
        }
        let check = blake3::hash(&bytes);
        bytes.extend_from_slice(check.as_bytes());
        bytes.extend_from_slice(state.delta.bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut rest = Rest(bytes);
        if rest.take::<8>()? != *MAGIC {
            return None;
        }
        let base = rest.take::<CHECK>()?;
        let position = HistoryPosition(u64::from_le_bytes(rest.take()?));
        let length = u64::from_le_bytes(rest.take()?);
        let docs = rest.number()?;
        let terms = rest.number()?;
        let docs = (0..docs).map(|_| rest.number().map(DocId)).collect::<Option<_>>()?;
        let mut lost = HashMap::new();
        for _ in 0..terms {
            lost.insert(TermId(rest.number()?), rest.number()?);
        }
        let head = bytes.get(..bytes.len() - rest.0.len())?;
        if rest.take::<CHECK>()? != *blake3::hash(head).as_bytes() {
            return None;
        }
        let segment = Segment::open(rest.0.to_vec()).ok()?;
        Some(Self { base, position, deleted: DeletedDocs::stored(docs, lost, length), segment })
    }
}

struct Rest<'a>(&'a [u8]);

impl Rest<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, others) = self.0.split_first_chunk::<N>()?;
        self.0 = others;
        Some(*first)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take()?))
    }
}
