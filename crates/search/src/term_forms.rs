//! The forms of a query term that documents may have: itself, words of its family, related words, and, for an unknown
//! word, corrections of typing errors.

use crate::query::{QueryTerm, QueryTermKind};
use crate::view::IndexView;
use crate::words::{Tokenizer, related};

/// How a term of a document matches a term of the query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchKind {
    /// The term itself.
    Same,
    /// A longer or shorter word of the same family: `mentor`, `mentorship`.
    Family,
    /// A synonym or abbreviation.
    Related,
    /// One letter is different: a typing error.
    Typo,
    /// The same kind of work: `specs` and `tests`.
    Work,
    /// A file that the conversation has open.
    File,
    /// Not in the query, but common among the best documents.
    Company,
}

impl MatchKind {
    /// Weight relative to the term itself.
    pub(crate) fn factor(self) -> f64 {
        match self {
            // `score` weights expansion terms individually.
            Self::Same | Self::Work | Self::File | Self::Company => 1.0,
            Self::Family => 0.7,
            Self::Related => 0.5,
            Self::Typo => 0.6,
        }
    }

    /// The kind with this name in output.
    pub fn named(name: &str) -> Option<Self> {
        let all = [
            Self::Same,
            Self::Family,
            Self::Related,
            Self::Typo,
            Self::Work,
            Self::File,
            Self::Company,
        ];
        all.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Name in output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Family => "family",
            Self::Related => "related",
            Self::Typo => "typo",
            Self::Work => "work",
            Self::File => "file",
            Self::Company => "company",
        }
    }
}

/// A term that documents have for a query term.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TermForm {
    pub(crate) term: String,
    pub(crate) kind: MatchKind,
    pub(crate) factor: f64,
    /// Number of documents with it; at least one.
    pub(crate) frequency: u32,
}

impl TermForm {
    /// How much of the query term it covers. A corrected typing error finds documents, but adds no confidence.
    pub(crate) fn cover(&self) -> f64 {
        if self.kind == MatchKind::Typo { 0.0 } else { self.factor }
    }
}

/// Shortest stem with a family, in letters.
const FAMILY_STEM: usize = 5;
/// Maximum difference in length within a family.
const FAMILY_ENDING: usize = 5;
/// Shortest word that is corrected.
const TYPO_WORD: usize = 5;
/// Maximum number of terms with one prefix.
const MOST: usize = 300;

/// How many words of a query may still be corrected: each costs a few hundred lookups.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TypoBudget(u32);

impl TypoBudget {
    pub(crate) const ALL: Self = Self(4);

    fn take(&mut self) -> bool {
        let left = self.0.checked_sub(1);
        self.0 = left.unwrap_or(0);
        left.is_some()
    }
}

/// The forms of a query term that some document has; the term itself first.
pub(crate) fn forms_of(
    view: &IndexView,
    words: &Tokenizer,
    asked: &QueryTerm,
    typos: &mut TypoBudget,
) -> Vec<TermForm> {
    let mut forms = FormSearch { view, found: Vec::new() };
    match asked.kind {
        QueryTermKind::Pair => {
            forms.add(&asked.term, MatchKind::Same);
            forms.add_related(&asked.term);
        }
        QueryTermKind::Work => forms.add(&asked.term, MatchKind::Work),
        QueryTermKind::File => forms.add(&asked.term, MatchKind::File),
        QueryTermKind::Character => {
            for term in view.with_prefix(&asked.term, MOST) {
                forms.add(&term, MatchKind::Same);
            }
        }
        QueryTermKind::Word | QueryTermKind::Name => {
            forms.add(&asked.term, MatchKind::Same);
            forms.add_family(&asked.term);
            forms.add_related(&asked.term);
            if forms.found.is_empty() && typos.take() {
                forms.add_corrections(words, &asked.word);
            }
        }
    }
    forms.found
}

struct FormSearch<'a> {
    view: &'a IndexView,
    found: Vec<TermForm>,
}

impl FormSearch<'_> {
    fn add(&mut self, term: &str, kind: MatchKind) {
        if self.found.iter().any(|form| form.term == term) {
            return;
        }
        let frequency = self.view.frequency(term);
        if frequency > 0 {
            let factor = kind.factor();
            self.found.push(TermForm { term: term.to_owned(), kind, factor, frequency });
        }
    }

    fn add_related(&mut self, term: &str) {
        for term in related(term) {
            self.add(term, MatchKind::Related);
        }
    }

    fn add_family(&mut self, term: &str) {
        if !is_plain(term) || term.len() < FAMILY_STEM {
            return;
        }
        for shorter in (FAMILY_STEM.max(term.len() - FAMILY_ENDING)..term.len()).rev() {
            self.add(term.get(..shorter).unwrap_or_default(), MatchKind::Family);
        }
        for longer in self.view.with_prefix(term, MOST) {
            if longer.len() <= term.len() + FAMILY_ENDING && is_plain(&longer) {
                self.add(&longer, MatchKind::Family);
            }
        }
    }

    /// Adds all words with one letter inserted, removed, replaced or swapped.
    fn add_corrections(&mut self, words: &Tokenizer, word: &str) {
        if !is_plain(word) || word.len() < TYPO_WORD {
            return;
        }
        let letters: Vec<char> = word.chars().collect();
        for candidate in one_letter_off(&letters) {
            self.add(&words.stem(&candidate), MatchKind::Typo);
        }
    }
}

fn one_letter_off(letters: &[char]) -> Vec<String> {
    let word = |head: &[char], middle: &[char], tail: &[char]| -> String {
        head.iter().chain(middle).chain(tail).collect()
    };
    let mut words = Vec::new();
    // The first letter is nearly always right.
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

/// Only lower-case ASCII letters, which the rules above are for.
fn is_plain(term: &str) -> bool {
    term.bytes().all(|byte| byte.is_ascii_lowercase())
}
