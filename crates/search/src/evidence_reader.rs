//! Reads the evidence for documents from the matches of a ranking.

use crate::clause::ClauseKind;
use crate::evidence::Evidence;
use crate::message_sums::{by_share, clause_weight};
use crate::query::{ParsedQuery, QueryClause, QueryTerm, QueryTermKind};
use crate::score::ScoreResult;
use crate::term_forms::{MatchKind, TermForm};
use crate::term_matches::TermMatches;
use crate::view::{IndexView, ViewDocId};
use crate::words::Commonness;

/// Added to scores before the logarithm.
const SMALL: f64 = 0.1;
/// Weight of an unknown name: the message is about something else.
const UNKNOWN_NAME: f64 = 2.0;

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
    /// For each of the best documents, its best clause and the score for that.
    best: Vec<Option<(&'a QueryClause, f64)>>,
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
                    let rarity = scores.rarity.of(form.frequency);
                    *slot = Found { cover: form.cover(), gain: hit.gain, rarity };
                }
            }
        }
        let most = scores.rarity.of(0).max(f64::MIN_POSITIVE);
        let mut reader = Self { query, scores, most, found, best: Vec::new() };
        reader.best = reader.found.iter().map(|found| reader.best_clause(found)).collect();
        reader
    }

    /// The figures of the document at a rank of the ranking by words.
    pub(crate) fn at(&self, rank: usize) -> Evidence {
        let found = self.found.get(rank).map(Vec::as_slice).unwrap_or_default();
        let Some((clause, score)) = self.best.get(rank).copied().flatten() else {
            return self.without_words();
        };
        Evidence {
            strength: (score / self.most + SMALL).ln(),
            specific: (1.0 + self.rarity_of(clause, found, is_specific)).ln(),
            coverage: self.coverage(clause, found),
            margin: self.margin(score, rank),
            work: self.rarity_of(clause, found, is_work),
            pasted: f64::from(u8::from(clause.kind == ClauseKind::Pasted)),
            ..self.of_message()
        }
    }

    /// The figures of a document that has no word of the message.
    pub(crate) fn without_words(&self) -> Evidence {
        let margin = self.margin(0.0, usize::MAX);
        Evidence { strength: SMALL.ln(), margin, ..self.of_message() }
    }

    /// Distance of a score for the best clause to that of the best other document.
    fn margin(&self, score: f64, rank: usize) -> f64 {
        let others = self.best.iter().enumerate().filter(|(other, _)| *other != rank);
        let best = others.filter_map(|(_, best)| best.map(|(_, score)| score)).fold(0.0, f64::max);
        ((score / self.most + SMALL) / (best / self.most + SMALL)).ln()
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of words and characters")]
    fn of_message(&self) -> Evidence {
        Evidence {
            length: (1.0 + self.query.length as f64).ln(),
            self_contained: self.query.self_contained.min(2) as f64,
            ..Evidence::default()
        }
    }

    /// The clause that the document scores highest for, and that score.
    fn best_clause(&self, found: &[Found]) -> Option<(&'a QueryClause, f64)> {
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
            gain * by_share(share) * clause_weight(clause.kind)
        };
        let scored = self.query.clauses.iter().map(|clause| (clause, score(clause)));
        scored.max_by(|a, b| a.1.total_cmp(&b.1))
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
                Some(form) => self.scores.rarity.of(form.frequency),
                None if asked.kind == QueryTermKind::Name => self.most * UNKNOWN_NAME,
                None => self.most,
            };
            whole += used.weight * rarity;
            covered += used.weight * rarity * found.get(used.index).map_or(0.0, |it| it.cover);
        }
        if whole > 0.0 { covered / whole } else { 0.0 }
    }

    /// Relative rarity of the terms of a kind that match.
    fn rarity_of(
        &self,
        clause: &QueryClause,
        found: &[Found],
        is_wanted: impl Fn(&QueryTerm) -> bool,
    ) -> f64 {
        let of_term = |index: usize| {
            let asked = self.query.terms.get(index)?;
            let found = found.get(index)?;
            is_wanted(asked).then_some(found.cover * found.rarity)
        };
        clause.terms.iter().filter_map(|used| of_term(used.index)).sum::<f64>() / self.most
    }
}

fn is_specific(asked: &QueryTerm) -> bool {
    asked.commonness == Commonness::Specific
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
