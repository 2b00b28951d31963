//! Contents of files as the history keeps them, and their hashes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Hash of a content.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentHash(String);

impl ContentHash {
    /// The hash of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self::from_hash(blake3::hash(bytes))
    }

    pub(super) fn from_hash(hash: blake3::Hash) -> Self {
        Self(hash.to_hex().chars().take(32).collect())
    }

    /// The hash as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The content of a file in JSON: as text if it is text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum StoredContent {
    Text(String),
    Hex(String),
}

impl StoredContent {
    pub(super) fn of(bytes: &[u8]) -> Self {
        Self::from(bytes.to_owned())
    }

    pub(super) fn length(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Hex(hex) => hex.len() / 2,
        }
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Hex(hex) => hex
                .as_bytes()
                .chunks(2)
                .filter_map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok())
                .collect(),
        }
    }
}

impl From<Vec<u8>> for StoredContent {
    fn from(bytes: Vec<u8>) -> Self {
        let hex = |bytes: &[u8]| {
            bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"))
        };
        String::from_utf8(bytes).map_or_else(|odd| Self::Hex(hex(odd.as_bytes())), Self::Text)
    }
}

/// The difference between two texts: one range of bytes replaced by another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Splice {
    pub(super) at: usize,
    pub(super) removed: String,
    pub(super) inserted: String,
}

impl Splice {
    pub(super) fn between(old: &str, new: &str) -> Self {
        let (from, to) = (old.as_bytes(), new.as_bytes());
        let common = common_start(from, to);
        let start = new.floor_char_boundary(old.floor_char_boundary(common));
        let room = old.len().min(new.len()) - start;
        let tail = common_end(from, to).min(room);
        let old_end = old.ceil_char_boundary(old.len() - tail);
        let new_end = new.ceil_char_boundary(new.len() - tail);
        // The tails are equal byte for byte, so both ends move by the same amount.
        let part = |text: &str, end: usize| text.get(start..end).unwrap_or_default().to_owned();
        Self { at: start, removed: part(old, old_end), inserted: part(new, new_end) }
    }

    pub(super) fn apply(&self, old: &str) -> Option<String> {
        replace(old, self.at, &self.removed, &self.inserted)
    }

    /// What was there before a text was added at the end, if all of it or its first part is there now.
    pub(super) fn before_addition<'a>(&self, now: &'a [u8]) -> Option<&'a [u8]> {
        let (head, tail) = now.split_at_checked(self.at)?;
        let is_ours = self.removed.is_empty() && self.inserted.as_bytes().starts_with(tail);
        is_ours.then_some(head)
    }

    pub(super) fn revert(&self, new: &str) -> Option<String> {
        replace(new, self.at, &self.inserted, &self.removed)
    }
}

/// Long texts are compared block by block, which is much faster than byte by byte.
const BLOCK: usize = 1024;

fn common_start(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks_exact(BLOCK).zip(other.chunks_exact(BLOCK));
    let same = blocks.take_while(|(a, b)| a == b).count() * BLOCK;
    let rest = one.iter().zip(other).skip(same);
    same + rest.take_while(|(a, b)| a == b).count()
}

fn common_end(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.rchunks_exact(BLOCK).zip(other.rchunks_exact(BLOCK));
    let same = blocks.take_while(|(a, b)| a == b).count() * BLOCK;
    let rest = one.iter().rev().zip(other.iter().rev()).skip(same);
    same + rest.take_while(|(a, b)| a == b).count()
}

fn replace(text: &str, at: usize, from: &str, to: &str) -> Option<String> {
    let (head, rest) = text.split_at_checked(at)?;
    let tail = rest.strip_prefix(from)?;
    Some(format!("{head}{to}{tail}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_splice_leads_there_and_back(old in "[aé长\n]{0,12}", new in "[aé长\n]{0,12}") {
            let splice = Splice::between(&old, &new);
            prop_assert_eq!(splice.apply(&old), Some(new.clone()));
            prop_assert_eq!(splice.revert(&new), Some(old));
        }

        #[test]
        fn a_long_one_is_as_short_as_can_be(at in 0..5_000_usize, length in 0..3_000_usize) {
            let old = "a".repeat(5_000);
            let new = format!("{}{}{}", "a".repeat(at), "b".repeat(length), "a".repeat(5_000 - at));
            let splice = Splice::between(&old, &new);
            prop_assert_eq!((splice.removed.as_str(), splice.inserted.len()), ("", length));
            prop_assert_eq!(splice.apply(&old), Some(new));
        }

        #[test]
        fn any_bytes_are_kept(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            let text = serde_json::to_string(&StoredContent::of(&bytes)).unwrap();
            let content: StoredContent = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(content.bytes(), bytes);
        }
    }
}
