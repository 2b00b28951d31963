//! Scores of documents over the clauses of a message: half by the clauses that a document matches best, of which further
//! ones count less and less, half by the message as a whole. So the sentences around the one that matters do not drown it, and
//! what is said again counts. A message of many clauses counts only as a whole: any document matches a few of them.

use crate::query::{ClauseTerm, ParsedQuery};
use crate::term_matches::{ScoredDoc, TermMatches, slot};
use crate::view::{IndexView, ViewDocId};

/// Share of the message as a whole.
const WHOLE: f64 = 0.5;
/// Weights of the best clauses of a document.
const CLAUSE_WEIGHTS: [f64; 5] = [1.0, 0.7, 0.5, 0.35, 0.25];

/// Maximum weight of a word in the message as a whole: a pasted log repeats the name of its program in each line.
const MAX_WORD_WEIGHT: f64 = 2.0;
/// With more clauses than these a message counts only as a whole.
const MAX_CLAUSES: usize = 5;

/// A document in one clause.
#[derive(Clone, Copy, Default)]
struct ClauseSum {
    gain: f64,
    /// Weight of the terms that it has in any form.
    touched: f64,
}

/// A document in the whole message.
#[derive(Clone, Copy, Default)]
struct DocSum {
    /// Scores of its best clauses, highest first.
    best: [f64; CLAUSE_WEIGHTS.len()],
    /// Score of all clauses as one.
    whole: f64,
    company: f64,
}

impl DocSum {
    fn is_new(&self) -> bool {
        self.company == 0.0 && self.whole == 0.0 && self.best.iter().all(|score| *score == 0.0)
    }

    fn add_clause(&mut self, mut score: f64) {
        for kept in &mut self.best {
            if score > *kept {
                std::mem::swap(kept, &mut score);
            }
        }
    }

    fn score(&self, whole: f64) -> f64 {
        let weighted = self.best.iter().zip(CLAUSE_WEIGHTS);
        let by_clause = weighted.map(|(score, weight)| score * weight).sum::<f64>();
        whole * self.whole + (1.0 - whole) * by_clause + self.company
    }
}

/// Sums over all clauses.
pub(crate) struct MessageSums {
    by_doc: Vec<DocSum>,
    touched: Vec<ViewDocId>,
    /// Share of the message as a whole.
    whole: f64,
}

impl MessageSums {
    pub(crate) fn new(view: &IndexView, query: &ParsedQuery, matches: &[TermMatches]) -> Self {
        let mut sums = Self {
            by_doc: vec![DocSum::default(); view.slot_count()],
            touched: Vec::new(),
            whole: share_of_whole(query.clauses.len()),
        };
        let mut of_clause = vec![ClauseSum::default(); view.slot_count()];
        let by_clause = if sums.whole < 1.0 { query.clauses.as_slice() } else { &[] };
        for clause in by_clause {
            let weight = clause.kind.weight();
            sums.each_score(&clause.terms, matches, &mut of_clause, |of_doc, score| {
                of_doc.add_clause(score * weight);
            });
        }
        if sums.whole > 0.0 {
            let whole = whole_message(query);
            sums.each_score(&whole, matches, &mut of_clause, |of_doc, score| of_doc.whole = score);
        }
        sums
    }

    /// Calls `give` with the score of each document for some terms. `of_clause` is all zero before and after.
    fn each_score(
        &mut self,
        terms: &[ClauseTerm],
        matches: &[TermMatches],
        of_clause: &mut [ClauseSum],
        give: impl Fn(&mut DocSum, f64),
    ) {
        let mut whole = 0.0;
        let mut touched = Vec::new();
        for used in terms {
            let Some(found) = matches.get(used.index) else { continue };
            let weight = found.weight * used.weight;
            whole += weight;
            for hit in &found.hits {
                let Some(sum) = slot(of_clause, hit.doc) else { continue };
                if sum.gain == 0.0 {
                    touched.push(hit.doc);
                }
                sum.gain += hit.gain * used.weight;
                sum.touched += weight;
            }
        }
        for doc in touched {
            let Some(sum) = slot(of_clause, doc).map(std::mem::take) else { continue };
            let share = if whole > 0.0 { sum.touched / whole } else { 0.0 };
            let score = sum.gain * by_share(share);
            self.change(doc, |of_doc| give(of_doc, score));
        }
    }

    /// Adds an expansion term or an open file. It is not part of the message and covers nothing.
    pub(crate) fn add_company(&mut self, matches: &TermMatches) {
        for hit in &matches.hits {
            self.change(hit.doc, |of_doc| of_doc.company += hit.gain);
        }
    }

    fn change(&mut self, doc: ViewDocId, change: impl FnOnce(&mut DocSum)) {
        let Some(of_doc) = slot(&mut self.by_doc, doc) else { return };
        if of_doc.is_new() {
            self.touched.push(doc);
        }
        change(of_doc);
    }

    /// All documents with a match.
    pub(crate) fn scored(&self) -> impl Iterator<Item = ScoredDoc> + '_ {
        self.touched.iter().filter_map(|doc| {
            let of_doc = self.by_doc.get(usize::try_from(doc.0).ok()?)?;
            Some(ScoredDoc { doc: *doc, score: of_doc.score(self.whole) })
        })
    }
}

/// Share of the message as a whole, for a number of clauses.
fn share_of_whole(clauses: usize) -> f64 {
    match clauses {
        0 | 1 => 0.0,
        _ if clauses <= MAX_CLAUSES => WHOLE,
        _ => 1.0,
    }
}

/// The terms of all clauses, with their weights added up.
fn whole_message(query: &ParsedQuery) -> Vec<ClauseTerm> {
    let mut weights = vec![0.0; query.terms.len()];
    for clause in &query.clauses {
        for used in &clause.terms {
            if let Some(weight) = weights.get_mut(used.index) {
                *weight += used.weight * clause.kind.weight();
            }
        }
    }
    // An open file is in no clause.
    let terms = weights.into_iter().enumerate().filter(|(_, weight)| *weight > 0.0);
    terms.map(|(index, weight)| ClauseTerm { index, weight: weight.min(MAX_WORD_WEIGHT) }).collect()
}

/// Factor for the share of a clause that a document has: the share to the power of 3/8, computed from square roots for
/// speed.
pub(crate) fn by_share(share: f64) -> f64 {
    let fourth = share.sqrt().sqrt();
    fourth * fourth.sqrt()
}
