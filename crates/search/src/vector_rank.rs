//! Ranking by vectors, and fusion with the ranking by words.
//!
//! Vectors move documents up and add some that have none of the words. What a similarity is worth depends on the model: it
//! is compared with the similarities of the user's own documents.

use std::sync::Arc;

use crate::embed::{
    Embedder, EmbedderLocation, FileStamp, SimilaritySpread, StoredVector, StoredVectors, Vector,
    VectorFile, check_vectors,
};
use crate::segment::DocId;
use crate::term_matches::ScoredDoc;
use crate::view::{IndexView, ViewDocId, ViewSegment};

/// Length of the ranking by vectors.
const NEAREST: usize = 50;
/// Documents that are compared by their sentences: the most similar ones as a whole.
const BY_SENTENCE: usize = 200;
/// Minimum similarity.
const MIN_SIMILARITY: f64 = 0.1;
/// Length of the ranking by words that is fused with it.
pub(crate) const DEPTH: usize = 50;
/// Beyond this a few documents of one kind say nothing about what is usual.
const MOST_DEVIATIONS: f64 = 6.0;
/// Weight of the most similar document beside that of the best one by words.
const MOST_SIMILAR: f64 = 0.8;

/// Whether vectors took part in a ranking.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum VectorUse {
    /// No model is configured, or it does not support the query.
    #[default]
    Off,
    /// Used; the number of documents with a vector.
    Used(usize),
    /// Not available, and why; the ranking is by words only.
    Unavailable(String),
}

/// Where the vector of a query comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum QueryVector<'a> {
    /// The model makes it, unless it is more remote than this.
    Asked(EmbedderLocation),
    /// The model has made it already.
    Given(&'a [f32]),
}

/// Ranks of a document by words and by vectors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FusedRank {
    /// Rank by words, from 1; `None` if it has none of them.
    pub word_rank: Option<usize>,
    /// Score by words.
    pub word_score: f64,
    /// Rank by vectors, from 1; `None` if it has no vector or is not similar.
    pub vector_rank: Option<usize>,
    /// Cosine similarity.
    pub similarity: f64,
}

/// A document similar to the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct NearDoc {
    doc: ViewDocId,
    similarity: f64,
}

/// The ranking by vectors.
#[derive(Debug, Default)]
pub(crate) struct VectorRanking {
    /// Most similar first.
    pub(crate) order: Vec<NearDoc>,
    /// Similarity that counts as none: the mean of those compared, or that of the first document that is left out. Models differ: for some,
    /// no two texts are below 0.7.
    floor: f64,
    /// What similarities are usual.
    spread: SimilaritySpread,
    /// Weight relative to the ranking by words.
    weight: f64,
    pub(crate) vectors: VectorUse,
}

impl VectorRanking {
    /// How much more similar a document is than the best other one, in deviations of what is usual.
    pub(crate) fn margin(&self, doc: ViewDocId) -> f64 {
        if self.order.is_empty() {
            return 0.0;
        }
        let standardized = |near: Option<&NearDoc>| {
            self.spread.standardized(near.map_or(self.floor, |near| near.similarity))
        };
        let own = standardized(self.order.iter().find(|near| near.doc == doc));
        let other = standardized(self.order.iter().find(|near| near.doc != doc));
        (own - other).clamp(-MOST_DEVIATIONS, MOST_DEVIATIONS)
    }

    /// Similarity of a document, as a share of the way from what counts as not similar to the most similar document.
    fn share(&self, similarity: f64) -> f64 {
        if similarity < self.floor {
            return 0.0;
        }
        let best = self.order.first().map_or(self.floor, |near| near.similarity);
        let range = best - self.floor;
        // A single document is the most similar one.
        if range > 0.0 { (similarity - self.floor) / range } else { 1.0 }
    }
}

/// An embedding model and the stored vectors, one file per collection.
pub(crate) struct VectorSearch {
    embedder: Arc<dyn Embedder>,
    files: Vec<Option<VectorFile>>,
}

impl VectorSearch {
    pub(crate) fn new(embedder: Arc<dyn Embedder>, files: Vec<Option<VectorFile>>) -> Self {
        Self { embedder, files }
    }

    pub(crate) fn embedder(&self) -> &dyn Embedder {
        &*self.embedder
    }

    pub(crate) fn files(&self) -> &[Option<VectorFile>] {
        &self.files
    }

    /// Ranks documents by similarity to a text.
    pub(crate) fn nearest(
        &self,
        view: &IndexView,
        text: &str,
        vector: QueryVector<'_>,
        admits: &dyn Fn(ViewDocId) -> bool,
    ) -> VectorRanking {
        let unavailable = |why: String| VectorRanking {
            vectors: VectorUse::Unavailable(why),
            ..VectorRanking::default()
        };
        let is_too_remote =
            matches!(vector, QueryVector::Asked(location) if self.embedder.location() > location);
        if is_too_remote || !self.embedder.supports(text) {
            return VectorRanking::default();
        }
        let stored = self.stored();
        let Some(dimension) = stored.iter().flatten().map(|stored| stored.dimension()).max() else {
            return unavailable(
                "no memory has a vector of this model yet; run `dormouse memory embed`".to_owned(),
            );
        };
        let asked = match vector {
            QueryVector::Asked(_) => self.embedder.embed_query(text),
            QueryVector::Given(vector) => Ok(vec![vector.to_vec()]),
        };
        let query = asked.and_then(|answer| check_vectors(answer, 1, Some(dimension)));
        match query.map(|mut vectors| vectors.pop()) {
            Ok(Some(query)) => {
                let near = rank_by_similarity(view, &stored, &query, admits);
                let largest = stored.iter().flatten().max_by_key(|stored| stored.count());
                let spread = largest.map(|stored| stored.spread()).unwrap_or_default();
                VectorRanking { weight: self.embedder.weight(), spread, ..near }
            }
            Ok(None) => VectorRanking::default(),
            Err(error) => unavailable(error.to_string()),
        }
    }

