//! Memories that are near a question by their vectors, and the two orders made into one.
//!
//! Vectors move memories up and bring some in that have none of the words. They make nobody sure: what may be put
//! into a conversation unasked is decided by words alone, so that what is vaguely alike is never pushed.

use std::sync::Arc;

use super::score::Scored;
use super::segment::Doc;
use super::view::{Part, Spot, View};
use crate::embed::{Embedder, Kept, Reach, Seen, Vector, VectorsFile, checked};

/// How many memories the order by vectors has.
const NEAREST: usize = 50;
/// The least that counts as near at all.
const LEAST: f64 = 0.1;
/// How deep the order by words is looked at beside it.
pub(super) const DEPTH: usize = 50;
/// What the first place is worth beside the next: the more, the less. Words are the better judge of the first few.
const FLATNESS: f64 = 10.0;

/// Whether vectors took part in a ranking.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum VectorUse {
    /// No model is set up, or none of the memories was given to it.
    #[default]
    Off,
    /// They did; so many memories have one.
    Used(usize),
    /// Words alone decided, and why.
    Without(String),
}

/// How a memory came to its place where vectors took part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearness {
    /// Its place by words, from 1; none: it has none of them.
    pub word_rank: Option<usize>,
    /// Its score by words.
    pub word_score: f64,
    /// Its place by vectors, from 1; none: it has no vector, or is not near.
    pub vector_rank: Option<usize>,
    /// How near it is: 1 the same direction, 0 nothing in common.
    pub similarity: f64,
}

/// A memory near a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Near {
    spot: Spot,
    similarity: f64,
}

/// What the vectors say.
#[derive(Debug, Default)]
pub(super) struct Nearest {
    /// The nearest first.
    pub(super) order: Vec<Near>,
    /// What a place in it counts, beside one in the order by words.
    weight: f64,
    pub(super) vectors: VectorUse,
}

/// A model, and the vectors of the memories in reach, one file a directory.
pub(super) struct Vectors {
    pub(super) embedder: Arc<dyn Embedder>,
    pub(super) files: Vec<Option<VectorsFile>>,
}

impl Vectors {
    /// The memories near a text, as far as that can be said now: a model further away than `reach` is not asked.
    pub(super) fn nearest(
        &self,
        view: &View,
        text: &str,
        reach: Reach,
        admits: &dyn Fn(Spot) -> bool,
    ) -> Nearest {
        let without =
            |why: String| Nearest { vectors: VectorUse::Without(why), ..Nearest::default() };
        if self.embedder.reach() > reach || !self.embedder.knows(text) {
            return Nearest::default();
        }
        let kept = self.kept();
        let Some(dimension) = kept.iter().flatten().map(|kept| kept.dimension()).max() else {
            return without(
                "no memory has a vector of this model yet; `dormouse memory embed` makes them"
                    .to_owned(),
            );
        };
        let asked = self.embedder.embed_question(text);
        let question = asked.and_then(|answer| checked(answer, 1, Some(dimension)));
        match question.map(|mut vectors| vectors.pop()) {
            Ok(Some(question)) => {
                let near = near(view, &kept, &question, admits);
                Nearest { weight: self.embedder.weight(), ..near }
            }
            Ok(None) => Nearest::default(),
            Err(error) => without(error.to_string()),
        }
    }

    /// The vectors of each directory, where there are any.
    fn kept(&self) -> Vec<Option<Arc<Kept>>> {
        let fingerprint = self.embedder.fingerprint();
        let read = |file: &Option<VectorsFile>| file.as_ref()?.read(fingerprint);
        self.files.iter().map(read).collect()
    }
}

