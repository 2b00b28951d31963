//! An inverted index that is one piece of bytes: memory and disk hold the same, and nothing is parsed before
//! it is needed.
//!
//! Invariant: whatever the bytes are, reading gives values or their absence; nothing panics. Bytes that are
//! not what was once written are refused as a whole when they are opened.

mod build;
mod layout;

use std::ops::Range;

pub(crate) use build::{Builder, merge};
use layout::{Layout, Section, number_at, varint};

/// A memory in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Doc(pub(crate) u32);

/// A term in a segment; terms are in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Term(pub(crate) u32);

/// What is known of a memory beside its terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct About {
    /// When the file changed, in nanoseconds, as the file system says it.
    pub(crate) modified: i64,
    /// Its length in bytes.
    pub(crate) size: u64,
    /// When its content last changed, in seconds.
    pub(crate) changed: u32,
    /// The weighted count of its words.
    pub(crate) length: u32,
    /// What else there is to say, in bits.
    pub(crate) marks: Marks,
}

/// Facts about a memory, in bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Marks(pub(crate) u8);

impl Marks {
    pub(crate) const QUARANTINED: Self = Self(1);
    pub(crate) const TELLS_WHEN: Self = Self(2);
    /// No memory for the ranking (binary, unreadable), but known, so that it is not read again.
    pub(crate) const BLANK: Self = Self(4);

    pub(crate) fn has(self, mark: Self) -> bool {
        self.0 & mark.0 != 0
    }

    pub(crate) fn with(self, mark: Self, set: bool) -> Self {
        Self(if set { self.0 | mark.0 } else { self.0 })
    }
}

/// A segment is not what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the index is damaged or of another version")]
pub(crate) struct Damaged;

/// An index of some memories.
#[derive(Debug, Clone)]
pub(crate) struct Segment {
    bytes: Vec<u8>,
    layout: Layout,
}

impl Segment {
    /// An index of nothing.
    pub(crate) fn empty() -> Self {
        Builder::default().finish()
    }

    /// Takes bytes as they were written, and looks whether they still are.
    pub(crate) fn open(bytes: Vec<u8>) -> Result<Self, Damaged> {
        let layout = Layout::read(&bytes).ok_or(Damaged)?;
        Ok(Self { bytes, layout })
    }

    /// The bytes, to be written.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// What tells this segment from any other.
    pub(crate) fn id(&self) -> [u8; layout::CHECK] {
        self.layout.check
    }

    pub(crate) fn docs(&self) -> impl Iterator<Item = Doc> + use<> {
        (0..self.layout.docs).map(Doc)
    }

    pub(crate) fn doc_count(&self) -> u32 {
        self.layout.docs
    }

    pub(crate) fn term_count(&self) -> u32 {
        self.layout.terms
    }

    /// The sum of all lengths.
    pub(crate) fn total_length(&self) -> u64 {
        self.layout.total_length
    }

    fn section(&self, section: Section) -> &[u8] {
        self.bytes.get(self.layout.range(section)).unwrap_or_default()
    }

    /// The part of a blob that belongs to a row: from the end of the row before to its own.
    fn row(&self, ends: Section, blob: Section, row: u32) -> &[u8] {
        let ends = self.section(ends);
        let start = if row == 0 { Some(0) } else { number_at(ends, row - 1) };
        let range = start.zip(number_at(ends, row)).map(|(start, end)| to_range(start, end));
        range.and_then(|range| self.section(blob).get(range)).unwrap_or_default()
    }

