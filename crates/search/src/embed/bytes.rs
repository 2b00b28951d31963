//! Bounds-checked little-endian numbers in a byte array.

/// The number in a row of a column.
pub(super) fn number<const WIDTH: usize>(column: &[u8], row: usize) -> Option<[u8; WIDTH]> {
    let at = row.checked_mul(WIDTH)?;
    column.get(at..at.checked_add(WIDTH)?)?.try_into().ok()
}

/// Reads numbers from the front of a byte array.
pub(super) struct ByteReader<'a>(pub(super) &'a [u8]);

impl ByteReader<'_> {
    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    pub(super) fn number(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn long(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

/// A length as stored. Lengths never come near 4 GB; one that did would be refused when read.
pub(super) fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
