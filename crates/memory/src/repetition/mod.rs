//! Whether a text only repeats known texts (B-26) or contradicts one, even in other words, another order, or the other of two languages.
//!
//! A text is read as claims: sentences made of items, each with ids that are the same for all synonyms, English or
//! Chinese (`glossary.txt`), and for all ways to write a date (`moments`). Names, numbers and dates are the same in
//! every language. A proposed text is a repetition if all of it is known: a different number, name, date or opposite, a
//! negation more or less, or an additional item makes it new.
//!
//! *Invariants:* pure functions of text, no I/O. In doubt a text is new: a superfluous memory is found by `doctor`, one
//! that was never written is lost.

mod chinese;
mod claims;
mod cover;
mod glossary;
mod items;
mod known_texts;
mod marks;
mod moments;
mod numbers;
mod read;
mod relation;
mod tokens;
mod tuning;

pub use claims::Claims;
use items::Sentence;
pub use known_texts::KnownTexts;
pub use relation::TextRelation;

/// The position of the known text that the proposed one repeats; `None` if anything in it is new.
///
/// Each sentence must be contained in one known text: words scattered over several are no statement. Several known
/// texts may contain all sentences together; the result is then the one with most of them, the first of equals.
pub fn find_repeated<'k>(
    proposed: &Claims,
    known: impl IntoIterator<Item = &'k Claims>,
) -> Option<usize> {
    let sentences: Vec<&Sentence> =
        proposed.sentences.iter().filter(|sentence| sentence.has_content()).collect();
    let mut is_known = vec![false; sentences.len()];
    let mut most = None;
    for (position, claims) in known.into_iter().enumerate() {
        let mut count = 0_usize;
        for (sentence, is_known) in sentences.iter().zip(&mut is_known) {
            if cover::contains(claims, sentence) {
                count += 1;
                *is_known = true;
            }
        }
        if count > most.map_or(0, |(_, count)| count) {
            most = Some((position, count));
        }
    }
    most.filter(|_| is_known.iter().all(|is_known| *is_known)).map(|(position, _)| position)
}

#[cfg(test)]
#[path = "repetition_tests.rs"]
mod tests;