    /// The stored vectors of each collection.
    fn stored(&self) -> Vec<Option<Arc<StoredVectors>>> {
        let fingerprint = self.embedder.fingerprint();
        let read = |file: &Option<VectorFile>| file.as_ref()?.read(fingerprint);
        self.files.iter().map(read).collect()
    }
}

fn rank_by_similarity(
    view: &IndexView,
    stored: &[Option<Arc<StoredVectors>>],
    query: &Vector,
    admits: &dyn Fn(ViewDocId) -> bool,
) -> VectorRanking {
    let mut by_whole = Vec::new();
    for (first, part) in view.segments() {
        let Some(vectors) = stored.get(part.collection).and_then(Option::as_ref) else { continue };
        each_current(part, vectors, |doc, stored| {
            let doc = ViewDocId(first + doc.0);
            let similarity = stored.whole().map(|whole| query.similarity(whole));
            if let Some(similarity) = similarity.filter(|_| admits(doc)) {
                by_whole.push((NearDoc { doc, similarity }, stored));
            }
        });
    }
    let count = by_whole.len();
    if count > BY_SENTENCE {
        by_whole.select_nth_unstable_by(BY_SENTENCE, |(a, _), (b, _)| nearer(a, b));
        by_whole.truncate(BY_SENTENCE);
    }
    let by_sentence = |(near, stored): (NearDoc, StoredVector<'_>)| NearDoc {
        similarity: stored.similarity(query, near.similarity),
        ..near
    };
    let mut order: Vec<NearDoc> = by_whole.into_iter().map(by_sentence).collect();
    let mut floor = mean(&order).max(MIN_SIMILARITY);
    if order.len() > NEAREST {
        let (_, next, _) = order.select_nth_unstable_by(NEAREST, nearer);
        floor = floor.max(next.similarity);
        order.truncate(NEAREST);
    }
    order.retain(|near| near.similarity >= floor);
    order.sort_by(nearer);
    VectorRanking { order, floor, vectors: VectorUse::Used(count), ..VectorRanking::default() }
}

fn mean(order: &[NearDoc]) -> f64 {
    let count = f64::from(u32::try_from(order.len()).unwrap_or(u32::MAX)).max(1.0);
    order.iter().map(|near| near.similarity).sum::<f64>() / count
}

fn nearer(a: &NearDoc, b: &NearDoc) -> std::cmp::Ordering {
    b.similarity.total_cmp(&a.similarity).then_with(|| a.doc.cmp(&b.doc))
}

/// Calls `give` with the documents whose vectors are of their current content. Both lists are sorted by file.
fn each_current<'a>(
    part: &ViewSegment,
    vectors: &'a StoredVectors,
    mut give: impl FnMut(DocId, StoredVector<'a>),
) {
    let mut rows = vectors.rows().peekable();
    for doc in part.live_docs() {
        let file = part.segment.file(doc);
        while rows.next_if(|row| row.file < file).is_some() {}
        let Some(row) = rows.peek().filter(|row| row.file == file) else { continue };
        let info = part.segment.info(doc);
        let is_current = row.stamp == FileStamp { modified: info.modified, size: info.size };
        if is_current {
            give(doc, *row);
        }
    }
}

/// A document in the fused ranking.
pub(crate) struct FusedDoc {
    pub(crate) scored: ScoredDoc,
    /// Index in the ranking by words.
    pub(crate) word_index: Option<usize>,
    pub(crate) fused_rank: Option<FusedRank>,
}

/// Both rankings as one: scores by words as shares of the best, plus similarities as shares of the most similar. Ranks would
/// say less: how far one is ahead is lost in them.
pub(crate) fn fuse(best: &[ScoredDoc], nearest: &VectorRanking) -> Vec<FusedDoc> {
    let near = nearest.order.as_slice();
    let by_words = best.iter().enumerate().map(|(index, scored)| FusedDoc {
        scored: *scored,
        word_index: Some(index),
        fused_rank: None,
    });
    let mut all: Vec<FusedDoc> = by_words.collect();
    if near.is_empty() {
        return all;
    }
    let most = best.iter().map(|scored| scored.score).fold(0.0, f64::max);
    let unfound = |doc| ScoredDoc { doc, score: 0.0 };
    let is_new = |near: &&NearDoc| best.iter().all(|scored| scored.doc != near.doc);
    all.extend(near.iter().filter(is_new).map(|near| FusedDoc {
        scored: unfound(near.doc),
        word_index: None,
        fused_rank: None,
    }));
    for fused in &mut all {
        let vector = near.iter().position(|near| near.doc == fused.scored.doc);
        let similarity = vector.and_then(|at| near.get(at)).map_or(0.0, |near| near.similarity);
        let rank = |index: Option<usize>| index.map(|index| index + 1);
        fused.fused_rank = Some(FusedRank {
            word_rank: rank(fused.word_index),
            word_score: fused.scored.score,
            vector_rank: rank(vector),
            similarity,
        });
        let by_words = if most > 0.0 { fused.scored.score / most } else { 0.0 };
        fused.scored.score = by_words + MOST_SIMILAR * nearest.weight * nearest.share(similarity);
    }
    all.sort_by(|a, b| b.scored.score.total_cmp(&a.scored.score));
    all
}
