//! Several segments as one collection: term frequencies are counted over all of them.
//!
//! Invariant: a view of a segment with deleted documents answers like one that never had them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::segment::{DocId, Segment, TermId};

/// As many documents of this length are added to the average: a single document is not of average length by itself.
const PRIOR_DOCS: u32 = 30;
const PRIOR_LENGTH: u32 = 75;

/// Deleted documents of a segment, with their share of the term frequencies and lengths.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeletedDocs {
    /// The deleted documents.
    pub docs: BTreeSet<DocId>,
    /// `docs` as a bit mask, for fast lookup.
    mask: Vec<bool>,
    /// How many deleted documents have each term.
    pub frequencies: HashMap<TermId, u32>,
    /// Sum of the lengths of the deleted documents.
    pub length: u64,
}

impl DeletedDocs {
    /// Counts the terms of the deleted documents. Reads all postings, so not during a query.
    pub fn count(segment: &Segment, docs: BTreeSet<DocId>) -> Self {
        let mut deleted = Self::default();
        if docs.is_empty() {
            return deleted;
        }
        for term in (0..segment.term_count()).map(TermId) {
            let count = segment.postings(term).filter(|(doc, _)| docs.contains(doc)).count();
            if count > 0 {
                deleted.frequencies.insert(term, u32::try_from(count).unwrap_or(u32::MAX));
            }
        }
        deleted.mask = mask(&docs);
        deleted.length = docs.iter().map(|doc| u64::from(segment.length(*doc))).sum();
        deleted.docs = docs;
        deleted
    }

    /// Restores stored counts.
    pub fn stored(docs: BTreeSet<DocId>, frequencies: HashMap<TermId, u32>, length: u64) -> Self {
        Self { mask: mask(&docs), docs, frequencies, length }
    }

    fn has(&self, doc: DocId) -> bool {
        usize::try_from(doc.0).ok().and_then(|at| self.mask.get(at)).copied().unwrap_or(false)
    }
}

fn mask(docs: &BTreeSet<DocId>) -> Vec<bool> {
    let length = docs.last().map_or(0, |last| last.0.saturating_add(1));
    (0..length).map(|doc| docs.contains(&DocId(doc))).collect()
}

/// A segment in a view.
#[derive(Debug, Clone)]
pub struct ViewSegment {
    /// Index of the collection that the segment belongs to.
    pub collection: usize,
    /// The indexed documents.
    pub segment: Arc<Segment>,
    /// Documents of the segment that no longer exist.
    pub deleted: Arc<DeletedDocs>,
}

impl ViewSegment {
    /// Documents that were not deleted.
    pub fn live_docs(&self) -> impl Iterator<Item = DocId> + '_ {
        self.segment.docs().filter(|doc| !self.deleted.has(*doc))
    }
}

/// Number of a document in a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ViewDocId(pub u32);

/// A list of segments with consecutive document numbers.
#[derive(Debug, Clone)]
pub struct IndexView {
    parts: Vec<(u32, ViewSegment)>,
    slots: u32,
    live: u32,
    average_length: f64,
}

impl IndexView {
    /// Joins segments.
    pub fn new(parts: Vec<ViewSegment>) -> Self {
        let mut slots = 0_u32;
        let mut live = 0_u32;
        let mut length = 0_u64;
        let parts: Vec<(u32, ViewSegment)> = parts
            .into_iter()
            .map(|part| {
                let first = slots;
                let count = part.segment.doc_count();
                let deleted = u32::try_from(part.deleted.docs.len()).unwrap_or(u32::MAX);
                slots = slots.saturating_add(count);
                live = live.saturating_add(count.saturating_sub(deleted));
                length += part.segment.total_length().saturating_sub(part.deleted.length);
                (first, part)
            })
            .collect();
        let average_length =
            ratio(length + u64::from(PRIOR_DOCS * PRIOR_LENGTH), live.saturating_add(PRIOR_DOCS));
        Self { parts, slots, live, average_length }
    }

    /// Number of documents, including deleted ones.
    pub(crate) fn slot_count(&self) -> usize {
        usize::try_from(self.slots).unwrap_or(usize::MAX)
    }

    /// Number of documents without deleted ones.
    pub fn live_count(&self) -> u32 {
        self.live
    }

    pub(crate) fn average_length(&self) -> f64 {
        self.average_length
    }

    /// Number of documents with a term.
    pub(crate) fn frequency(&self, text: &str) -> u32 {
        let of_part = |part: &ViewSegment| {
            let Some(term) = part.segment.term(text) else { return 0 };
            let deleted = part.deleted.frequencies.get(&term).copied().unwrap_or(0);
            part.segment.frequency(term).saturating_sub(deleted)
        };
        self.parts.iter().map(|(_, part)| of_part(part)).sum()
    }

    /// Calls `give` with every document that has a term: its number, the weighted count of the term, and its length.
    pub(crate) fn postings(&self, text: &str, mut give: impl FnMut(ViewDocId, u32, u32)) {
        for (first, part) in &self.parts {
            let Some(term) = part.segment.term(text) else { continue };
            let lengths = part.segment.lengths();
            for (doc, count) in part.segment.postings(term) {
                if !part.deleted.has(doc) {
                    give(ViewDocId(first + doc.0), count, lengths.of(doc));
                }
            }
        }
    }

    /// Terms with a prefix that some document has, sorted.
    pub(crate) fn with_prefix(&self, text: &str, most: usize) -> Vec<String> {
        let mut terms = BTreeSet::new();
        for (_, part) in &self.parts {
            let found = part.segment.with_prefix(text).take(most);
            terms.extend(found.map(|(_, term)| term.to_owned()));
        }
        terms.retain(|term| self.frequency(term) > 0);
        terms.into_iter().take(most).collect()
    }

    /// The segment of a document and its number there.
    pub fn doc(&self, doc: ViewDocId) -> Option<(&ViewSegment, DocId)> {
        let at = self.parts.partition_point(|(first, _)| *first <= doc.0);
        let (first, part) = self.parts.get(at.checked_sub(1)?)?;
        Some((part, DocId(doc.0 - first)))
    }

    /// The segments, each with the number of its first document.
    pub fn segments(&self) -> impl Iterator<Item = (u32, &ViewSegment)> {
        self.parts.iter().map(|(first, part)| (*first, part))
    }

    /// All documents that were not deleted.
    pub fn docs(&self) -> impl Iterator<Item = ViewDocId> + '_ {
        self.segments()
            .flat_map(|(first, part)| part.live_docs().map(move |doc| ViewDocId(first + doc.0)))
    }
}

#[expect(clippy::cast_precision_loss, reason = "a mean length; its last digits do not matter")]
fn ratio(sum: u64, count: u32) -> f64 {
    if count == 0 { 0.0 } else { sum as f64 / f64::from(count) }
}
