//! Contents of files as the history keeps them, and their hashes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Names a content: two files with one hash have one content.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContentHash(String);

impl ContentHash {
    /// The hash of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        let hex = blake3::hash(bytes).to_hex();
        Self(hex.chars().take(32).collect())
    }

    /// As text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The bytes of a file in a line of JSON: text where they are text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Content {
    Text(String),
    Hex(String),
}

impl Content {
    pub(super) fn of(bytes: &[u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::Text(text.to_owned()),
            Err(_) => Self::Hex(
                bytes.iter().fold(String::new(), |hex, byte| hex + &format!("{byte:02x}")),
            ),
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

/// The difference between two texts: one run of bytes in the place of another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Splice {
    pub(super) at: usize,
    pub(super) removed: String,
    pub(super) inserted: String,
}

impl Splice {
    pub(super) fn between(old: &str, new: &str) -> Self {
        let (from, to) = (old.as_bytes(), new.as_bytes());
        let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
        let start = new.floor_char_boundary(old.floor_char_boundary(common));
        let room = old.len().min(new.len()) - start;
        let tail =
            from.iter().rev().zip(to.iter().rev()).take_while(|(a, b)| a == b).count().min(room);
        let old_end = old.ceil_char_boundary(old.len() - tail);
        let new_end = new.ceil_char_boundary(new.len() - tail);
        // The tails are equal byte for byte, so both ends moved alike.
        let part = |text: &str, end: usize| text.get(start..end).unwrap_or_default().to_owned();
        Self { at: start, removed: part(old, old_end), inserted: part(new, new_end) }
    }

    pub(super) fn apply(&self, old: &str) -> Option<String> {
        replace(old, self.at, &self.removed, &self.inserted)
    }

    pub(super) fn revert(&self, new: &str) -> Option<String> {
        replace(new, self.at, &self.inserted, &self.removed)
    }
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
        fn any_bytes_are_kept(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            let text = serde_json::to_string(&Content::of(&bytes)).unwrap();
            let content: Content = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(content.bytes(), bytes);
        }
    }
}
