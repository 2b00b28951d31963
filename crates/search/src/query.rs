//! Reading a query: its terms, their weights, and whether it asks for a time.

use crate::words::{
    TextPiece, Tokenizer, character_pairs, function_characters, is_weak, split_text,
};

/// A query, split into weighted terms.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ParsedQuery {
    pub(crate) terms: Vec<QueryTerm>,
    /// Whether it asks for a time; documents that mention one then score higher.
    pub(crate) asks_when: bool,
}

/// A term of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryTerm {
    /// The folded word.
    pub(crate) word: String,
    pub(crate) term: String,
    pub(crate) kind: QueryTermKind,
    /// Weight by kind of word.
    pub(crate) weight: f64,
    /// Number of occurrences.
    pub(crate) times: f64,
}

/// How a query term is matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QueryTermKind {
    /// A word of a script with spaces.
    Word,
    /// A proper name.
    Name,
    /// A pair of characters of a script without spaces.
    Pair,
    /// A single character: matches every term that begins with it.
    Character,
}

/// Weight of a part of an identifier.
const PART: f64 = 0.5;
/// Weight of a weak word.
const WEAK: f64 = 0.3;
/// Factor for each function character in a pair.
const FUNCTION_CHARACTER: f64 = 0.6;
/// Further terms are ignored: a pasted log is not a query.
const LONGEST: usize = 256;

impl ParsedQuery {
    pub(crate) fn read(words: &Tokenizer, text: &str) -> Self {
        let mut query = Self { asks_when: asks_when(text), ..Self::default() };
        split_text(text, |piece| match piece {
            TextPiece::Word { text, is_name } => {
                let kind = if is_name { QueryTermKind::Name } else { QueryTermKind::Word };
                query.add_word(words, text, kind, if is_weak(text) { WEAK } else { 1.0 });
            }
            TextPiece::Part { text } => query.add_word(words, text, QueryTermKind::Word, PART),
            TextPiece::Run { text } if text.chars().nth(1).is_none() => {
                query.add(text, text, QueryTermKind::Character, by_function(text));
            }
            TextPiece::Run { text } => character_pairs(text, |pair| {
                query.add(pair, pair, QueryTermKind::Pair, by_function(pair));
            }),
        });
        query.weaken_characters();
        query
    }

    /// Lowers the weight of single characters if there are other terms, because they match many words.
    fn weaken_characters(&mut self) {
        let is_character = |asked: &QueryTerm| asked.kind == QueryTermKind::Character;
        if !self.terms.iter().all(is_character) {
            for asked in self.terms.iter_mut().filter(|asked| is_character(asked)) {
                asked.weight *= WEAK;
            }
        }
    }

    fn add_word(&mut self, words: &Tokenizer, word: &str, kind: QueryTermKind, weight: f64) {
        if let Some(term) = words.term(word) {
            self.add(word, &term, kind, weight);
        }
    }

    fn add(&mut self, word: &str, term: &str, kind: QueryTermKind, weight: f64) {
        if let Some(known) = self.terms.iter_mut().find(|asked| asked.term == term) {
            known.times += 1.0;
            known.weight = known.weight.max(weight);
        } else if self.terms.len() < LONGEST {
            self.terms.push(QueryTerm {
                word: word.to_owned(),
                term: term.to_owned(),
                kind,
                weight,
                times: 1.0,
            });
        }
    }
}

/// Weight of characters by the number of function characters.
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
    fn a_query_is_its_terms() {
        let query =
            ParsedQuery::read(&Tokenizer::new(), "When did Maria bought the bike and bike?");
        let asked: Vec<_> =
            query.terms.iter().map(|a| (a.term.as_str(), a.kind, a.times)).collect();
        assert_eq!(
            asked,
            [
                ("maria", QueryTermKind::Name, 1.0),
                ("buy", QueryTermKind::Word, 1.0),
                ("bike", QueryTermKind::Word, 2.0)
            ]
        );
        assert!(query.asks_when);
        assert!(!ParsedQuery::read(&Tokenizer::new(), "the day when it rained").asks_when);
    }

    #[test]
    fn pairs_and_single_characters() {
        let query = ParsedQuery::read(&Tokenizer::new(), "猫, 数据的");
        let asked: Vec<_> =
            query.terms.iter().map(|a| (a.term.as_str(), a.kind, a.weight)).collect();
        assert_eq!(
            asked,
            [
                ("猫", QueryTermKind::Character, 0.3),
                ("数据", QueryTermKind::Pair, 1.0),
                ("据的", QueryTermKind::Pair, 0.6)
            ]
        );
    }
}
