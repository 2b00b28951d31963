//! Reading a message: its clauses, their terms and weights, and whether it asks for a time.

use std::collections::HashMap;

use crate::clause::{Clause, ClauseKind, split_clauses};
use crate::document::file_term;
use crate::words::{
    Commonness, MessageForm, MessageWording, TextPiece, Tokenizer, character_pairs,
    function_characters, is_unspaced, is_weak, kinds_of_work, pair_commonness, split_text,
    word_commonness, work_term,
};

/// A message, split into clauses of weighted terms.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct ParsedQuery {
    /// Each distinct term once.
    pub(crate) terms: Vec<QueryTerm>,
    pub(crate) clauses: Vec<QueryClause>,
    /// Whether it asks for a time; documents that mention one then score higher.
    pub(crate) asks_when: bool,
    pub(crate) form: MessageForm,
    /// What its words tell about whether any memory helps.
    pub(crate) wording: f64,
    /// Whether it is mostly written in a script without spaces.
    pub(crate) is_unspaced: bool,
}

/// A term of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryTerm {
    /// The folded word.
    pub(crate) word: String,
    pub(crate) term: String,
    pub(crate) kind: QueryTermKind,
    pub(crate) commonness: Commonness,
}

/// A clause of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct QueryClause {
    pub(crate) kind: ClauseKind,
    /// Number of its sentence in the message.
    pub(crate) sentence: usize,
    pub(crate) terms: Vec<ClauseTerm>,
}

/// A term in a clause.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ClauseTerm {
    /// Index into the terms of the query.
    pub(crate) index: usize,
    /// Weight by kind of word and number of occurrences.
    pub(crate) weight: f64,
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
    /// A kind of work.
    Work,
    /// A file that the conversation has open. It is in no clause: the user did not name it.
    File,
}

/// Weight of a part of an identifier.
const PART: f64 = 0.5;
/// Weight of a weak word.
const WEAK: f64 = 0.3;
/// Weight of a word of asking, if the message has other words.
const REQUEST: f64 = 0.3;
/// Weight of a kind of work.
const WORK: f64 = 0.5;
/// Factor for each function character in a pair.
const FUNCTION_CHARACTER: f64 = 0.6;
/// Further terms are ignored: a pasted log is not a query.
const LONGEST: usize = 256;

impl ParsedQuery {
    /// `files` are paths of files that the conversation has open.
    pub(crate) fn read(words: &Tokenizer, text: &str, files: &[String]) -> Self {
        let mut query = Self {
            asks_when: asks_when(text),
            form: MessageForm::read(words, text),
            wording: MessageWording::shipped().figure(words, text),
            is_unspaced: is_mostly_unspaced(text),
            ..Self::default()
        };
        let mut reader = TermReader { words, query: &mut query, indexes: HashMap::new() };
        for file in files {
            reader.index_of(file, &file_term(file), QueryTermKind::File);
        }
        // What was typed comes first: a long paste must not take the room of the question.
        let mut clauses = split_clauses(text);
        clauses.sort_by_key(|clause| clause.kind);
        for clause in clauses {
            reader.read_clause(clause);
        }
        query.clauses.retain(|clause| !clause.terms.is_empty());
        query.weaken_requests();
        query
    }

    /// Lowers the weight of words of asking, unless there are no others.
    fn weaken_requests(&mut self) {
        let is_request = |asked: &QueryTerm| {
            asked.commonness == Commonness::Request && asked.kind != QueryTermKind::Work
        };
        let is_typed = |asked: &&QueryTerm| asked.kind != QueryTermKind::File;
        if self.terms.iter().filter(is_typed).all(is_request) {
            return;
        }
        for used in self.clauses.iter_mut().flat_map(|clause| &mut clause.terms) {
            if self.terms.get(used.index).is_some_and(is_request) {
                used.weight *= REQUEST;
            }
        }
    }
}

struct TermReader<'a> {
    words: &'a Tokenizer,
    query: &'a mut ParsedQuery,
    /// Index of each term in the query.
    indexes: HashMap<String, usize>,
}

/// The weight of a term in a clause so far.
struct Counted {
    index: usize,
    weight: f64,
    times: f64,
}

