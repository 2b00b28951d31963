//! Several segments as one collection: what is common to all of them decides how rare a term is.
//!
//! Invariant: a view of a segment with memories gone from it answers as one that never had them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::segment::{Doc, Segment, Term};

/// The memories of a segment that are no longer there, and what they took along.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Gone {
    pub(crate) docs: BTreeSet<Doc>,
    /// The same, to be asked for every posting.
    mask: Vec<bool>,
    pub(crate) frequencies: HashMap<Term, u32>,
    pub(crate) length: u64,
}

impl Gone {
    /// What these memories took along: a walk through all postings, so not for a query.
    pub(crate) fn from(segment: &Segment, docs: BTreeSet<Doc>) -> Self {
        let mut gone = Self::default();
        if docs.is_empty() {
            return gone;
        }
        for term in (0..segment.term_count()).map(Term) {
            let count = segment.postings(term).filter(|(doc, _)| docs.contains(doc)).count();
            if count > 0 {
                gone.frequencies.insert(term, u32::try_from(count).unwrap_or(u32::MAX));
            }
        }
        gone.mask = mask(&docs);
        gone.length = docs.iter().map(|doc| u64::from(segment.length(*doc))).sum();
        gone.docs = docs;
        gone
    }

    /// As it was written down.
    pub(crate) fn written(
        docs: BTreeSet<Doc>,
        frequencies: HashMap<Term, u32>,
        length: u64,
    ) -> Self {
        Self { mask: mask(&docs), docs, frequencies, length }
    }

    fn has(&self, doc: Doc) -> bool {
        usize::try_from(doc.0).ok().and_then(|at| self.mask.get(at)).copied().unwrap_or(false)
    }
}

fn mask(docs: &BTreeSet<Doc>) -> Vec<bool> {
    let length = docs.last().map_or(0, |last| last.0.saturating_add(1));
    (0..length).map(|doc| docs.contains(&Doc(doc))).collect()
}

/// A segment in a view.
#[derive(Debug, Clone)]
pub(crate) struct Part {
    /// Whose it is: the place of its directory in the list of those that are searched.
    pub(crate) shelf: usize,
    pub(crate) segment: Arc<Segment>,
    pub(crate) gone: Arc<Gone>,
}

impl Part {
    /// The memories of it that are there.
    pub(crate) fn live(&self) -> impl Iterator<Item = Doc> + '_ {
        self.segment.docs().filter(|doc| !self.gone.has(*doc))
    }
}

/// A memory in a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Spot(pub(crate) u32);

/// Segments, one behind the other.
#[derive(Debug, Clone)]
pub(crate) struct View {
    parts: Vec<(u32, Part)>,
    spots: u32,
    live: u32,
    average_length: f64,
}

impl View {
    pub(crate) fn new(parts: Vec<Part>) -> Self {
        let (mut spots, mut live, mut length) = (0_u32, 0_u32, 0_u64);
        let parts: Vec<(u32, Part)> = parts
            .into_iter()
            .map(|part| {
                let first = spots;
                let count = part.segment.doc_count();
                let gone = u32::try_from(part.gone.docs.len()).unwrap_or(u32::MAX);
                spots = spots.saturating_add(count);
                live = live.saturating_add(count.saturating_sub(gone));
                length += part.segment.total_length().saturating_sub(part.gone.length);
                (first, part)
            })
            .collect();
        let average_length = ratio(length, live).max(1.0);
        Self { parts, spots, live, average_length }
    }

    /// Places for all memories, also those that are gone.
    pub(crate) fn spots(&self) -> usize {
        usize::try_from(self.spots).unwrap_or(usize::MAX)
    }

    /// How many memories there are.
    pub(crate) fn live(&self) -> u32 {
        self.live
    }

    pub(crate) fn average_length(&self) -> f64 {
        self.average_length
    }

    /// How many memories have a term.
    pub(crate) fn frequency(&self, text: &str) -> u32 {
        let of_part = |part: &Part| {
            let Some(term) = part.segment.term(text) else { return 0 };
            let gone = part.gone.frequencies.get(&term).copied().unwrap_or(0);
            part.segment.frequency(term).saturating_sub(gone)
        };
        self.parts.iter().map(|(_, part)| of_part(part)).sum()
    }

    /// Gives every memory of a term: where it is, the term's weighted count, the memory's length.
    pub(crate) fn postings(&self, text: &str, mut give: impl FnMut(Spot, u32, u32)) {
        for (first, part) in &self.parts {
            let Some(term) = part.segment.term(text) else { continue };
            let lengths = part.segment.lengths();
            for (doc, count) in part.segment.postings(term) {
                if !part.gone.has(doc) {
                    give(Spot(first + doc.0), count, lengths.of(doc));
                }
            }
        }
    }

    /// The terms that begin with a text, of all segments, in order; with them how many memories they are in.
    pub(crate) fn beginning_with(&self, text: &str, most: usize) -> Vec<String> {
        let mut terms = BTreeSet::new();
        for (_, part) in &self.parts {
            let found = part.segment.beginning_with(text).take(most);
            terms.extend(found.map(|(_, term)| term.to_owned()));
        }
        terms.retain(|term| self.frequency(term) > 0);
        terms.into_iter().take(most).collect()
    }

    /// The segment of a memory, and its place there.
    pub(crate) fn doc(&self, spot: Spot) -> Option<(&Part, Doc)> {
        let at = self.parts.partition_point(|(first, _)| *first <= spot.0);
        let (first, part) = self.parts.get(at.checked_sub(1)?)?;
        Some((part, Doc(spot.0 - first)))
    }

    /// The segments, each with the place of its first memory.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (u32, &Part)> {
        self.parts.iter().map(|(first, part)| (*first, part))
    }

    /// Every memory that is there.
    pub(crate) fn all(&self) -> impl Iterator<Item = Spot> + '_ {
        self.parts().flat_map(|(first, part)| part.live().map(move |doc| Spot(first + doc.0)))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a mean length; its last digits do not matter")]
fn ratio(sum: u64, count: u32) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / f64::from(count) }
}
