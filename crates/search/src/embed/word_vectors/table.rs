//! Prepared word vectors: header, start of the keys of each prefix, sorted keys, vectors.
//!
//! A key is a hash of a word. A vector is a factor and one byte per number. Only the header, which has its own
//! checksum, is held in memory; a file of another length than the header says is not opened.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::source::WordFileStamp;
use crate::embed::bytes::{ByteReader, number};
use crate::embed::embedder::ModelFingerprint;
use crate::embed::vector::add_scaled;

pub(super) const MAGIC: &[u8; 8] = b"DORMWORD";
pub(super) const VERSION: u32 = 1;
const CHECK: usize = 32;
const HEAD: usize = 8 + 4 + 4 + 4 + 8 + 8 + 32 + CHECK;
/// Number of key prefixes plus one: start of each, and end of the last.
pub(super) const STARTS: usize = (1 << 16) + 1;

/// The header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TableHead {
    pub(super) words: u32,
    pub(super) dimension: u32,
    pub(super) source: WordFileStamp,
    pub(super) fingerprint: ModelFingerprint,
}

impl TableHead {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for number in [VERSION, self.words, self.dimension] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for number in [self.source.size, self.source.modified] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&self.fingerprint.0);
        let check = blake3::hash(&bytes);
        bytes.extend_from_slice(check.as_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let (body, check) = bytes.split_at_checked(HEAD - CHECK)?;
        let mut front = ByteReader(body);
        if check != blake3::hash(body).as_bytes()
            || front.array::<8>()? != *MAGIC
            || front.number()? != VERSION
        {
            return None;
        }
        let (words, dimension) = (front.number()?, front.number()?);
        let source = WordFileStamp { size: front.long()?, modified: front.long()? };
        let fingerprint = ModelFingerprint(front.array()?);
        Some(Self { words, dimension, source, fingerprint })
    }

    fn row_length(&self) -> u64 {
        4 + u64::from(self.dimension)
    }

    fn keys_at() -> u64 {
        (HEAD + STARTS * 4) as u64
    }

    fn rows_at(&self) -> u64 {
        Self::keys_at() + u64::from(self.words) * 8
    }

    fn file_length(&self) -> u64 {
        self.rows_at() + u64::from(self.words) * self.row_length()
    }
}

/// The hash of a word.
pub(super) fn key(word: &str) -> u64 {
    let hash = blake3::hash(word.as_bytes());
    number::<8>(hash.as_bytes(), 0).map_or(0, u64::from_be_bytes)
}

/// The prefix of a key that is looked up first.
pub(super) fn prefix(key: u64) -> u64 {
    key >> 48
}

/// An open file of prepared word vectors.
pub(super) struct WordTable {
    file: File,
    head: TableHead,
}

impl WordTable {
    /// Opens a prepared file; `None` if it is from another source or incomplete.
    pub(super) fn open(file: File, source: WordFileStamp) -> Option<Self> {
        let mut bytes = [0; HEAD];
        file.read_exact_at(&mut bytes, 0).ok()?;
        let head = TableHead::decode(&bytes)?;
        let is_whole = file.metadata().ok()?.len() == head.file_length();
        (is_whole && head.source == source).then_some(Self { file, head })
    }

    pub(super) fn fingerprint(&self) -> ModelFingerprint {
        self.head.fingerprint
    }

    pub(super) fn dimension(&self) -> usize {
        usize::try_from(self.head.dimension).unwrap_or(0)
    }

    /// Adds the vector of a word; `false` if there is none.
    pub(super) fn add(&self, word: &str, sum: &mut [f32]) -> bool {
        let Some(row) = self.find(key(word)) else { return false };
        let mut bytes = vec![0; sum.len() + 4];
        let at = self.head.rows_at() + u64::from(row) * self.head.row_length();
        if self.file.read_exact_at(&mut bytes, at).is_err() {
            return false;
        }
        let Some((factor, steps)) = bytes.split_first_chunk::<4>() else { return false };
        let factor = f32::from_le_bytes(*factor);
        add_scaled(sum, steps, factor);
        factor.is_finite()
    }

    /// The row of a key.
    fn find(&self, key: u64) -> Option<u32> {
        let mut starts = [0; 8];
        let at = HEAD as u64 + prefix(key) * 4;
        self.file.read_exact_at(&mut starts, at).ok()?;
        let start = u32::from_le_bytes(number::<4>(&starts, 0)?);
        let end = u32::from_le_bytes(number::<4>(&starts, 1)?);
        let count = usize::try_from(end.checked_sub(start)?).ok()?;
        if end > self.head.words {
            return None;
        }
        let mut keys = vec![0; count.checked_mul(8)?];
        self.file.read_exact_at(&mut keys, TableHead::keys_at() + u64::from(start) * 8).ok()?;
        let place = (0..count).find(|row| number::<8>(&keys, *row) == Some(key.to_le_bytes()))?;
        start.checked_add(u32::try_from(place).ok()?)
    }
}
