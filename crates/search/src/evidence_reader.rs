//! Reads the evidence for documents from the matches of a ranking.

use std::collections::BTreeSet;

use crate::clause::ClauseKind;
use crate::evidence::{Evidence, MessageEvidence};
use crate::message_sums::by_share;
use crate::query::{ParsedQuery, QueryClause, QueryTerm, QueryTermKind};
use crate::score::ScoreResult;
use crate::term_forms::{MatchKind, TermForm};
use crate::term_matches::{Rarity, TermMatches};
use crate::view::{IndexView, ViewDocId};
use crate::words::Commonness;

/// Added to scores before the logarithm.
const SMALL: f64 = 0.1;
/// Weight of an unknown name: the message is about something else.
const UNKNOWN_NAME: f64 = 2.0;

/// A form that covers this much of a word is that word or one of its family.
const MATCHED: f64 = 0.7;

/// A term of the query that a document has.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    cover: f64,
    gain: f64,
    /// Rarity of the form that it has.
    rarity: f64,
}

/// Figures of documents for one message.
pub(crate) struct EvidenceReader<'a> {
    query: &'a ParsedQuery,
    scores: &'a ScoreResult,
    /// Rarity of an unknown word.
    most: f64,
    /// For each of the best documents, its terms of the query.
    found: Vec<Vec<Found>>,
    message: MessageEvidence,
}

impl<'a> EvidenceReader<'a> {
    pub(crate) fn new(view: &IndexView, query: &'a ParsedQuery, scores: &'a ScoreResult) -> Self {
        let ranks = DocRanks::new(view, scores);
        let mut found = vec![vec![Found::default(); query.terms.len()]; scores.best.len()];
        for (index, of_term) in scores.matches.iter().enumerate() {
            for hit in &of_term.hits {
                let Some(form) = of_term.form(hit) else { continue };
                let of_doc = ranks.of(hit.doc).and_then(|rank| found.get_mut(rank));
                if let Some(slot) = of_doc.and_then(|of_doc| of_doc.get_mut(index)) {
                    let rarity = scores.rarity.of(&form.term, form.frequency);
                    *slot = Found { cover: form.cover(), gain: hit.gain, rarity };
                }
            }
        }
        Self { query, scores, most: Rarity::most(), found, message: message_evidence(query) }
    }

    /// The figures of the document at a rank of the ranking by words.
    pub(crate) fn at(&self, rank: usize) -> Evidence {
        let found = self.found.get(rank).map(Vec::as_slice).unwrap_or_default();
        let score = self.scores.best.get(rank).map_or(0.0, |scored| scored.score);
        Evidence {
            coverage: self.best_clause(found).map_or(0.0, |clause| self.coverage(clause, found)),
            strength: self.strength(score * (1.0 - self.file_share(rank))),
            matched: self.matched(found),
            missing_names: self.missing_names(found),
            files: self.files_of(found),
            ..self.without_words()
        }
    }

    /// The figures of a document that has no word of the message.
    pub(crate) fn without_words(&self) -> Evidence {
        Evidence { strength: self.strength(0.0), message: self.message, ..Evidence::default() }
    }

    /// Share of a document's matches that are open files, which are evidence of their own.
    pub(crate) fn file_share(&self, rank: usize) -> f64 {
        let found = self.found.get(rank).map(Vec::as_slice).unwrap_or_default();
        let (mut files, mut all) = (0.0, 0.0);
        for (asked, found) in self.query.terms.iter().zip(found) {
            files += if asked.kind == QueryTermKind::File { found.gain } else { 0.0 };
            all += found.gain;
        }
        if all > 0.0 { files / all } else { 0.0 }
    }

    fn strength(&self, score: f64) -> f64 {
        (score / self.most + SMALL).ln()
    }

