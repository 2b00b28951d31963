//! Ranking documents for a query: by words, fused with vectors where there are any.

use std::sync::Arc;

use crate::calibration::{Calibration, RecallTier};
use crate::embed::{Embedder, VectorFile};
use crate::evidence::Evidence;
use crate::evidence_reader::{DocRanks, EvidenceReader, share};
use crate::query::ParsedQuery;
use crate::score::{ScoreRequest, ScoreResult, compare, score};
use crate::term_forms::MatchKind;
use crate::term_matches::{Rarity, ScoredDoc};
use crate::tuning::RankTuning;
use crate::vector_rank::{
    DEPTH, FusedDoc, FusedRank, QueryVector, VectorRanking, VectorSearch, VectorUse, fuse,
};
use crate::view::{IndexView, ViewDocId};
use crate::words::{Tokenizer, kinds_of_task, rule_term};

/// Number of other documents that one is compared with.
const COMPARED: usize = 4;
/// Score that others have by chance, in words that are nowhere else: where there are few other documents, one that is ahead of them says little.
const CHANCE: f64 = 0.2;
/// Added to shares before the logarithm.
const SMALL: f64 = 0.03;

/// What to rank.
pub struct RankRequest<'a> {
    /// The query.
    pub text: &'a str,
    /// Files that the conversation has open, as documents name them.
    pub files: &'a [String],
    /// Maximum number of documents.
    pub count: usize,
    /// Current time, in seconds since 1970.
    pub now: i64,
    /// Where the vector of the query comes from.
    pub vector: QueryVector<'a>,
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
    /// Rarity of the term, relative to that of an unknown one.
    pub rarity: f64,
}

/// A document with its score.
#[derive(Debug, Clone, PartialEq)]
pub struct RankedDoc {
    /// Number of the document in the view.
    pub doc: ViewDocId,
    /// Comparable within one ranking only.
    pub score: f64,
    /// Ranks by words and by vectors; `None` if no vectors were used.
    pub fused_rank: Option<FusedRank>,
    /// Matching terms, highest gain first.
    pub matches: Vec<TermMatch>,
    /// What speaks for it.
    pub evidence: Evidence,
    /// The probability that it helps with the message, 0 to 1.
    pub confidence: f64,
    /// How the evidence was weighed.
    pub calibration: Calibration,
}

impl RankedDoc {
    fn unranked(doc: ViewDocId) -> Self {
        Self {
            doc,
            score: 0.0,
            fused_rank: None,
            matches: Vec::new(),
            evidence: Evidence::default(),
            confidence: 0.0,
            calibration: Calibration::NONE,
        }
    }

    /// The same, knowing what the document says that it is about: a message that has those words is about it.
    #[must_use]
    pub fn with_subject(
        mut self,
        tokenizer: &Tokenizer,
        name: Option<&str>,
        description: Option<&str>,
    ) -> Self {
        let name = distinct_terms(tokenizer, name.unwrap_or_default());
        let description = distinct_terms(tokenizer, description.unwrap_or_default());
        let is_word =
            |found: &&TermMatch| matches!(found.kind, MatchKind::Same | MatchKind::Family);
        let found: Vec<&TermMatch> = self.matches.iter().filter(is_word).collect();
        let is_matched = |term: &&String| {
            found.iter().any(|found| found.kind == MatchKind::Same && found.term == **term)
        };
        let in_name = name.iter().filter(is_matched).count();
        let is_subject =
            |found: &TermMatch| name.contains(&found.term) || description.contains(&found.term);
        let (mut subject, mut body) = (0.0, 0.0);
        for found in &found {
            *(if is_subject(found) { &mut subject } else { &mut body }) += found.rarity;
        }
        self.evidence.name = share(in_name, name.len());
        self.evidence.subject = (1.0 + subject).ln();
        self.evidence.body = (1.0 + body).ln();
        self.confidence = self.calibration.confidence(&self.evidence);
        self
    }

    /// Whether the document may be shown without being asked for, with this confidence.
    pub fn tier(&self, confidence: f64) -> RecallTier {
        self.calibration.tier(confidence)
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
        let query = ParsedQuery::read(&self.tokenizer, request.text, request.files);
        let nearest = self.vectors.as_ref().map_or_else(VectorRanking::default, |vectors| {
            vectors.nearest(view, request.text, request.vector, request.admits)
        });
        let count = if nearest.order.is_empty() { COMPARED + 1 } else { DEPTH };
        let count = request.count.max(count);
        let wanted =
            ScoreRequest { count, now: request.now, admits: request.admits, tuning: self.tuning };
        let scores = score(view, &self.tokenizer, &query, &wanted);
        let order = fuse(&scores.best, &nearest);
        let margins = Margins::of(&order);
        let found = order.len().max(scores.found);
        let reader = EvidenceReader::new(view, &query, &scores);
        let mut matches = term_matches(view, &scores);
        let learned =
            if nearest.order.is_empty() { self.tuning.by_words } else { self.tuning.by_vectors };
        let calibration = learned.of(query.is_unspaced);
        let ranked = |(rank, FusedDoc { scored, word_index, fused_rank }): (usize, FusedDoc)| {
            let by_words = word_index.map_or_else(|| reader.without_words(), |at| reader.at(at));
            let file_share = word_index.map_or(0.0, |at| reader.file_share(at));
            let evidence = Evidence {
                margin: margins.at(rank, 1.0 - file_share),
                rank: f64::from(u16::try_from(rank).unwrap_or(u16::MAX)),
                similarity_margin: nearest.margin(scored.doc),
                ..by_words
            };
            let matches = word_index.and_then(|at| matches.get_mut(at)).map(std::mem::take);
            RankedDoc {
                doc: scored.doc,
                score: scored.score,
                fused_rank,
                matches: matches.unwrap_or_default(),
                evidence,
                confidence: calibration.confidence(&evidence),
                calibration,
            }
        };
        let docs = order.into_iter().enumerate().take(request.count).map(ranked).collect();
        RankResult { docs, found, vectors: nearest.vectors }
    }

