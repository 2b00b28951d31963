//! The documents that have a term of a query, and how rare the term is.

use crate::term_forms::TermForm;
use crate::view::{IndexView, ViewDocId};
use crate::words::usual_share;

/// A document with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoredDoc {
    pub(crate) doc: ViewDocId,
    pub(crate) score: f64,
}

/// The matches of one query term.
#[derive(Debug, Clone)]
pub(crate) struct TermMatches {
    /// The word of the query; for an expansion term, the term itself.
    pub(crate) word: String,
    pub(crate) forms: Vec<TermForm>,
    /// Share of a clause that the term is, before its weight in the clause.
    pub(crate) weight: f64,
    /// Contributions before the weight of the term in a clause.
    pub(crate) hits: Vec<DocMatch>,
}

/// A document that has a form of a term. Kept small because there are many.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DocMatch {
    /// Contribution to the score, before document-wide factors.
    pub(crate) gain: f64,
    pub(crate) doc: ViewDocId,
    /// Index into the forms of the term.
    pub(crate) form: u16,
}

impl TermMatches {
    pub(crate) fn form(&self, hit: &DocMatch) -> Option<&TermForm> {
        self.forms.get(usize::from(hit.form))
    }
}

/// As many documents as these tell as much about the rarity of a term as what is usual in developers' text.
const PRIOR: f64 = 30.0;
/// Added to shares: a term that no document has may be in the next one.
const UNSEEN: f64 = 0.003;

/// How rare terms are: the logarithm of the inverse share of the documents that have one. The share is that of the other documents, blended with
/// the usual one, so that a match says as much in a store of one document as in a large one.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rarity {
    /// Number of documents.
    all: f64,
}

impl Rarity {
    pub(crate) fn new(view: &IndexView) -> Self {
        Self { all: f64::from(view.live_count()) }
    }

    /// The rarity of a term that is nowhere.
    pub(crate) fn most() -> f64 {
        -UNSEEN.ln()
    }

    /// The rarity of a term that this many documents have, relative to the highest.
    pub(crate) fn relative(self, term: &str, frequency: u32) -> f64 {
        self.of(term, frequency) / Self::most()
    }

    /// The rarity of a term that this many documents have.
    pub(crate) fn of(self, term: &str, frequency: u32) -> f64 {
        let (others, all) = (f64::from(frequency.saturating_sub(1)), (self.all - 1.0).max(0.0));
        let share = (others + PRIOR * usual_share(term)) / (all + PRIOR);
        -(share + UNSEEN).min(1.0).ln()
    }
}

/// The entry of a document in a list with one for each.
pub(crate) fn slot<T>(list: &mut [T], doc: ViewDocId) -> Option<&mut T> {
    usize::try_from(doc.0).ok().and_then(|at| list.get_mut(at))
}
