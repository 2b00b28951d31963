//! Texts as the words in them, so that a quotation is found whatever stands between its words.

/// Stands between two words.
const GAP: char = '\u{1}';

/// A text as its words, in lower case: letters and digits of an alphabet in a row, each character of a script
/// without spaces for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Words(String);

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let mut words = String::with_capacity(text.len() + 2);
        words.push(GAP);
        for c in text.chars() {
            if c.is_alphanumeric() {
                if stands_alone(c) && !words.ends_with(GAP) {
                    words.push(GAP);
                }
                words.extend(c.to_lowercase());
                if stands_alone(c) {
                    words.push(GAP);
                }
            } else if !words.ends_with(GAP) {
                words.push(GAP);
            }
        }
        if !words.ends_with(GAP) {
            words.push(GAP);
        }
        Self(words)
    }

    /// Whether these words stand in it, in a row.
    pub(super) fn contains(&self, other: &Self) -> bool {
        self.0.contains(&other.0)
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.iter().count()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.split(GAP).filter(|word| !word.is_empty())
    }

    /// Every run of so many words, as words.
    pub(super) fn runs(&self, length: usize) -> Vec<Self> {
        let words: Vec<&str> = self.iter().collect();
        let whole = |run: &[&str]| {
            let gap = GAP.to_string();
            Self(format!("{gap}{}{gap}", run.join(&gap)))
        };
        words.windows(length).map(whole).collect()
    }
}

/// Scripts that are written without spaces.
fn stands_alone(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{ac00}'..='\u{d7af}'
        | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, quote: &str, expected: bool) {
        assert_eq!(Words::of(text).contains(&Words::of(quote)), expected, "{text} / {quote}");
    }

    #[test]
    fn a_quotation_is_found_by_its_words() {
        check("Please use “tabs”,\n  not spaces!", "use tabs, not spaces", true);
        check("Please use tabs", "se tab", false);
        check("我们用pnpm装依赖", "用 pnpm 装", true);
        check("我们用pnpm装依赖", "用npm装", false);
        check("a b c", "a c", false);
        assert_eq!(Words::of("我们用pnpm-9").count(), 5);
        assert_eq!(Words::of("a b c d").runs(3).len(), 2);
    }
}