    /// The admitted documents that are rules for the kind of task that a message asks for, newest first: what they are about is no matter.
    pub fn standing_rules(
        &self,
        view: &IndexView,
        message: &str,
        admits: &dyn Fn(ViewDocId) -> bool,
    ) -> Vec<RankedDoc> {
        let mut kinds: Vec<(ViewDocId, &str)> = Vec::new();
        for kind in kinds_of_task(&self.tokenizer, message) {
            view.postings(&rule_term(kind), |doc, _, _| {
                if admits(doc) && kinds.iter().all(|(known, _)| *known != doc) {
                    kinds.push((doc, kind));
                }
            });
        }
        let mut docs: Vec<ScoredDoc> =
            kinds.iter().map(|(doc, _)| ScoredDoc { doc: *doc, score: 0.0 }).collect();
        docs.sort_by(|a, b| compare(view, a, b));
        let rule = |scored: ScoredDoc| {
            let kind = kinds.iter().find(|(doc, _)| *doc == scored.doc).map(|(_, kind)| *kind);
            let found = |kind: &str| TermMatch {
                word: kind.to_owned(),
                term: rule_term(kind),
                kind: MatchKind::Work,
                gain: 0.0,
                rarity: 0.0,
            };
            let matches = kind.map(found).into_iter().collect();
            RankedDoc { matches, calibration: Calibration::ALL, ..RankedDoc::unranked(scored.doc) }
        };
        docs.into_iter().map(rule).collect()
    }

    /// All admitted documents, newest first, with a score of zero.
    pub fn newest(&self, view: &IndexView, admits: &dyn Fn(ViewDocId) -> bool) -> Vec<RankedDoc> {
        let mut docs: Vec<ScoredDoc> = view
            .docs()
            .filter(|doc| admits(*doc))
            .map(|doc| ScoredDoc { doc, score: 0.0 })
            .collect();
        docs.sort_by(|a, b| compare(view, a, b));
        docs.into_iter().map(|scored| RankedDoc::unranked(scored.doc)).collect()
    }
}

/// The scores that tell how far a document is ahead of the others.
struct Margins {
    /// The best scores, as shares of the highest.
    best: Vec<f64>,
    /// What others have at least, as a share of the highest.
    chance: f64,
}

impl Margins {
    fn of(order: &[FusedDoc]) -> Self {
        let score = |fused: &FusedDoc| fused.scored.score;
        let most = order.first().map_or(1.0, score).max(f64::MIN_POSITIVE);
        let by_words = |fused: &FusedDoc| fused.fused_rank.map_or(score(fused), |it| it.word_score);
        let most_by_words = order.iter().map(by_words).fold(f64::MIN_POSITIVE, f64::max);
        Self {
            best: order.iter().map(|fused| score(fused) / most).collect(),
            chance: (CHANCE * Rarity::most() / most_by_words).min(1.0),
        }
    }

    /// Logarithm of a part of the score at a rank relative to the mean of the best others.
    fn at(&self, rank: usize, part: f64) -> f64 {
        let own = part * self.best.get(rank).copied().unwrap_or(0.0);
        let others = self.best.iter().enumerate().filter(|(other, _)| *other != rank);
        let sum: f64 = others.map(|(_, score)| *score).take(COMPARED).sum();
        let mean = sum / f64::from(u8::try_from(COMPARED).unwrap_or(u8::MAX));
        ((own + SMALL) / (mean.max(self.chance) + SMALL)).ln()
    }
}

/// The different terms of a text, without the last character of a run, which is part of the preceding pair.
fn distinct_terms(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
    let mut terms: Vec<String> = Vec::new();
    tokenizer.each_term(text, |term| {
        let is_single = term.chars().nth(1).is_none();
        if !is_single && !terms.iter().any(|known| known == term) {
            terms.push(term.to_owned());
        }
    });
    terms
}

/// The matching terms of each of the best documents, highest gain first.
fn term_matches(view: &IndexView, scores: &ScoreResult) -> Vec<Vec<TermMatch>> {
    let mut matches = vec![Vec::new(); scores.best.len()];
    let ranks = DocRanks::new(view, scores);
    for of_term in scores.matches.iter().chain(&scores.company) {
        for hit in &of_term.hits {
            let of_doc = ranks.of(hit.doc).and_then(|rank| matches.get_mut(rank));
            if let (Some(of_doc), Some(form)) = (of_doc, of_term.form(hit)) {
                of_doc.push(TermMatch {
                    word: of_term.word.clone(),
                    term: form.term.clone(),
                    kind: form.kind,
                    gain: hit.gain,
                    rarity: scores.rarity.relative(&form.term, form.frequency),
                });
            }
        }
    }
    for of_doc in &mut matches {
        of_doc.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    }
    matches
}
