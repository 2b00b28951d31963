//! The hash of a content that grows at its end, without reading all of it again.

use blake3::hazmat::{
    ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root,
};
use serde::{Deserialize, Serialize};

use super::content::ContentHash;

/// BLAKE3 hashes parts of this size, a power of two of its chunks, independently of each other.
pub(super) const PART: usize = 16 * 1024;

/// The hashed parts at the beginning of a content. Together with the bytes behind them they give the same hash as the whole
/// content does.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct GrowingHash {
    parts: u64,
    /// The hashes of whole subtrees, the largest first: one for each binary digit of the number of parts that is one.
    subtrees: Vec<ChainingValue>,
}

impl GrowingHash {
    /// Number of bytes in the hashed parts.
    pub(super) fn hashed(&self) -> u64 {
        self.parts * PART as u64
    }

    /// Whether it can be of a content with this length.
    pub(super) fn fits(&self, length: u64) -> bool {
        let rest = length.saturating_sub(self.hashed());
        self.subtrees.len() == self.parts.count_ones() as usize && (1..=PART as u64).contains(&rest)
    }

    /// Sum of its bytes.
    pub(super) fn sum(&self) -> u64 {
        self.subtrees.iter().flatten().map(|byte| u64::from(*byte)).sum()
    }

    /// Takes whole parts from the bytes behind the hashed ones; returns how many bytes it took. At least one byte is left,
    /// because the end of a content is hashed in another way.
    pub(super) fn take(&mut self, rest: &[u8]) -> usize {
        let whole = rest.len().saturating_sub(1) / PART;
        for part in rest.chunks(PART).take(whole) {
            let mut subtree = self.subtree(part);
            for _pair in 0..self.parts.trailing_ones() {
                // There is one for each of these digits.
                let Some(left) = self.subtrees.pop() else { break };
                subtree = merge_subtrees_non_root(&left, &subtree, Mode::Hash);
            }
            self.subtrees.push(subtree);
            self.parts += 1;
        }
        whole * PART
    }

    /// The hash of the content with these bytes behind the hashed ones: at least one, at most a part.
    pub(super) fn with_end(&self, end: &[u8]) -> ContentHash {
        let Some((first, others)) = self.subtrees.split_first() else {
            return ContentHash::of(end);
        };
        let right = others.iter().rfold(self.subtree(end), |right, left| {
            merge_subtrees_non_root(left, &right, Mode::Hash)
        });
        ContentHash::from_hash(merge_subtrees_root(first, &right, Mode::Hash))
    }

    fn subtree(&self, bytes: &[u8]) -> ChainingValue {
        let mut hasher = blake3::Hasher::new();
        hasher.set_input_offset(self.hashed()).update(bytes);
        hasher.finalize_non_root()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(length: usize, first: usize) -> Vec<u8> {
        (0..=250).cycle().skip(first).take(length).collect()
    }

    #[test]
    fn it_is_the_hash_of_the_whole_at_every_length_around_a_part() {
        let content = bytes(20 * PART, 0);
        for parts in 1..20 {
            for length in [parts * PART - 1, parts * PART, parts * PART + 1, parts * PART + 1025] {
                let content = &content[..length];
                let mut hash = GrowingHash::default();
                let taken = hash.take(content);
                assert_eq!(taken as u64, hash.hashed());
                assert_eq!(hash.with_end(&content[taken..]), ContentHash::of(content), "{length}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn it_grows_as_the_content_does(additions in prop::collection::vec(1..60_000_usize, 1..8)) {
            let mut hash = GrowingHash::default();
            let mut content = Vec::new();
            for (number, addition) in additions.into_iter().enumerate() {
                content.extend(bytes(addition, number));
                let from = usize::try_from(hash.hashed()).unwrap();
                let taken = hash.take(&content[from..]);
                prop_assert_eq!(hash.with_end(&content[from + taken..]), ContentHash::of(&content));
                let text = serde_json::to_string(&hash).unwrap();
                prop_assert_eq!(&serde_json::from_str::<GrowingHash>(&text).unwrap(), &hash);
            }
        }
    }
}
