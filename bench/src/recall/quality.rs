//! Recall at 5 and 10, and the mean reciprocal rank, by category.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::data::{Collection, CollectionQuestion};

/// Documents by number, the best first.
pub(crate) struct Ranked(pub(crate) Vec<usize>);

/// Sums over questions.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(crate) struct Means {
    pub(crate) questions: u32,
    recall_5: f64,
    recall_10: f64,
    reciprocal: f64,
}

impl Means {
    fn add(&mut self, recall_5: f64, recall_10: f64, reciprocal: f64) {
        self.questions += 1;
        self.recall_5 += recall_5;
        self.recall_10 += recall_10;
        self.reciprocal += reciprocal;
    }

    /// R@5, R@10 and MRR, in percent.
    pub(crate) fn percent(self) -> [f64; 3] {
        let count = f64::from(self.questions.max(1));
        [self.recall_5, self.recall_10, self.reciprocal].map(|sum| 100.0 * sum / count)
    }
}

/// How well a system did.
#[derive(Debug, Clone, Default)]
pub(crate) struct Quality {
    pub(crate) all: Means,
    pub(crate) by_category: BTreeMap<String, Means>,
}

impl Quality {
    pub(crate) fn add(
        &mut self,
        question: &CollectionQuestion,
        ranked: &Ranked,
        collection: &Collection,
    ) {
        let wanted: BTreeSet<&str> = question.wanted.iter().map(String::as_str).collect();
        let covered = |number: &usize| {
            let covers = collection.documents.get(*number).map(|document| &document.covers);
            let covers = covers.into_iter().flatten().map(String::as_str);
            covers.filter(|evidence| wanted.contains(evidence)).collect::<BTreeSet<&str>>()
        };
        let share = |depth| {
            let found: BTreeSet<&str> = ranked.0.iter().take(depth).flat_map(covered).collect();
            ratio(found.len(), wanted.len())
        };
        let first = ranked.0.iter().position(|number| !covered(number).is_empty());
        let reciprocal = first.map_or(0.0, |place| ratio(1, place + 1));
        let (recall_5, recall_10) = (share(5), share(10));
        let category = self.by_category.entry(question.category.clone()).or_default();
        for means in [&mut self.all, category] {
            means.add(recall_5, recall_10, reciprocal);
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "small counts")]
pub(crate) fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
