//! Reading a segment.

use std::ops::Range;

use super::layout::{CHECK, SegmentLayout, SegmentSection, number_at, varint};

/// Number of a document in a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocId(pub u32);

/// Number of a term in a segment; terms are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TermId(pub u32);

/// Facts about a document besides its terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DocumentInfo {
    /// Modification time of the file, in nanoseconds since 1970.
    pub modified: i64,
    /// Size of the file in bytes.
    pub size: u64,
    /// Last change of the content, in seconds since 1970.
    pub changed: u32,
    /// Weighted number of its words.
    pub length: u32,
    /// Further facts.
    pub flags: DocumentFlags,
}

/// Facts about a document, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DocumentFlags(pub u8);

impl DocumentFlags {
    /// Hidden from models.
    pub const QUARANTINED: Self = Self(1);
    /// Whether the document has a date.
    pub const TELLS_WHEN: Self = Self(2);
    /// Not ranked (binary or unreadable), but indexed, so that the file is not read again.
    pub const BLANK: Self = Self(4);

    /// Whether a flag is set.
    pub fn has(self, flag: Self) -> bool {
        self.0 & flag.0 != 0
    }

    /// Sets a flag if `set`.
    #[must_use]
    pub fn with(self, flag: Self, set: bool) -> Self {
        Self(if set { self.0 | flag.0 } else { self.0 })
    }
}

/// The bytes of a segment are damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the index is damaged or of another version")]
pub struct DamagedSegment;

/// An index of some documents.
#[derive(Debug, Clone)]
pub struct Segment {
    bytes: Vec<u8>,
    layout: SegmentLayout,
}

impl Segment {
    /// Opens bytes that [`Segment::bytes`] returned, checking that they are unchanged.
    pub fn open(bytes: Vec<u8>) -> Result<Self, DamagedSegment> {
        let layout = SegmentLayout::read(&bytes).ok_or(DamagedSegment)?;
        Ok(Self { bytes, layout })
    }

    /// The bytes to write to disk.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Checksum that identifies this segment.
    pub fn id(&self) -> [u8; CHECK] {
        self.layout.check
    }

    /// All documents.
    pub fn docs(&self) -> impl Iterator<Item = DocId> + use<> {
        (0..self.layout.docs).map(DocId)
    }

    /// Number of documents.
    pub fn doc_count(&self) -> u32 {
        self.layout.docs
    }

    pub(crate) fn term_count(&self) -> u32 {
        self.layout.terms
    }

    /// Sum of the lengths of all documents.
    pub(crate) fn total_length(&self) -> u64 {
        self.layout.total_length
    }

    fn section(&self, section: SegmentSection) -> &[u8] {
        self.bytes.get(self.layout.range(section)).unwrap_or_default()
    }

    /// The bytes of a row in a blob: from the end of the preceding row to its own.
    fn row(&self, ends: SegmentSection, blob: SegmentSection, row: u32) -> &[u8] {
        let ends = self.section(ends);
        let start = if row == 0 { Some(0) } else { number_at(ends, row - 1) };
        let range = start.zip(number_at(ends, row)).map(|(start, end)| to_range(start, end));
        range.and_then(|range| self.section(blob).get(range)).unwrap_or_default()
    }

    pub(crate) fn lengths(&self) -> Lengths<'_> {
        Lengths(self.section(SegmentSection::Lengths))
    }

    pub(crate) fn length(&self, doc: DocId) -> u32 {
        self.lengths().of(doc)
    }

    /// The flags of a document.
    pub fn flags(&self, doc: DocId) -> DocumentFlags {
        let flags = self.section(SegmentSection::Flags);
        DocumentFlags(
            usize::try_from(doc.0).ok().and_then(|at| flags.get(at)).copied().unwrap_or(0),
        )
    }

    /// Last change of the content of a document, in seconds since 1970.
    pub(crate) fn changed(&self, doc: DocId) -> u32 {
        number_at(self.section(SegmentSection::Changed), doc.0).unwrap_or(0)
    }

    /// File of a document, relative to its directory.
    pub fn file(&self, doc: DocId) -> &str {
        let row = self.row(SegmentSection::FileEnds, SegmentSection::Files, doc.0);
        std::str::from_utf8(row).unwrap_or_default()
    }

    /// Everything known about a document besides its terms.
    pub fn info(&self, doc: DocId) -> DocumentInfo {
        let stamp = |half: u32| {
            let stamps = self.section(SegmentSection::Stamps);
            let at = usize::try_from(doc.0 * 2 + half).ok()?.checked_mul(8)?;
            Some(u64::from_le_bytes(stamps.get(at..at + 8)?.try_into().ok()?))
        };
        DocumentInfo {
            modified: stamp(0).unwrap_or(0).cast_signed(),
            size: stamp(1).unwrap_or(0),
            changed: self.changed(doc),
            length: self.length(doc),
            flags: self.flags(doc),
        }
    }

    pub(crate) fn text(&self, term: TermId) -> &str {
        let row = self.row(SegmentSection::TermEnds, SegmentSection::Terms, term.0);
        std::str::from_utf8(row).unwrap_or_default()
    }

    /// The first term that sorts at or after this text.
    fn first_from(&self, text: &str) -> u32 {
        let (mut low, mut high) = (0, self.layout.terms);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.text(TermId(middle)) < text {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Finds a term.
    pub(crate) fn term(&self, text: &str) -> Option<TermId> {
        let found = TermId(self.first_from(text));
        (found.0 < self.layout.terms && self.text(found) == text).then_some(found)
    }

    /// Terms with this prefix.
    pub(crate) fn with_prefix<'a>(
        &'a self,
        text: &'a str,
    ) -> impl Iterator<Item = (TermId, &'a str)> {
        (self.first_from(text)..self.layout.terms)
            .map(|term| (TermId(term), self.text(TermId(term))))
            .take_while(move |(_, found)| found.starts_with(text))
    }

    /// Number of documents with a term.
    pub(crate) fn frequency(&self, term: TermId) -> u32 {
        number_at(self.section(SegmentSection::Frequencies), term.0).unwrap_or(0)
    }

    /// Documents with a term, in order, each with the weighted count.
    pub(crate) fn postings(&self, term: TermId) -> impl Iterator<Item = (DocId, u32)> + '_ {
        let mut rest = self.row(SegmentSection::PostingEnds, SegmentSection::Postings, term.0);
        let mut next = 0_u32;
        let docs = self.layout.docs;
        std::iter::from_fn(move || {
            let doc = next.checked_add(varint(&mut rest)?)?;
            next = doc.checked_add(1)?;
            (doc < docs).then_some((DocId(doc), varint(&mut rest)?))
        })
    }

    /// First terms of a document, each with its weighted count.
    pub(crate) fn first_terms(&self, doc: DocId) -> impl Iterator<Item = (TermId, u32)> + '_ {
        let mut rest = self.row(SegmentSection::FirstEnds, SegmentSection::Firsts, doc.0);
        std::iter::from_fn(move || Some((TermId(varint(&mut rest)?), varint(&mut rest)?)))
    }
}

/// Document lengths, for fast repeated access.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Lengths<'a>(&'a [u8]);

impl Lengths<'_> {
    pub(crate) fn of(self, doc: DocId) -> u32 {
        number_at(self.0, doc.0).unwrap_or(0)
    }
}

fn to_range(start: u32, end: u32) -> Range<usize> {
    // A usize holds a u32 wherever there are files of this size.
    usize::try_from(start).unwrap_or(usize::MAX)..usize::try_from(end).unwrap_or(usize::MAX)
}
