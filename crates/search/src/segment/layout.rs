//! Byte layout of a segment, and number encoding.
//!
//! Head (magic, version, counts), the lengths of the sections, the sections, a checksum of all that. Numbers
//! are little-endian; in lists they are variable-length, seven bits a byte, the lowest first.

use std::ops::Range;

const MAGIC: &[u8; 8] = b"DORMRANK";
/// Increased with every change of the layout or of the word splitter.
const VERSION: u32 = 4;
/// The length of the checksum.
pub(super) const CHECK: usize = 32;
const SECTIONS: usize = 13;
const HEAD: usize = 8 + 4 + 4 + 4 + 8 + SECTIONS * 4;

/// A section of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum SegmentSection {
    Lengths,
    Changed,
    Flags,
    Stamps,
    FileEnds,
    Files,
    TermEnds,
    Terms,
    Frequencies,
    PostingEnds,
    Postings,
    FirstEnds,
    Firsts,
}

/// The parsed header.
#[derive(Debug, Clone)]
pub(super) struct SegmentLayout {
    pub(super) docs: u32,
    pub(super) terms: u32,
    pub(super) total_length: u64,
    pub(super) check: [u8; CHECK],
    ends: [usize; SECTIONS],
}

impl SegmentLayout {
    /// Reads the head; none if anything is not as it was written.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let body = bytes.get(..bytes.len().checked_sub(CHECK)?)?;
        let check: [u8; CHECK] = bytes.get(body.len()..)?.try_into().ok()?;
        if blake3::hash(body).as_bytes() != &check || bytes.get(..8)? != MAGIC {
            return None;
        }
        let numbers = body.get(8..HEAD)?;
        let number = |at: u32| number_at(numbers, at);
        if number(0)? != VERSION {
            return None;
        }
        let total_length = u64::from(number(3)?) | u64::from(number(4)?) << 32;
        let mut ends = [0; SECTIONS];
        let mut end = HEAD;
        for (place, at) in ends.iter_mut().zip(5..) {
            end = end.checked_add(usize::try_from(number(at)?).ok()?)?;
            *place = end;
        }
        let layout = Self { docs: number(1)?, terms: number(2)?, total_length, check, ends };
        (end == body.len() && layout.columns_fit()).then_some(layout)
    }

    fn columns_fit(&self) -> bool {
        use SegmentSection as S;
        let has = |section, rows: u32, width: usize| {
            let length = usize::try_from(rows).ok().and_then(|rows| rows.checked_mul(width));
            length == Some(self.range(section).len())
        };
        [S::Lengths, S::Changed, S::FileEnds, S::FirstEnds].iter().all(|s| has(*s, self.docs, 4))
            && [S::TermEnds, S::Frequencies, S::PostingEnds].iter().all(|s| has(*s, self.terms, 4))
            && has(S::Flags, self.docs, 1)
            && has(S::Stamps, self.docs, 16)
    }

    pub(super) fn range(&self, section: SegmentSection) -> Range<usize> {
        let at = section as usize;
        let start = at.checked_sub(1).and_then(|before| self.ends.get(before));
        let end = self.ends.get(at).copied().unwrap_or(HEAD);
        start.copied().unwrap_or(HEAD)..end
    }
}

/// Puts a segment together.
pub(super) fn assemble(
    docs: u32,
    terms: u32,
    total_length: u64,
    sections: &[Vec<u8>; SECTIONS],
) -> Vec<u8> {
    let size: usize = sections.iter().map(Vec::len).sum();
    let mut bytes = Vec::with_capacity(HEAD + size + CHECK);
    bytes.extend_from_slice(MAGIC);
    for number in [VERSION, docs, terms] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    bytes.extend_from_slice(&total_length.to_le_bytes());
    for section in sections {
        bytes.extend_from_slice(&length_of(section).to_le_bytes());
    }
    for section in sections {
        bytes.extend_from_slice(section);
    }
    let check = blake3::hash(&bytes);
    bytes.extend_from_slice(check.as_bytes());
    bytes
}

/// The length of a section. Memories are far from filling 4 GB; one that did would be refused when opened.
pub(super) fn length_of(section: &[u8]) -> u32 {
    u32::try_from(section.len()).unwrap_or(u32::MAX)
}

/// The number in a row of a column.
#[inline]
pub(super) fn number_at(column: &[u8], row: u32) -> Option<u32> {
    let at = usize::try_from(row).ok()?.checked_mul(4)?;
    Some(u32::from_le_bytes(column.get(at..at + 4)?.try_into().ok()?))
}

/// Takes a number off the front.
#[inline]
pub(super) fn varint(rest: &mut &[u8]) -> Option<u32> {
    let mut number = 0_u32;
    for shift in [0, 7, 14, 21, 28] {
        let (first, others) = rest.split_first()?;
        *rest = others;
        number |= u32::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Adds a number at the end.
pub(super) fn put_varint(bytes: &mut Vec<u8>, mut number: u32) {
    loop {
        let low = u8::try_from(number & 0x7f).unwrap_or(0);
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}
