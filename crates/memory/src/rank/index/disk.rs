//! The index's files: `base`, `delta`, and `walked`, which says when all memories were last looked at.
//!
//! The delta names the base it belongs to; one that belongs to another is as good as none, since that base
//! has all of it. Nothing here fails: a cache that can not be read or written is no cache.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::SystemTime;

use dormouse_base::{Dir, Durability, Lock, RelPath, Replacement};
use jiff::Timestamp;

use super::State;
use crate::rank::segment::{Doc, Segment, Term};
use crate::rank::view::Gone;
use crate::store::HistoryPlace;

const BASE: &str = "base";
const DELTA: &str = "delta";
const WALKED: &str = "walked";
const LOCK: &str = "lock";
const MAGIC: &[u8; 8] = b"DORMDELT";
const CHECK: usize = 32;

/// Which files are there: those of another moment have another stamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    base: (SystemTime, u64),
    delta: (SystemTime, u64),
}

impl Stamp {
    pub(super) fn of(cache: &Dir) -> Option<Self> {
        let of = |name| {
            let entry = cache.entry(&path(name)?).ok()?;
            Some((entry.modified, entry.size))
        };
        Some(Self { base: of(BASE)?, delta: of(DELTA)? })
    }
}

fn path(name: &str) -> Option<RelPath> {
    RelPath::new(name).ok()
}

/// Reads the index; none if there is none, or it is damaged.
pub(super) fn read(cache: &Dir) -> Option<State> {
    // The stamp comes first: files that are replaced while they are read have another one afterwards.
    let stamp = Stamp::of(cache)?;
    let base = Segment::open(cache.read(&path(BASE)?).ok()?).ok()?;
    let delta = Delta::decode(&cache.read(&path(DELTA)?).ok()?)?;
    if delta.base != base.id() {
        return None;
    }
    Some(State {
        base: Arc::new(base),
        delta: Arc::new(delta.segment),
        gone: Arc::new(delta.gone),
        place: delta.place,
        walked: walked(cache).unwrap_or(Timestamp::MIN),
        stamp: Some(stamp),
    })
}

fn walked(cache: &Dir) -> Option<Timestamp> {
    String::from_utf8(cache.read(&path(WALKED)?).ok()?).ok()?.trim().parse().ok()
}

/// Writes a state. `before` is the one that it was made from: if somebody else has written since, theirs
/// stays. What was built from the files themselves takes any place.
pub(super) fn write(cache: &Dir, state: State, before: Option<&State>) -> State {
    let stamp = try_write(cache, &state, before).or(before.and_then(|before| before.stamp));
    State { stamp, ..state }
}

fn try_write(cache: &Dir, state: &State, before: Option<&State>) -> Option<Stamp> {
    let _lock = Lock::try_acquire(cache, &path(LOCK)?).ok()?;
    let there = Stamp::of(cache);
    let ours = before.filter(|before| before.stamp.is_some() && before.stamp == there);
    if before.is_some() && ours.is_none() && read(cache).is_some() {
        return None;
    }
    if ours.is_none_or(|before| before.base.id() != state.base.id()) {
        put(cache, BASE, state.base.bytes())?;
    }
    put(cache, DELTA, &Delta::encode(state))?;
    put(cache, WALKED, state.walked.to_string().as_bytes())?;
    Stamp::of(cache)
}

fn put(cache: &Dir, name: &str, content: &[u8]) -> Option<()> {
    let hasty = Replacement { durability: Durability::Unsynced, ..Replacement::new(content) };
    cache.replace_with(&path(name)?, &hasty).ok()
}

/// What changed since the base.
struct Delta {
    base: [u8; CHECK],
    place: HistoryPlace,
    gone: Gone,
    segment: Segment,
}

impl Delta {
    fn encode(state: &State) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&state.base.id());
        bytes.extend_from_slice(&state.place.0.to_le_bytes());
        bytes.extend_from_slice(&state.gone.length.to_le_bytes());
        let number =
            |bytes: &mut Vec<u8>, number: u32| bytes.extend_from_slice(&number.to_le_bytes());
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        number(&mut bytes, count(state.gone.docs.len()));
        number(&mut bytes, count(state.gone.frequencies.len()));
        for doc in &state.gone.docs {
            number(&mut bytes, doc.0);
        }
        for (term, lost) in &state.gone.frequencies {
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
        let place = HistoryPlace(u64::from_le_bytes(rest.take()?));
        let length = u64::from_le_bytes(rest.take()?);
        let (docs, terms) = (rest.number()?, rest.number()?);
        let docs = (0..docs).map(|_| rest.number().map(Doc)).collect::<Option<_>>()?;
        let mut lost = HashMap::new();
        for _ in 0..terms {
            lost.insert(Term(rest.number()?), rest.number()?);
        }
        let head = bytes.get(..bytes.len() - rest.0.len())?;
        if rest.take::<CHECK>()? != *blake3::hash(head).as_bytes() {
            return None;
        }
        let segment = Segment::open(rest.0.to_vec()).ok()?;
        Some(Self { base, place, gone: Gone::written(docs, lost, length), segment })
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
