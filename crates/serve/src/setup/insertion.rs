//! A text that is added to a configuration file.

/// A text and its position in the file, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Insertion {
    pub(super) at: usize,
    pub(super) text: String,
}

impl Insertion {
    /// The insertion that makes `after` of `before`; `None` if the texts differ in another way.
    pub(super) fn between(before: &str, after: &str) -> Option<Self> {
        let same = before.char_indices().zip(after.chars()).find(|((_, a), b)| a != b);
        let at = same.map_or(before.len(), |((at, _), _)| at);
        let (_, rest) = before.split_at_checked(at)?;
        let text = after.get(at..)?.strip_suffix(rest)?;
        Some(Self { at, text: text.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_insertions_are_found() {
        let between = |before, after| Insertion::between(before, after).map(|found| found.text);
        assert_eq!(between("ac", "abc").as_deref(), Some("b"));
        assert_eq!(between("", "abc").as_deref(), Some("abc"));
        assert_eq!(between("äb", "äbö").as_deref(), Some("ö"));
        assert_eq!(between("aa", "aaa").as_deref(), Some("a"));
        assert_eq!(between("ac", "bc"), None);
        assert_eq!(between("abc", "ac"), None);
    }
}
