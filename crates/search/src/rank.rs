//! Ranking documents for a query: by words, fused with vectors where there are any.

use std::sync::Arc;

use crate::embed::{Embedder, EmbedderLocation, VectorFile};
use crate::query::ParsedQuery;
use crate::score::{ScoreRequest, ScoreResult, ScoredDoc, compare, score};
use crate::term_forms::MatchKind;
use crate::tuning::RankTuning;
use crate::vector_rank::{
    DEPTH, FusedDoc, FusedRank, VectorRanking, VectorSearch, VectorUse, fuse,
};
use crate::view::{IndexView, ViewDocId};
use crate::words::Tokenizer;

/// How many terms of a query a confident document must have, unless the query has only one. Related words count in
/// part.
const MIN_CONFIDENT_TERMS: f64 = 1.9;

/// What to rank.
pub struct RankRequest<'a> {
    /// The query.
    pub text: &'a str,
    /// Maximum number of documents.
    pub count: usize,
    /// Current time, in seconds since 1970.
    pub now: i64,
    /// The most remote model that may be asked for the query's vector.
    pub location: EmbedderLocation,
    /// Which documents may be returned.
    pub admits: &'a dyn Fn(ViewDocId) -> bool,
}

/// A term that made a document match.
#[derive(Debug, Clone, PartialEq)]
pub struct TermMatch {
    /// The word of the query.
    pub word: String,
    /// The term of the document.
    pub term: String,
    /// How the two match.
    pub kind: MatchKind,
    /// Contribution to the score.
    pub gain: f64,
}

/// A document with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedDoc {
    /// Number of the document in the view.
    pub doc: ViewDocId,
    /// Comparable within one ranking only.
    pub score: f64,
    /// Share of the query that the document covers, 0 to 1.
    pub coverage: f64,
    /// Ranks by words and by vectors; `None` if no vectors were used.
    pub fused_rank: Option<FusedRank>,
    /// Matching terms, highest gain first.
    pub matches: Vec<TermMatch>,
    has_enough_terms: bool,
    min_coverage: f64,
}

impl RankedDoc {
    /// Whether the document may be recalled without being asked for, if it covers this share of the query. Depends on
    /// coverage, not on the score, which grows with the collection.
    pub fn is_confident(&self, coverage: f64) -> bool {
        self.has_enough_terms && coverage >= self.min_coverage
    }
}

/// The ranked documents, best first.
#[derive(Debug, Clone)]
pub struct RankResult {
    /// At most [`RankRequest::count`] documents.
    pub docs: Vec<RankedDoc>,
    /// Number of documents with any match.
    pub found: usize,
    /// Whether vectors were used.
    pub vectors: VectorUse,
}

/// Ranks documents of a view.
#[derive(Default)]
pub struct Ranker {
    tokenizer: Tokenizer,
    tuning: RankTuning,
    vectors: Option<VectorSearch>,
}

impl Ranker {
    /// The tokenizer that documents must be indexed with.
    pub fn tokenizer(&self) -> &Tokenizer {
        &self.tokenizer
    }

    /// Ranks by vectors as well. `files` holds the stored vectors of each collection of the view.
    pub fn set_embedder(&mut self, embedder: Arc<dyn Embedder>, files: Vec<Option<VectorFile>>) {
        self.vectors = Some(VectorSearch::new(embedder, files));
    }

    /// The embedding model, if one is set.
    pub fn embedder(&self) -> Option<&dyn Embedder> {
        self.vectors.as_ref().map(VectorSearch::embedder)
    }

    /// Stored vectors of each collection; empty without an embedding model.
    pub fn vector_files(&self) -> &[Option<VectorFile>] {
        self.vectors.as_ref().map(VectorSearch::files).unwrap_or_default()
    }

    /// Replaces the measured parameters, for benchmarks.
    pub fn set_tuning(&mut self, tuning: RankTuning) {
        self.tuning = tuning;
    }

    /// Ranks the documents of a view.
    pub fn rank(&self, view: &IndexView, request: &RankRequest<'_>) -> RankResult {
        let query = ParsedQuery::read(&self.tokenizer, request.text);
        let nearest = self.vectors.as_ref().map_or_else(VectorRanking::default, |vectors| {
            vectors.nearest(view, request.text, request.location, request.admits)
        });
        let count = if nearest.order.is_empty() { request.count } else { request.count.max(DEPTH) };
        let wanted =
            ScoreRequest { count, now: request.now, admits: request.admits, tuning: self.tuning };
        let scores = score(view, &self.tokenizer, &query, &wanted);
        let order = fuse(&scores.best, &nearest);
        let found = order.len().max(scores.found);
        let mut matches = term_matches(view, &scores);
        let min_terms = if scores.query_terms < 2 { 1.0 } else { MIN_CONFIDENT_TERMS };
        let ranked = |FusedDoc { scored, word_index, fused_rank }| RankedDoc {
            doc: scored.doc,
            score: scored.score,
            coverage: scored.coverage,
            fused_rank,
            matches: word_index
                .and_then(|index| matches.get_mut(index))
                .map(std::mem::take)
                .unwrap_or_default(),
            has_enough_terms: scored.terms >= min_terms,
            min_coverage: self.tuning.coverage,
        };
        let docs = order.into_iter().take(request.count).map(ranked).collect();
        RankResult { docs, found, vectors: nearest.vectors }
    }

    /// All admitted documents, newest first, with a score of zero.
    pub fn newest(&self, view: &IndexView, admits: &dyn Fn(ViewDocId) -> bool) -> Vec<RankedDoc> {
        let mut docs: Vec<ScoredDoc> = view
            .docs()
            .filter(|doc| admits(*doc))
            .map(|doc| ScoredDoc { doc, score: 0.0, coverage: 0.0, terms: 0.0 })
            .collect();
        docs.sort_by(|a, b| compare(view, a, b));
        let unranked = |scored: ScoredDoc| RankedDoc {
            doc: scored.doc,
            score: 0.0,
            coverage: 0.0,
            fused_rank: None,
            matches: Vec::new(),
            has_enough_terms: false,
            min_coverage: self.tuning.coverage,
        };
        docs.into_iter().map(unranked).collect()
    }
}

/// The matching terms of each of the best documents, highest gain first.
fn term_matches(view: &IndexView, scores: &ScoreResult) -> Vec<Vec<TermMatch>> {
    let mut matches = vec![Vec::new(); scores.best.len()];
    // Rank of each document, so that each of very many matches costs one lookup.
    let mut ranks = vec![u16::MAX; view.slot_count()];
    for (rank, scored) in (0..u16::MAX).zip(&scores.best) {
        if let Some(slot) = usize::try_from(scored.doc.0).ok().and_then(|at| ranks.get_mut(at)) {
            *slot = rank;
        }
    }
    for of_term in &scores.matches {
        for hit in &of_term.hits {
            let rank = usize::try_from(hit.doc.0).ok().and_then(|at| ranks.get(at));
            let of_doc = rank.and_then(|rank| matches.get_mut(usize::from(*rank)));
            if let (Some(of_doc), Some(form)) = (of_doc, of_term.form(hit)) {
                of_doc.push(TermMatch {
                    word: of_term.word.clone(),
                    term: form.term.clone(),
                    kind: form.kind,
                    gain: hit.gain,
                });
            }
        }
    }
    for of_doc in &mut matches {
        of_doc.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    }
    matches
}
