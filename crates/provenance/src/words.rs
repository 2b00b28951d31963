//! The one way in which texts are split into words to be compared.

use crate::normal_form::normal_form;

/// Stands before, between and after words.
const SEPARATOR: char = '\u{1}';

/// A text as its words, in lower case. Letters and digits in a row are a word; each character of a script that is
/// written without spaces is a word of its own. Punctuation and white space are dropped, so a quotation is found
/// whatever stands between its words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WordSequence(String);

impl WordSequence {
    /// Splits a text.
    pub fn of(text: &str) -> Self {
        let mut words = String::with_capacity(text.len() + 2);
        words.push(SEPARATOR);
        for c in normal_form(text).chars() {
            let alone = is_unspaced_script(c);
            if alone || !c.is_alphanumeric() {
                separate(&mut words);
            }
            if c.is_alphanumeric() {
                words.push(c);
            }
            if alone {
                words.push(SEPARATOR);
            }
        }
        separate(&mut words);
        Self(words)
    }

    /// Whether all of `other`'s words occur in a row. Every sequence contains the empty one.
    pub fn contains(&self, other: &Self) -> bool {
        self.0.contains(&other.0)
    }

    /// How many words there are.
    pub fn count(&self) -> usize {
        self.iter().count()
    }

    /// The length of the words in characters, with one for each gap between them.
    pub fn char_count(&self) -> usize {
        self.0.chars().count().saturating_sub(2)
    }

    /// The words, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split(SEPARATOR).filter(|word| !word.is_empty())
    }

    /// All runs of `length` words.
    pub fn shingles(&self, length: usize) -> impl Iterator<Item = &str> {
        let separators: Vec<usize> = self.0.match_indices(SEPARATOR).map(|(at, _)| at).collect();
        let ends: Vec<usize> = separators.iter().skip(length).copied().collect();
        separators.into_iter().zip(ends).filter_map(|(start, end)| self.0.get(start..=end))
    }
}

fn separate(words: &mut String) {
    if !words.ends_with(SEPARATOR) {
        words.push(SEPARATOR);
    }
}

/// Han, kana and hangul.
pub(crate) fn is_unspaced_script(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{20000}'..='\u{3ffff}')
        && c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, quote: &str, expected: bool) {
        let contains = WordSequence::of(text).contains(&WordSequence::of(quote));
        assert_eq!(contains, expected, "{text} / {quote}");
    }

    #[test]
    fn a_quotation_is_found_by_its_words() {
        check("Please use “tabs”,\n  not spaces!", "use tabs, not spaces", true);
        check("Never **mock** the\n database! ", "never mock the database", true);
        check("Please use tabs", "se tab", false);
        check("我们用pnpm装依赖", "用 pnpm 装", true);
        check("我们用pnpm装依赖", "用npm装", false);
        check("a b c", "a c", false);
        assert_eq!(WordSequence::of("我们用pnpm-9").count(), 5);
        assert_eq!(WordSequence::of(" use  tabs.").char_count(), 8);
    }

    #[test]
    fn shingles_are_runs_of_words() {
        let words = WordSequence::of("a b c d");
        assert_eq!(words.shingles(3).count(), 2);
        assert_eq!(words.shingles(5).count(), 0);
        let words = WordSequence::of("one two three");
        let runs: Vec<&str> = words.shingles(2).collect();
        assert_eq!(runs, ["\u{1}one\u{1}two\u{1}", "\u{1}two\u{1}three\u{1}"]);
    }
}
