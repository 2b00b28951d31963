//! What speaks for a document being about a message, as a few figures.

use crate::clause::ClauseKind;
use crate::message_sums::clause_weight;
use crate::query::{ParsedQuery, QueryClause, QueryTermKind};
use crate::score::ScoreResult;
use crate::term_forms::{MatchKind, TermForm};
use crate::term_matches::TermMatches;
use crate::view::{IndexView, ViewDocId};
use crate::words::Commonness;

/// Figures about one document and one message. Rarities are relative to that of an unknown word, so that the size of a
/// collection does not matter.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    /// Logarithm of the score.
    pub strength: f64,
    /// Logarithm of the rarity of the specific words that match in the best clause.
    pub specific: f64,
    /// Share of the best clause that the document covers.
    pub coverage: f64,
    /// Logarithm of the score relative to the best other document.
    pub margin: f64,
    /// Rarity of the kinds of work that match in the best clause.
    pub work: f64,
    /// 1 if the best clause is pasted.
    pub pasted: f64,
    /// Logarithm of the length of the message.
    pub length: f64,
    /// Words that mark a request which seldom depends on the project, at most 2.
    pub self_contained: f64,
    /// Similarity by vectors, in standard deviations above that of two of the user's memories.
    pub similarity: f64,
    /// The same relative to the best other document.
    pub similarity_margin: f64,
}

impl Evidence {
    /// Number of figures.
    pub const COUNT: usize = 10;
    /// Their names, in the order of [`Evidence::values`].
    pub const NAMES: [&str; Self::COUNT] = [
        "strength",
        "specific",
        "coverage",
        "margin",
        "work",
        "pasted",
        "length",
        "self_contained",
        "similarity",
        "similarity_margin",
    ];

    /// The figures in order.
    pub fn values(&self) -> [f64; Self::COUNT] {
        [
            self.strength,
            self.specific,
            self.coverage,
            self.margin,
            self.work,
            self.pasted,
            self.length,
            self.self_contained,
            self.similarity,
            self.similarity_margin,
        ]
    }
}

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
        Self { query, scores, most: scores.rarity.of(0).max(f64::MIN_POSITIVE), found }
    }

    /// The figures of the document at a rank of the ranking by words.
    pub(crate) fn at(&self, rank: usize) -> Evidence {
        let score =
            |rank: usize| self.scores.best.get(rank).map_or(0.0, |doc| doc.score) / self.most;
        let other = if rank == 0 { score(1) } else { score(0) };
        let mut evidence = Evidence {
            strength: (score(rank) + SMALL).ln(),
            margin: ((score(rank) + SMALL) / (other + SMALL)).ln(),
            ..self.of_message()
        };
        let found = self.found.get(rank).map(Vec::as_slice).unwrap_or_default();
        if let Some(clause) = self.best_clause(found) {
            evidence.pasted = f64::from(u8::from(clause.kind == ClauseKind::Pasted));
            evidence.coverage = self.coverage(clause, found);
            evidence.specific = (1.0 + self.specific(clause, found)).ln();
            evidence.work = self.work(clause, found);
        }
        evidence
    }

    /// The figures of a document that has no word of the message.
    pub(crate) fn without_words(&self) -> Evidence {
        let best = self.scores.best.first().map_or(0.0, |doc| doc.score) / self.most;
        let margin = (SMALL / (best + SMALL)).ln();
        Evidence { strength: SMALL.ln(), margin, ..self.of_message() }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of words and characters")]
    fn of_message(&self) -> Evidence {
        Evidence {
            length: (1.0 + self.query.length as f64).ln(),
            self_contained: self.query.self_contained.min(2) as f64,
            ..Evidence::default()
        }
    }

    /// The clause that the document gains most from.
    fn best_clause(&self, found: &[Found]) -> Option<&'a QueryClause> {
        let gain = |clause: &QueryClause| -> f64 {
            let gains = clause
                .terms
                .iter()
                .map(|used| found.get(used.index).map_or(0.0, |found| found.gain) * used.weight);
            gains.sum::<f64>() * clause_weight(clause.kind)
        };
        let best = self.query.clauses.iter().map(|clause| (gain(clause), clause));
        best.max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, clause)| clause)
    }

    /// Share of a clause that is covered, by rarity; kinds of work do not count.
    fn coverage(&self, clause: &QueryClause, found: &[Found]) -> f64 {
        let (mut whole, mut covered) = (0.0, 0.0);
        for used in &clause.terms {
            let Some(asked) = self.query.terms.get(used.index) else { continue };
            if asked.kind == QueryTermKind::Work {
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

    /// Relative rarity of the specific words that match.
    fn specific(&self, clause: &QueryClause, found: &[Found]) -> f64 {
        let of_term = |index: usize| {
            let asked = self.query.terms.get(index)?;
            let found = found.get(index)?;
            (asked.commonness == Commonness::Specific).then_some(found.cover * found.rarity)
        };
        clause.terms.iter().filter_map(|used| of_term(used.index)).sum::<f64>() / self.most
    }

    fn work(&self, clause: &QueryClause, found: &[Found]) -> f64 {
        let of_term = |index: usize| {
            let asked = self.query.terms.get(index)?;
            let found = found.get(index)?;
            (asked.kind == QueryTermKind::Work).then_some(found.cover * found.rarity)
        };
        clause.terms.iter().filter_map(|used| of_term(used.index)).sum::<f64>() / self.most
    }
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
