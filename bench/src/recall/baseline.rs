//! What the ranking is measured against; written for this, and sharing nothing with it.

use std::collections::HashMap;

use rust_stemmers::{Algorithm, Stemmer};

use super::data::Collection;
use super::quality::Ranked;

const K1: f64 = 1.2;
const B: f64 = 0.75;

/// How text is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tokens {
    /// At white space, in lower case.
    Plain,
    /// Snowball stems without stop words; pairs of characters for Chinese, Japanese and Korean.
    Stemmed,
}

const STOP: &str = "a about above after again against all am an and any are as at be because been before being \
    below between both but by can cannot could did do does doing down during each few for from further had has \
    have having he her here hers herself him himself his how i if in into is it its itself just me more most my \
    myself no nor not of off on once only or other our ours ourselves out over own same she should so some such \
    than that the their theirs them themselves then there these they this those through to too under until up \
    very was we were what when where which while who whom why will with would you your yours yourself \
    yourselves s t d ll m re ve don";

impl Tokens {
    fn of(self, text: &str) -> Vec<String> {
        let text = text.to_lowercase();
        match self {
            Self::Plain => text.split_whitespace().map(str::to_owned).collect(),
            Self::Stemmed => stemmed(&text),
        }
    }
}

fn stemmed(text: &str) -> Vec<String> {
    let stemmer = Stemmer::create(Algorithm::English);
    let mut tokens = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric()) {
        let letters: Vec<char> = word.chars().collect();
        for run in letters.chunk_by(|a, b| is_cjk(*a) == is_cjk(*b)) {
            let word: String = run.iter().collect();
            if !run.iter().any(|c| is_cjk(*c)) {
                if !STOP.split_whitespace().any(|stop| stop == word) {
                    tokens.push(stemmer.stem(&word).into_owned());
                }
            } else if run.len() == 1 {
                tokens.push(word);
            } else {
                tokens.extend(run.windows(2).map(|pair| pair.iter().collect::<String>()));
            }
        }
    }
    tokens
}

fn is_cjk(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}

/// BM25 as in the books. Documents without any word of the question follow in their own order.
pub(crate) struct Bm25 {
    tokens: Tokens,
    postings: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
    average: f64,
}

impl Bm25 {
    pub(crate) fn new(collection: &Collection, tokens: Tokens) -> Self {
        let mut postings: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        let mut lengths = Vec::new();
        for (number, document) in collection.documents.iter().enumerate() {
            let mut length = 0.0;
            let mut counts: HashMap<String, f64> = HashMap::new();
            for token in tokens.of(&document.all_text()) {
                *counts.entry(token).or_default() += 1.0;
                length += 1.0;
            }
            lengths.push(length);
            for (token, count) in counts {
                postings.entry(token).or_default().push((number, count));
            }
        }
        let average =
            lengths.iter().sum::<f64>() / super::quality::ratio(lengths.len(), 1).max(1.0);
        Self { tokens, postings, lengths, average }
    }

    pub(crate) fn ranked(&self, question: &str) -> Ranked {
        let mut scores = vec![0.0; self.lengths.len()];
        let all = super::quality::ratio(self.lengths.len(), 1);
        for token in self.tokens.of(question) {
            let Some(postings) = self.postings.get(&token) else { continue };
            let frequency = super::quality::ratio(postings.len(), 1);
            let rarity = (1.0 + (all - frequency + 0.5) / (frequency + 0.5)).ln();
            for (number, count) in postings {
                let length = self.lengths.get(*number).copied().unwrap_or(0.0);
                let norm = K1 * (1.0 - B + B * length / self.average);
                if let Some(score) = scores.get_mut(*number) {
                    *score += rarity * count * (K1 + 1.0) / (count + norm);
                }
            }
        }
        in_order(&scores)
    }
}

/// The sum over the question's words of what `grep -ic WORD FILE` would print.
pub(crate) struct GrepBaseline {
    texts: Vec<String>,
}

impl GrepBaseline {
    pub(crate) fn new(collection: &Collection) -> Self {
        Self { texts: collection.documents.iter().map(|d| d.all_text().to_lowercase()).collect() }
    }

    pub(crate) fn ranked(&self, question: &str) -> Ranked {
        let question = question.to_lowercase();
        let words: Vec<&str> = question
            .split_whitespace()
            .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()))
            .filter(|word| !word.is_empty())
            .collect();
        let count = |text: &String| {
            let lines = words.iter().map(|word| text.lines().filter(|l| l.contains(word)).count());
            super::quality::ratio(lines.sum(), 1)
        };
        in_order(&self.texts.iter().map(count).collect::<Vec<f64>>())
    }
}

/// The highest first, equals in their own order.
fn in_order(scores: &[f64]) -> Ranked {
    let mut numbers: Vec<usize> = (0..scores.len()).collect();
    let score = |number: &usize| scores.get(*number).copied().unwrap_or(0.0);
    numbers.sort_by(|a, b| score(b).total_cmp(&score(a)));
    Ranked(numbers)
}
