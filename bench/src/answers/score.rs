//! How much of a known answer is in another.

use std::collections::BTreeMap;

/// Words that say nothing.
const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// The harmonic mean of the shares of words that both answers have; characters count as words in scripts without spaces.
pub(super) fn word_f1(known: &str, given: &str) -> f64 {
    let (known, given) = (words(known), words(given));
    let count = |words: &BTreeMap<String, u32>| f64::from(words.values().sum::<u32>());
    let common: u32 = known
        .iter()
        .map(|(word, times)| given.get(word).map_or(0, |others| *times.min(others)))
        .sum();
    if common == 0 {
        return 0.0;
    }
    2.0 * f64::from(common) / (count(&known) + count(&given))
}

fn words(text: &str) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    let lower = text.to_lowercase();
    for run in lower.split(|c: char| !c.is_alphanumeric()) {
        let mut word = String::new();
        for c in run.chars() {
            if matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}') {
                count(&mut counts, std::mem::take(&mut word));
                count(&mut counts, c.to_string());
            } else {
                word.push(c);
            }
        }
        count(&mut counts, word);
    }
    counts
}

fn count(counts: &mut BTreeMap<String, u32>, word: String) {
    if !word.is_empty() && !ARTICLES.contains(&word.as_str()) {
        *counts.entry(word).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_words_count_from_both_sides() {
        let percent = |known, given| format!("{:.0}", 100.0 * word_f1(known, given));
        assert_eq!(percent("The red kettle", "a red kettle."), "100");
        assert_eq!(percent("red", "red blue green"), "50");
        assert_eq!(percent("red", "blue"), "0");
        assert_eq!(percent("", "blue"), "0");
        assert_eq!(percent("四月", "四月 8 日"), "67");
    }
}
