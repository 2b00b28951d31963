//! The forms in which a term that is asked for may stand in memories: itself, its family, related words, and,
//! for a word that no memory has, what it may have been meant to be.

use super::question::{Asked, AskedKind};
use super::view::View;
use super::words::{Words, related};

/// How a form fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fit {
    /// The term itself.
    Same,
    /// A longer or shorter word of the same family: `mentor`, `mentorship`.
    Family,
    /// A word for the same thing.
    Related,
    /// One letter is different: a typing error.
    Typo,
    /// It was not asked for; the best memories have it.
    Company,
}

impl Fit {
    /// What a match counts, beside one of the term itself.
    pub(super) fn factor(self) -> f64 {
        match self {
            // The ranking weighs each term of a company by itself.
            Self::Same | Self::Company => 1.0,
            Self::Family => 0.7,
            Self::Related => 0.3,
            Self::Typo => 0.6,
        }
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Family => "family",
            Self::Related => "related",
            Self::Typo => "typo",
            Self::Company => "company",
        }
    }
}

/// A term that may stand for another.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Form {
    pub(crate) term: String,
    pub(crate) fit: Fit,
    pub(crate) factor: f64,
    /// In how many memories it is; at least one.
    pub(crate) frequency: u32,
}

impl Form {
    /// How much of the term it covers. What may have been meant is a guess: it finds, but makes nobody sure.
    pub(crate) fn cover(&self) -> f64 {
        if self.fit == Fit::Typo { 0.0 } else { self.factor }
    }
}

/// The shortest stem that has a family, in letters.
const FAMILY_STEM: usize = 5;
/// The most letters by which words of a family differ.
const FAMILY_ENDING: usize = 5;
/// The shortest word that may be mistyped.
const TYPO_WORD: usize = 5;
/// The most terms that begin alike.
const MOST: usize = 300;

/// How many words of a question may still be taken for mistyped: each takes a few hundred looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Typos(u32);

impl Typos {
    pub(crate) const ALL: Self = Self(4);

    fn take(&mut self) -> bool {
        let left = self.0.checked_sub(1);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// The forms of a term that some memory has; the term itself first.
pub(crate) fn forms(view: &View, words: &Words, asked: &Asked, typos: &mut Typos) -> Vec<Form> {
    let mut forms = Forms { view, found: Vec::new() };
    match asked.kind {
        AskedKind::Pair => forms.add(&asked.term, Fit::Same),
        AskedKind::Character => {
            for term in view.beginning_with(&asked.term, MOST) {
                forms.add(&term, Fit::Same);
            }
        }
        AskedKind::Word | AskedKind::Name => {
            forms.add(&asked.term, Fit::Same);
            forms.family(&asked.term);
            for term in related(&asked.term) {
                forms.add(term, Fit::Related);
            }
            if forms.found.is_empty() && typos.take() {
                forms.typos(words, &asked.word);
            }
        }
    }
    forms.found
}

struct Forms<'a> {
    view: &'a View,
    found: Vec<Form>,
}

impl Forms<'_> {
    fn add(&mut self, term: &str, fit: Fit) {
        if self.found.iter().any(|form| form.term == term) {
            return;
        }
        let frequency = self.view.frequency(term);
        if frequency > 0 {
            let (term, factor) = (term.to_owned(), fit.factor());
            self.found.push(Form { term, fit, factor, frequency });
        }
    }

    fn family(&mut self, term: &str) {
        if !is_plain(term) || term.len() < FAMILY_STEM {
            return;
        }
        for shorter in (FAMILY_STEM.max(term.len() - FAMILY_ENDING)..term.len()).rev() {
            self.add(term.get(..shorter).unwrap_or_default(), Fit::Family);
        }
        for longer in self.view.beginning_with(term, MOST) {
            if longer.len() <= term.len() + FAMILY_ENDING && is_plain(&longer) {
                self.add(&longer, Fit::Family);
            }
        }
    }

    /// All words with one letter more, less, other, or in the other order.
    fn typos(&mut self, words: &Words, word: &str) {
        if !is_plain(word) || word.len() < TYPO_WORD {
            return;
        }
        let letters: Vec<char> = word.chars().collect();
        for candidate in one_letter_off(&letters) {
            self.add(&words.stem(&candidate), Fit::Typo);
        }
    }
}

fn one_letter_off(letters: &[char]) -> Vec<String> {
    let word = |head: &[char], middle: &[char], tail: &[char]| -> String {
        head.iter().chain(middle).chain(tail).collect()
    };
    let mut words = Vec::new();
    // The first letter is right nearly always.
    for at in 1..=letters.len() {
        let (head, tail) = letters.split_at(at);
        let without = tail.get(1..).unwrap_or_default();
        if let [first, second, rest @ ..] = tail {
            words.push(word(head, &[*second, *first], rest));
        }
        if !tail.is_empty() {
            words.push(word(head, &[], without));
        }
        for c in 'a'..='z' {
            words.push(word(head, &[c], tail));
            if tail.first().is_some_and(|first| *first != c) {
                words.push(word(head, &[c], without));
            }
        }
    }
    words
}

/// Letters of the English alphabet only: for these the rules above are made.
fn is_plain(term: &str) -> bool {
    term.bytes().all(|byte| byte.is_ascii_lowercase())
}