fn near(
    view: &View,
    kept: &[Option<Arc<Kept>>],
    question: &Vector,
    admits: &dyn Fn(Spot) -> bool,
) -> Nearest {
    let mut order = Vec::new();
    for (first, part) in view.parts() {
        let Some(kept) = kept.get(part.shelf).and_then(Option::as_ref) else { continue };
        side_by_side(part, kept, |doc, similarity_of| {
            let spot = Spot(first + doc.0);
            if admits(spot) {
                order.push(Near { spot, similarity: similarity_of(question) });
            }
        });
    }
    let count = order.len();
    let floor = floor(&order);
    order.retain(|near| near.similarity >= floor);
    if order.len() > NEAREST {
        order.select_nth_unstable_by(NEAREST, nearer);
        order.truncate(NEAREST);
    }
    order.sort_by(nearer);
    Nearest { order, vectors: VectorUse::Used(count), ..Nearest::default() }
}

/// Near is what is nearer than the middle between all and the nearest. Models differ in what they call alike: for
/// some, no two texts are below 0.7.
fn floor(order: &[Near]) -> f64 {
    let count = f64::from(u32::try_from(order.len()).unwrap_or(u32::MAX)).max(1.0);
    let mean = order.iter().map(|near| near.similarity).sum::<f64>() / count;
    let best = order.iter().map(|near| near.similarity).fold(0.0, f64::max);
    f64::midpoint(mean, best).max(LEAST)
}

fn nearer(a: &Near, b: &Near) -> std::cmp::Ordering {
    b.similarity.total_cmp(&a.similarity).then_with(|| a.spot.cmp(&b.spot))
}

/// Gives the memories of a part that have a vector of what they say now. Both are in the order of their files.
fn side_by_side(part: &Part, kept: &Kept, mut give: impl FnMut(Doc, &dyn Fn(&Vector) -> f64)) {
    let mut rows = kept.rows().peekable();
    for doc in part.live() {
        let file = part.segment.file(doc);
        while rows.next_if(|row| row.file < file).is_some() {}
        let Some(row) = rows.peek().filter(|row| row.file == file) else { continue };
        let about = part.segment.about(doc);
        let is_current = row.seen == Seen { modified: about.modified, size: about.size };
        if let Some(ray) = row.ray.filter(|_| is_current) {
            give(doc, &|question| question.similarity(ray));
        }
    }
}

/// A memory in the order of both.
pub(super) struct Fused {
    pub(super) scored: Scored,
    /// Its place in the order by words.
    pub(super) place: Option<usize>,
    pub(super) nearness: Option<Nearness>,
}

/// One order of two: every memory gets a share of one for each of its places, the less the further down.
pub(super) fn fused(best: &[Scored], nearest: &Nearest) -> Vec<Fused> {
    let near = nearest.order.as_slice();
    let by_words = best.iter().enumerate().map(|(place, scored)| Fused {
        scored: *scored,
        place: Some(place),
        nearness: None,
    });
    let mut all: Vec<Fused> = by_words.collect();
    if near.is_empty() {
        return all;
    }
    let unfound = |spot| Scored { spot, score: 0.0, coverage: 0.0, terms: 0.0 };
    let is_new = |near: &&Near| best.iter().all(|scored| scored.spot != near.spot);
    all.extend(near.iter().filter(is_new).map(|near| Fused {
        scored: unfound(near.spot),
        place: None,
        nearness: None,
    }));
    for fused in &mut all {
        let vector = near.iter().position(|near| near.spot == fused.scored.spot);
        let similarity = vector.and_then(|at| near.get(at)).map_or(0.0, |near| near.similarity);
        let rank = |place: Option<usize>| place.map(|place| place + 1);
        fused.nearness = Some(Nearness {
            word_rank: rank(fused.place),
            word_score: fused.scored.score,
            vector_rank: rank(vector),
            similarity,
        });
        fused.scored.score = share(fused.place) + nearest.weight * share(vector);
    }
    all.sort_by(|a, b| b.scored.score.total_cmp(&a.scored.score));
    all
}

/// What a place is worth: the first one 1.
fn share(place: Option<usize>) -> f64 {
    let Some(place) = place.and_then(|place| u32::try_from(place).ok()) else { return 0.0 };
    (FLATNESS + 1.0) / (FLATNESS + 1.0 + f64::from(place))
}
