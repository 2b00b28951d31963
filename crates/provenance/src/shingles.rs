//! Runs of words that are no coincidence where two texts share them.

use std::collections::{BTreeMap, HashSet};

use crate::words::{WordSequence, is_unspaced_script};

/// A shared run of this many words is no coincidence.
const WORDS: usize = 5;
/// The same for a run of characters of scripts without spaces alone.
const CHARACTERS: usize = 7;
/// Shorter texts and clauses occur everywhere.
const LEAST_WORDS: usize = 2;
const LEAST_WORDS_OF_CLAUSE: usize = 3;

/// The runs of a text that are long enough to tell where it comes from, by their length in words. A short text is one run.
#[derive(Debug, Default)]
pub(crate) struct TellingRuns(BTreeMap<usize, HashSet<String>>);

impl TellingRuns {
    /// Those of a text as a whole, and of each of its clauses: a short one is a run of its own.
    pub(crate) fn of(text: &str) -> Self {
        let mut runs = Self::default();
        runs.add(&WordSequence::of(text), LEAST_WORDS);
        let ends = ['\n', '.', '!', '?', ':', ';', '。', '！', '？', '：', '；'];
        for clause in text.split(ends) {
            runs.add(&WordSequence::of(clause), LEAST_WORDS_OF_CLAUSE);
        }
        runs
    }

    fn add(&mut self, words: &WordSequence, least: usize) {
        let count = words.count();
        if count < least {
            return;
        }
        let is_unspaced =
            |run: &&str| run.chars().all(|c| !c.is_alphanumeric() || is_unspaced_script(c));
        let (spaced, unspaced) = (WORDS.min(count), CHARACTERS.min(count));
        let of_words = words.shingles(spaced).filter(|run| !is_unspaced(run)).map(str::to_owned);
        self.0.entry(spaced).or_default().extend(of_words);
        let of_characters = words.shingles(unspaced).filter(is_unspaced).map(str::to_owned);
        self.0.entry(unspaced).or_default().extend(of_characters);
    }

    /// Removes the runs that a source has.
    pub(crate) fn remove_those_in(&mut self, source: &WordSequence) {
        for (length, runs) in self.0.iter_mut().filter(|(_, runs)| !runs.is_empty()) {
            for run in source.shingles(*length) {
                runs.remove(run);
            }
        }
    }

    /// Whether a source has one of them.
    pub(crate) fn are_in(&self, source: &WordSequence) -> bool {
        let left = self.0.iter().filter(|(_, runs)| !runs.is_empty());
        left.into_iter()
            .any(|(length, runs)| source.shingles(*length).any(|run| runs.contains(run)))
    }
}
