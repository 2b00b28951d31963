//! Numbers in a piece of bytes: little-endian, and never past its end.

/// The number in a row of a column of them.
pub(super) fn number<const WIDTH: usize>(column: &[u8], row: usize) -> Option<[u8; WIDTH]> {
    let at = row.checked_mul(WIDTH)?;
    column.get(at..at.checked_add(WIDTH)?)?.try_into().ok()
}

/// Takes pieces off the front of bytes.
pub(super) struct Front<'a>(pub(super) &'a [u8]);

impl Front<'_> {
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

/// A length as it is written. Nothing here comes near 4 GB; what did would be refused when it is read.
pub(super) fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
