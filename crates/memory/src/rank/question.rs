//! What is asked: the terms of a question, how much each counts, and whether it asks for a time.

use super::words::{Piece, Words, function_characters, is_weak, pairs, pieces};

/// A question, read.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Question {
    pub(crate) asked: Vec<Asked>,
    /// Whether the answer is a time: then a memory that tells one is the likelier answer.
    pub(crate) asks_when: bool,
}

/// A term that is asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Asked {
    /// As it was typed, folded.
    pub(crate) word: String,
    pub(crate) term: String,
    pub(crate) kind: AskedKind,
    /// How much it counts, by what kind of word it is.
    pub(crate) weight: f64,
    /// How often it was said.
    pub(crate) times: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AskedKind {
    /// A word of a spaced script.
    Word,
    /// A name of somebody or something.
    Name,
    /// A pair of characters.
    Pair,
    /// One character by itself: whatever begins with it.
    Character,
}

/// A part of an identifier, beside the whole.
const PART: f64 = 0.5;
/// A word that says little.
const WEAK: f64 = 0.3;
/// A pair, for each character that only holds a sentence together.
const FUNCTION_CHARACTER: f64 = 0.6;
/// A longer question is read up to here: a pasted log is no question.
const LONGEST: usize = 256;

impl Question {
    pub(crate) fn read(words: &Words, text: &str) -> Self {
        let mut question = Self { asks_when: asks_when(text), ..Self::default() };
        pieces(text, |piece| match piece {
            Piece::Word { text, is_name } => {
                let kind = if is_name { AskedKind::Name } else { AskedKind::Word };
                question.word(words, text, kind, if is_weak(text) { WEAK } else { 1.0 });
            }
            Piece::Part { text } => question.word(words, text, AskedKind::Word, PART),
            Piece::Run { text } if text.chars().nth(1).is_none() => {
                question.add(text, text, AskedKind::Character, by_function(text));
            }
            Piece::Run { text } => pairs(text, |pair| {
                question.add(pair, pair, AskedKind::Pair, by_function(pair));
            }),
        });
        question.weaken_characters();
        question
    }

    /// A character by itself begins many words: beside others it says little.
    fn weaken_characters(&mut self) {
        let is_character = |asked: &Asked| asked.kind == AskedKind::Character;
        if !self.asked.iter().all(is_character) {
            for asked in self.asked.iter_mut().filter(|asked| is_character(asked)) {
                asked.weight *= WEAK;
            }
        }
    }

    fn word(&mut self, words: &Words, word: &str, kind: AskedKind, weight: f64) {
        if let Some(term) = words.term(word) {
            self.add(word, &term, kind, weight);
        }
    }

    fn add(&mut self, word: &str, term: &str, kind: AskedKind, weight: f64) {
        if let Some(known) = self.asked.iter_mut().find(|asked| asked.term == term) {
            known.times += 1.0;
            known.weight = known.weight.max(weight);
        } else if self.asked.len() < LONGEST {
            let (word, term) = (word.to_owned(), term.to_owned());
            self.asked.push(Asked { word, term, kind, weight, times: 1.0 });
        }
    }
}

/// What says little about a text counts for little.
fn by_function(run: &str) -> f64 {
    (0..function_characters(run)).fold(1.0, |weight, _| weight * FUNCTION_CHARACTER)
}

fn asks_when(text: &str) -> bool {
    let lower = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    match (words.next(), words.next()) {
        (Some("when"), _)
        | (Some("how"), Some("long"))
        | (Some("what" | "which"), Some("day" | "date" | "month" | "year")) => true,
        _ => ["什么时候", "哪天", "多久"].iter().any(|phrase| lower.contains(phrase)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_its_terms() {
        let question = Question::read(&Words::new(), "When did Maria bought the bike and bike?");
        let asked: Vec<_> =
            question.asked.iter().map(|a| (a.term.as_str(), a.kind, a.times)).collect();
        assert_eq!(
            asked,
            [
                ("maria", AskedKind::Name, 1.0),
                ("buy", AskedKind::Word, 1.0),
                ("bike", AskedKind::Word, 2.0)
            ]
        );
        assert!(question.asks_when);
        assert!(!Question::read(&Words::new(), "the day when it rained").asks_when);
    }

    #[test]
    fn pairs_and_single_characters() {
        let question = Question::read(&Words::new(), "猫, 数据的");
        let asked: Vec<_> =
            question.asked.iter().map(|a| (a.term.as_str(), a.kind, a.weight)).collect();
        assert_eq!(
            asked,
            [
                ("猫", AskedKind::Character, 0.3),
                ("数据", AskedKind::Pair, 1.0),
                ("据的", AskedKind::Pair, 0.6)
            ]
        );
    }
}