impl TermReader<'_> {
    fn read_clause(&mut self, Clause { text, kind, sentence }: Clause<'_>) {
        let mut counted: Vec<Counted> = Vec::new();
        let words = self.words;
        split_text(text, |piece| match piece {
            TextPiece::Word { text, is_name } => {
                let kind = if is_name { QueryTermKind::Name } else { QueryTermKind::Word };
                let weight = if is_weak(text) { WEAK } else { 1.0 };
                self.count_word(&mut counted, text, kind, weight);
            }
            TextPiece::Part { text } => {
                self.count_word(&mut counted, text, QueryTermKind::Word, PART);
            }
            TextPiece::Run { text } if text.chars().nth(1).is_none() => {
                let weight = by_function(text);
                self.count(&mut counted, (text, text), QueryTermKind::Character, weight);
            }
            TextPiece::Run { text } => character_pairs(text, |pair| {
                let weight = by_function(pair);
                self.count(&mut counted, (pair, pair), QueryTermKind::Pair, weight);
            }),
        });
        self.weaken_characters(&mut counted);
        if kind == ClauseKind::Prose {
            for work in kinds_of_work(words, text) {
                self.count(&mut counted, (work, &work_term(work)), QueryTermKind::Work, WORK);
            }
        }
        let terms = counted
            .iter()
            .map(|it| ClauseTerm { index: it.index, weight: it.weight * it.times })
            .collect();
        self.query.clauses.push(QueryClause { kind, sentence, terms });
    }

    /// Lowers the weight of single characters if there are other terms, because they match many words.
    fn weaken_characters(&self, counted: &mut [Counted]) {
        let is_character = |it: &Counted| {
            let asked = self.query.terms.get(it.index);
            asked.is_some_and(|asked| asked.kind == QueryTermKind::Character)
        };
        if !counted.iter().all(is_character) {
            counted.iter_mut().filter(|it| is_character(it)).for_each(|it| it.weight *= WEAK);
        }
    }

    fn count_word(
        &mut self,
        counted: &mut Vec<Counted>,
        word: &str,
        kind: QueryTermKind,
        weight: f64,
    ) {
        if let Some(term) = self.words.term(word) {
            self.count(counted, (word, &term), kind, weight);
        }
    }

    fn count(
        &mut self,
        counted: &mut Vec<Counted>,
        (word, term): (&str, &str),
        kind: QueryTermKind,
        weight: f64,
    ) {
        let Some(index) = self.index_of(word, term, kind) else { return };
        match counted.iter_mut().find(|it| it.index == index) {
            Some(known) => {
                known.times += 1.0;
                known.weight = known.weight.max(weight);
            }
            None => counted.push(Counted { index, weight, times: 1.0 }),
        }
    }

    fn index_of(&mut self, word: &str, term: &str, kind: QueryTermKind) -> Option<usize> {
        if let Some(index) = self.indexes.get(term) {
            return Some(*index);
        }
        let index = self.query.terms.len();
        if index >= LONGEST {
            return None;
        }
        let commonness = match kind {
            QueryTermKind::Word | QueryTermKind::Name => word_commonness(term),
            QueryTermKind::Pair => pair_commonness(term),
            QueryTermKind::Character | QueryTermKind::Work | QueryTermKind::File => {
                Commonness::Common
            }
        };
        self.query.terms.push(QueryTerm {
            word: word.to_owned(),
            term: term.to_owned(),
            kind,
            commonness,
        });
        self.indexes.insert(term.to_owned(), index);
        Some(index)
    }
}

/// Weight of characters by the number of function characters.
fn by_function(run: &str) -> f64 {
    (0..function_characters(run)).fold(1.0, |weight, _| weight * FUNCTION_CHARACTER)
}

/// A character of these scripts says about as much as half a word of the others.
fn is_mostly_unspaced(text: &str) -> bool {
    let unspaced = text.chars().filter(|c| is_unspaced(*c)).count();
    let spaced = text
        .split_whitespace()
        .filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic()))
        .count();
    unspaced > spaced * 2
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

    /// Terms of the only clause, with weights.
    fn terms(text: &str) -> Vec<(String, QueryTermKind, f64)> {
        let query = ParsedQuery::read(&Tokenizer::new(), text, &[]);
        assert_eq!(query.clauses.len(), 1, "{text}");
        let of = |used: &ClauseTerm| {
            let asked = &query.terms[used.index];
            (asked.term.clone(), asked.kind, (used.weight * 100.0).round() / 100.0)
        };
        query.clauses[0].terms.iter().map(of).collect()
    }

    fn expected(terms: &[(&str, QueryTermKind, f64)]) -> Vec<(String, QueryTermKind, f64)> {
        terms.iter().map(|(term, kind, weight)| ((*term).to_owned(), *kind, *weight)).collect()
    }

    #[test]
    fn a_query_is_its_terms() {
        assert_eq!(
            terms("When did Maria bought the bike and bike?"),
            expected(&[
                ("maria", QueryTermKind::Name, 1.0),
                ("buy", QueryTermKind::Word, 1.0),
                ("bike", QueryTermKind::Word, 2.0)
            ])
        );
        let asks_when = |text| ParsedQuery::read(&Tokenizer::new(), text, &[]).asks_when;
        assert!(asks_when("When did Maria bought the bike?"));
        assert!(!asks_when("the day when it rained"));
    }

    #[test]
    fn pairs_and_single_characters() {
        assert_eq!(
            terms("猫, 数据的"),
            expected(&[
                ("猫", QueryTermKind::Character, 0.3),
                ("数据", QueryTermKind::Pair, 1.0),
                ("据的", QueryTermKind::Pair, 0.6)
            ])
        );
    }

    #[test]
    fn words_of_asking_weigh_little_unless_there_are_no_others() {
        assert_eq!(
            terms("please change the kettle"),
            expected(&[("chang", QueryTermKind::Word, 0.3), ("kettl", QueryTermKind::Word, 1.0)])
        );
        assert_eq!(terms("please change"), expected(&[("chang", QueryTermKind::Word, 1.0)]));
    }

    #[test]
    fn a_kind_of_work_is_a_term() {
        assert_eq!(
            terms("write specs"),
            expected(&[
                ("write", QueryTermKind::Word, 0.3),
                ("spec", QueryTermKind::Word, 1.0),
                ("#test", QueryTermKind::Work, 0.5)
            ])
        );
    }

    #[test]
    fn a_question_behind_a_long_paste_is_read() {
        let line =
            |at: usize| (0..20).map(|word| format!("x{at}y{word}")).collect::<Vec<_>>().join("; ");
        let paste = (0..30).map(|at| format!("  {}\n", line(at))).collect::<Vec<_>>().concat();
        let query =
            ParsedQuery::read(&Tokenizer::new(), &format!("{paste}why is the kettle cold?"), &[]);
        assert_eq!(query.terms.len(), LONGEST);
        assert!(query.terms.iter().any(|asked| asked.term == "kettl"), "{:?}", query.terms);
    }

    #[test]
    fn the_script_of_a_message_is_that_of_most_of_it() {
        let is_unspaced = |text| ParsedQuery::read(&Tokenizer::new(), text, &[]).is_unspaced;
        assert!(is_unspaced("BLE 新增一条命令，让手机能读到电池电压"));
        assert!(!is_unspaced("rename 数据 to data in the loader"));
    }
}
