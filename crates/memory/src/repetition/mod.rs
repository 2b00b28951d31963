//! Whether a text says what another already says (B-26): in other words, in another order, in the other of two
//! languages.
//!
//! A text becomes claims: sentences of things, each thing known by numbers that are the same for all words for it,
//! English or Chinese (`glossary.txt`), and for all ways to write a date (`moments`). Names, numbers and dates are
//! the same in every language. What is proposed is already said if everything in it is: another number, name,
//! date or opposite, a `not` more or less, or a thing more, and it is new.
//!
//! *Invariants:* plain functions of text, no I/O. When in doubt a text is new: a memory too many is found by
//! `doctor`, one that was never written is lost.

mod chinese;
mod cover;
mod glossary;
mod items;
mod marks;
mod moments;
mod read;
mod tokens;
mod tuning;

use items::{Id, Sentence};

/// What a text says, made ready to be compared.
#[derive(Debug, Clone, Default)]
pub struct Claims {
    sentences: Vec<Sentence>,
    /// Everything that is spoken of, sorted.
    all: Vec<Id>,
}

impl Claims {
    /// Reads a text: a sentence, a memory with its description, or a whole instruction file.
    pub fn of(text: &str) -> Self {
        let sentences = read::sentences(text);
        let said = sentences.iter().flat_map(Sentence::ids);
        let mut all: Vec<Id> = said.collect();
        all.sort_unstable();
        all.dedup();
        Self { sentences, all }
    }

    /// Whether it says nothing that could be known or new.
    pub fn is_empty(&self) -> bool {
        !self.sentences.iter().any(Sentence::has_content)
    }
}

/// The known text that already says what is proposed, by its place; none if anything in it is new.
///
/// Each sentence is to be found in one known text as a whole: words from here and there are no statement. Several
/// known texts may together say all sentences; then the one that says most of them is named, the first of equals.
pub fn find_repeated<'k>(
    proposed: &Claims,
    known: impl IntoIterator<Item = &'k Claims>,
) -> Option<usize> {
    let sentences: Vec<&Sentence> =
        proposed.sentences.iter().filter(|sentence| sentence.has_content()).collect();
    let mut is_said = vec![false; sentences.len()];
    let mut most = None;
    for (place, claims) in known.into_iter().enumerate() {
        let mut count = 0_usize;
        for (sentence, is_said) in sentences.iter().zip(&mut is_said) {
            if cover::says(claims, sentence) {
                count += 1;
                *is_said = true;
            }
        }
        if count > most.map_or(0, |(_, count)| count) {
            most = Some((place, count));
        }
    }
    most.filter(|_| is_said.iter().all(|is_said| *is_said)).map(|(place, _)| place)
}

#[cfg(test)]
#[path = "repetition_tests.rs"]
mod tests;