    /// The clause that the document scores highest for.
    fn best_clause(&self, found: &[Found]) -> Option<&'a QueryClause> {
        let score = |clause: &QueryClause| -> f64 {
            let (mut gain, mut touched, mut whole) = (0.0, 0.0, 0.0);
            for used in &clause.terms {
                let weight = self.scores.matches.get(used.index).map_or(0.0, |it| it.weight);
                let of_term = found.get(used.index).map_or(0.0, |found| found.gain);
                gain += of_term * used.weight;
                touched += if of_term > 0.0 { weight * used.weight } else { 0.0 };
                whole += weight * used.weight;
            }
            let share = if whole > 0.0 { touched / whole } else { 0.0 };
            gain * by_share(share) * clause.kind.weight()
        };
        let scored = self.query.clauses.iter().map(|clause| (clause, score(clause)));
        scored.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(clause, _)| clause)
    }

    /// Share of the words that the document has, in the sentences of which it has any: sentences about something else do not
    /// matter, a long paste with a word here and there does. One word is added, so that a sentence of one word is never
    /// matched as a whole.
    fn matched(&self, found: &[Found]) -> f64 {
        let is_matched = |index: &usize| found.get(*index).is_some_and(|it| it.cover >= MATCHED);
        let clauses = &self.query.clauses;
        let has_any =
            |clause: &&QueryClause| clause.terms.iter().any(|used| is_matched(&used.index));
        let sentences: BTreeSet<usize> =
            clauses.iter().filter(has_any).map(|clause| clause.sentence).collect();
        let words: BTreeSet<usize> = clauses
            .iter()
            .filter(|clause| sentences.contains(&clause.sentence))
            .flat_map(|clause| clause.terms.iter().map(|used| used.index))
            .filter(|index| self.is_word(*index))
            .collect();
        share(words.iter().filter(|index| is_matched(index)).count(), 1 + words.len())
    }

    /// Share of the proper names in the message that the document does not have.
    fn missing_names(&self, found: &[Found]) -> f64 {
        let names = self.query.terms.iter().zip(found);
        let names = names.filter(|(asked, _)| asked.kind == QueryTermKind::Name);
        let missing: Vec<bool> = names.map(|(_, found)| found.cover < MATCHED).collect();
        share(missing.iter().filter(|is_missing| **is_missing).count(), missing.len())
    }

    fn is_word(&self, index: usize) -> bool {
        self.query.terms.get(index).is_some_and(|asked| !is_work(asked))
    }

    /// Share of a clause that is covered, by rarity; kinds of work do not count.
    fn coverage(&self, clause: &QueryClause, found: &[Found]) -> f64 {
        let (mut whole, mut covered) = (0.0, 0.0);
        for used in &clause.terms {
            let Some(asked) = self.query.terms.get(used.index) else { continue };
            if is_work(asked) {
                continue;
            }
            let matches = self.scores.matches.get(used.index);
            let same = matches.and_then(|matches| known_as_written(matches));
            let rarity = match same {
                Some(form) => self.scores.rarity.of(&form.term, form.frequency),
                None if asked.kind == QueryTermKind::Name => self.most * UNKNOWN_NAME,
                None => self.most,
            };
            whole += used.weight * rarity;
            covered += used.weight * rarity * found.get(used.index).map_or(0.0, |it| it.cover);
        }
        if whole > 0.0 { covered / whole } else { 0.0 }
    }

    /// Relative rarity of the open files that the document is about.
    fn files_of(&self, found: &[Found]) -> f64 {
        let files = self.query.terms.iter().zip(found);
        let files = files.filter(|(asked, _)| asked.kind == QueryTermKind::File);
        files.map(|(_, found)| found.cover * found.rarity / self.most).fold(0.0, f64::max)
    }
}

fn message_evidence(query: &ParsedQuery) -> MessageEvidence {
    let form = query.form;
    let figure = |is_so: bool| f64::from(u8::from(is_so));
    MessageEvidence {
        common: common_share(query),
        general: figure(form.is_general),
        presentation: f64::from(u8::try_from(form.presentation).unwrap_or(u8::MAX)),
        correction: figure(form.is_correction),
        wording: query.wording,
    }
}

/// Share of the typed words that any project has; one word is added.
fn common_share(query: &ParsedQuery) -> f64 {
    let prose = query.clauses.iter().filter(|clause| clause.kind == ClauseKind::Prose);
    let typed: BTreeSet<usize> =
        prose.flat_map(|clause| clause.terms.iter().map(|used| used.index)).collect();
    let is_word = |asked: &&QueryTerm| {
        matches!(asked.kind, QueryTermKind::Word | QueryTermKind::Name | QueryTermKind::Pair)
    };
    let words: Vec<&QueryTerm> =
        typed.iter().filter_map(|index| query.terms.get(*index)).filter(is_word).collect();
    let common = words.iter().filter(|asked| asked.commonness == Commonness::Common).count();
    share(common, 1 + words.len())
}

#[expect(clippy::cast_precision_loss, reason = "counts of words")]
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn is_work(asked: &QueryTerm) -> bool {
    asked.kind == QueryTermKind::Work
}

fn known_as_written(matches: &TermMatches) -> Option<&TermForm> {
    matches.forms.iter().find(|form| form.kind == MatchKind::Same)
}

/// Rank of each of the best documents, so that each of very many matches costs one lookup.
pub(crate) struct DocRanks(Vec<u16>);

impl DocRanks {
    pub(crate) fn new(view: &IndexView, scores: &ScoreResult) -> Self {
        let mut ranks = vec![u16::MAX; view.slot_count()];
        for (rank, scored) in (0..u16::MAX).zip(&scores.best) {
            if let Some(slot) = usize::try_from(scored.doc.0).ok().and_then(|at| ranks.get_mut(at))
            {
                *slot = rank;
            }
        }
        Self(ranks)
    }

    /// The rank of a document, if it is among the best.
    pub(crate) fn of(&self, doc: ViewDocId) -> Option<usize> {
        let rank = self.0.get(usize::try_from(doc.0).ok()?)?;
        (*rank != u16::MAX).then_some(usize::from(*rank))
    }
}