    /// The lengths of all memories.
    pub(crate) fn lengths(&self) -> Lengths<'_> {
        Lengths(self.section(Section::Lengths))
    }

    /// The weighted length of a memory.
    pub(crate) fn length(&self, doc: Doc) -> u32 {
        self.lengths().of(doc)
    }

    pub(crate) fn marks(&self, doc: Doc) -> Marks {
        let marks = self.section(Section::Marks);
        Marks(usize::try_from(doc.0).ok().and_then(|at| marks.get(at)).copied().unwrap_or(0))
    }

    /// When a memory's content last changed, in seconds.
    pub(crate) fn changed(&self, doc: Doc) -> u32 {
        number_at(self.section(Section::Changed), doc.0).unwrap_or(0)
    }

    /// The file of a memory, relative to its directory.
    pub(crate) fn file(&self, doc: Doc) -> &str {
        let row = self.row(Section::FileEnds, Section::Files, doc.0);
        std::str::from_utf8(row).unwrap_or_default()
    }

    pub(crate) fn about(&self, doc: Doc) -> About {
        let stamp = |half: u32| {
            let stamps = self.section(Section::Stamps);
            let at = usize::try_from(doc.0 * 2 + half).ok()?.checked_mul(8)?;
            Some(u64::from_le_bytes(stamps.get(at..at + 8)?.try_into().ok()?))
        };
        About {
            modified: stamp(0).unwrap_or(0).cast_signed(),
            size: stamp(1).unwrap_or(0),
            changed: self.changed(doc),
            length: self.length(doc),
            marks: self.marks(doc),
        }
    }

    pub(crate) fn text(&self, term: Term) -> &str {
        let row = self.row(Section::TermEnds, Section::Terms, term.0);
        std::str::from_utf8(row).unwrap_or_default()
    }

    /// The first term that is not before this text.
    fn first_from(&self, text: &str) -> u32 {
        let (mut low, mut high) = (0, self.layout.terms);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.text(Term(middle)) < text {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// The term of this text.
    pub(crate) fn term(&self, text: &str) -> Option<Term> {
        let found = Term(self.first_from(text));
        (found.0 < self.layout.terms && self.text(found) == text).then_some(found)
    }

    /// The terms that begin with this text.
    pub(crate) fn beginning_with<'a>(
        &'a self,
        text: &'a str,
    ) -> impl Iterator<Item = (Term, &'a str)> {
        (self.first_from(text)..self.layout.terms)
            .map(|term| (Term(term), self.text(Term(term))))
            .take_while(move |(_, found)| found.starts_with(text))
    }

    /// In how many memories a term is.
    pub(crate) fn frequency(&self, term: Term) -> u32 {
        number_at(self.section(Section::Frequencies), term.0).unwrap_or(0)
    }

    /// The memories of a term, in order, each with the term's weighted count.
    pub(crate) fn postings(&self, term: Term) -> impl Iterator<Item = (Doc, u32)> + '_ {
        let mut rest = self.row(Section::PostingEnds, Section::Postings, term.0);
        let mut next = 0_u32;
        let docs = self.layout.docs;
        std::iter::from_fn(move || {
            let doc = next.checked_add(varint(&mut rest)?)?;
            next = doc.checked_add(1)?;
            (doc < docs).then_some((Doc(doc), varint(&mut rest)?))
        })
    }

    /// The first terms of a memory, each with its weighted count.
    pub(crate) fn first_terms(&self, doc: Doc) -> impl Iterator<Item = (Term, u32)> + '_ {
        let mut rest = self.row(Section::FirstEnds, Section::Firsts, doc.0);
        std::iter::from_fn(move || Some((Term(varint(&mut rest)?), varint(&mut rest)?)))
    }
}

/// Lengths, to be asked for often.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lengths<'a>(&'a [u8]);

impl Lengths<'_> {
    pub(crate) fn of(self, doc: Doc) -> u32 {
        number_at(self.0, doc.0).unwrap_or(0)
    }
}

fn to_range(start: u32, end: u32) -> Range<usize> {
    // A usize holds a u32 wherever there are files of this size.
    usize::try_from(start).unwrap_or(usize::MAX)..usize::try_from(end).unwrap_or(usize::MAX)
}

#[cfg(test)]
#[path = "segment_tests.rs"]
mod tests;
