//! Whether one text quotes another: a file name, a name, or eight words in a row.

use std::collections::HashSet;

use dormouse_search::is_unspaced;

/// Length of a quotation in words. A character of a script without spaces is half a word.
const RUN: usize = 2 * 8;

/// A text as folded words, each with its weight.
pub(super) struct Quotable {
    text: String,
    words: Vec<(String, usize)>,
}

impl Quotable {
    pub(super) fn of(text: &str) -> Self {
        let text = text.to_lowercase();
        let mut words: Vec<(String, usize)> = Vec::new();
        let mut open = false;
        for c in text.chars() {
            if is_unspaced(c) && c.is_alphanumeric() {
                words.push((c.to_string(), 1));
                open = false;
            } else if !c.is_alphanumeric() {
                open = false;
            } else if let Some((word, _)) = words.last_mut().filter(|_| open) {
                word.push(c);
            } else {
                words.push((c.to_string(), 2));
                open = true;
            }
        }
        Self { text, words }
    }

    /// Whether it contains the name of a file, alone or at the end of a path.
    pub(super) fn has_file(&self, file: &str) -> bool {
        let file = file.to_lowercase();
        let inside = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
        self.text.match_indices(&file).any(|(at, _)| {
            let before = self.text.get(..at).and_then(|text| text.chars().next_back());
            let mut after = self.text.get(at + file.len()..).unwrap_or_default().chars();
            let follows = after.next().filter(|c| *c != '.').or_else(|| after.next());
            !before.is_some_and(inside) && !follows.is_some_and(char::is_alphanumeric)
        })
    }

    /// Whether both texts contain the same run of words.
    pub(super) fn shares_a_run(&self, other: &Self) -> bool {
        let runs: HashSet<String> = other.runs().collect();
        !runs.is_empty() && self.runs().any(|run| runs.contains(&run))
    }

    /// The shortest sufficient run from each word on.
    fn runs(&self) -> impl Iterator<Item = String> {
        (0..self.words.len()).filter_map(|start| {
            let mut weight = 0;
            let mut run = String::new();
            for (word, of_word) in self.words.iter().skip(start) {
                weight += of_word;
                run.push_str(word);
                run.push(' ');
                if weight >= RUN {
                    return Some(run);
                }
            }
            None
        })
    }
}

/// Whether a text contains all words of a name in a row.
pub(super) fn says_words(text: &Quotable, name: &str) -> bool {
    let name = Quotable::of(name).words;
    !name.is_empty() && text.words.windows(name.len()).any(|words| words == name)
}
