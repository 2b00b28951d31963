//! BM25 over the terms of a query and their forms, expanded by terms that the best documents have in common.
//!
//! A pure function of view and query: the same documents give the same order, however the index was built.

use std::collections::HashMap;

use crate::message_sums::MessageSums;
use crate::query::{ParsedQuery, QueryTerm, QueryTermKind};
use crate::segment::DocumentFlags;
use crate::term_forms::{MatchKind, TermForm, TypoBudget, forms_of};
use crate::term_matches::{DocMatch, Rarity, ScoredDoc, TermMatches, slot};
use crate::tuning::RankTuning;
use crate::view::{IndexView, ViewDocId};
use crate::words::Tokenizer;

/// Minimum rarity: a name that half of the documents have is still informative.
const RAREST_FLOOR: f64 = 1.0;
/// The same for a kind of work.
const WORK_FLOOR: f64 = 0.3;
/// Bonus of a document that mentions a time, for a query that asks for one.
const TELLS_WHEN: f64 = 0.2;
/// Bonus of the newest document; half of it after a month, a third after two.
const RECENCY: f64 = 0.05;
/// No document-wide factor is larger.
const LARGEST_FACTOR: f64 = (1.0 + TELLS_WHEN) * (1.0 + RECENCY);
const MONTH: f64 = 30.0 * 24.0 * 60.0 * 60.0;
/// How many of the best documents are used for expansion, and how many terms are taken from them.
const COMPANY_DOCS: usize = 4;
const COMPANY_TERMS: usize = 14;

/// The best documents in order, and their matches.
#[derive(Debug, Clone, Default)]
pub(crate) struct ScoreResult {
    pub(crate) best: Vec<ScoredDoc>,
    /// Number of documents with any match.
    pub(crate) found: usize,
    /// Matches of each term of the query.
    pub(crate) matches: Vec<TermMatches>,
    /// Matches of expansion terms.
    pub(crate) company: Vec<TermMatches>,
    pub(crate) rarity: Rarity,
}

/// What to rank.
pub(crate) struct ScoreRequest<'a> {
    pub(crate) count: usize,
    /// In seconds.
    pub(crate) now: i64,
    pub(crate) admits: &'a dyn Fn(ViewDocId) -> bool,
    pub(crate) tuning: RankTuning,
}

/// Ranks the documents of a view by words.
pub(crate) fn score(
    view: &IndexView,
    words: &Tokenizer,
    query: &ParsedQuery,
    request: &ScoreRequest<'_>,
) -> ScoreResult {
    let rarity = Rarity::new(view);
    let mut scorer =
        Scorer { view, rarity, tuning: request.tuning, best: vec![(0.0, 0); view.slot_count()] };
    let mut typos = TypoBudget::ALL;
    let matches: Vec<TermMatches> =
        query.terms.iter().map(|asked| scorer.matches(words, asked, &mut typos)).collect();
    let mut sums = MessageSums::new(view, query, &matches);
    for (asked, of_file) in query.terms.iter().zip(&matches) {
        if asked.kind == QueryTermKind::File {
            sums.add_company(of_file);
        }
    }
    let mut first = Best::new(view, COMPANY_DOCS);
    // Most documents of a large collection are out before anything is looked up about them.
    for scored in sums.scored() {
        if first.may_take(scored.score) && (request.admits)(scored.doc) {
            first.offer(scored);
        }
    }
    let company = scorer.company(query, &first.in_order());
    for term in &company {
        sums.add_company(term);
    }
    let mut best = Best::new(view, request.count);
    let mut found = 0;
    for mut scored in sums.scored().filter(|scored| (request.admits)(scored.doc)) {
        found += 1;
        if best.may_take(scored.score * LARGEST_FACTOR) {
            scored.score *= document_factor(view, scored.doc, query, request.now);
            best.offer(scored);
        }
    }
    ScoreResult { best: best.in_order(), found, matches, company, rarity }
}

/// Document-wide factor: time and recency.
fn document_factor(view: &IndexView, doc: ViewDocId, query: &ParsedQuery, now: i64) -> f64 {
    let Some((part, doc)) = view.doc(doc) else { return 1.0 };
    let tells = query.asks_when && part.segment.flags(doc).has(DocumentFlags::TELLS_WHEN);
    let when = if tells { 1.0 + TELLS_WHEN } else { 1.0 };
    let age = now.saturating_sub(i64::from(part.segment.changed(doc))).max(0);
    // Ages beyond a century are equal.
    let age = f64::from(u32::try_from(age).unwrap_or(u32::MAX));
    when * (1.0 + RECENCY / (1.0 + age / MONTH))
}

fn rarity_floor(asked: &QueryTerm) -> f64 {
    if asked.kind == QueryTermKind::Work { WORK_FLOOR } else { RAREST_FLOOR }
}

struct Scorer<'a> {
    view: &'a IndexView,
    rarity: Rarity,
    tuning: RankTuning,
    /// Best gain of each document for the current term, and its form.
    best: Vec<(f64, u16)>,
}

impl Scorer<'_> {
    fn matches(
        &mut self,
        words: &Tokenizer,
        asked: &QueryTerm,
        typos: &mut TypoBudget,
    ) -> TermMatches {
        let forms = forms_of(self.view, words, asked, typos);
        let same = forms.iter().find(|form| form.kind == MatchKind::Same);
        let floor = rarity_floor(asked);
        let weight = match same {
            Some(form) => self.rarity.of(&form.term, form.frequency).max(floor),
            None => self.rarity.of(&asked.term, 0),
        };
        // Another word for it says no more than the word itself.
        let rarity =
            |form: &TermForm| self.rarity.of(&form.term, form.frequency).max(floor).min(weight);
        let gains: Vec<f64> = forms.iter().map(|form| form.factor * rarity(form)).collect();
        let hits = self.hits(&forms, &gains);
        TermMatches { word: asked.word.clone(), forms, weight, hits }
    }

    /// Documents with any of the forms, each with its best form.
    fn hits(&mut self, forms: &[TermForm], gains: &[f64]) -> Vec<DocMatch> {
        if let ([form], [gain]) = (forms, gains) {
            let mut hits = Vec::with_capacity(usize::try_from(form.frequency).unwrap_or(0));
            self.gains(form, *gain, |doc, gain| hits.push(DocMatch { gain, doc, form: 0 }));
            return hits;
        }
        let mut touched = Vec::new();
        let mut best = std::mem::take(&mut self.best);
        for (number, (form, gain)) in (0..).zip(forms.iter().zip(gains)) {
            self.gains(form, *gain, |doc, gain| {
                let Some(best) = slot(&mut best, doc) else { return };
                if best.0 == 0.0 {
                    touched.push(doc);
                }
                if gain > best.0 {
                    *best = (gain, number);
                }
            });
        }
        let hits = touched.into_iter().filter_map(|doc| {
            let (gain, form) = std::mem::take(slot(&mut best, doc)?);
            Some(DocMatch { gain, doc, form })
        });
        let hits = hits.collect();
        self.best = best;
        hits
    }

    /// Calls `give` with the gain of every document that has a form.
    fn gains(&self, form: &TermForm, gain: f64, mut give: impl FnMut(ViewDocId, f64)) {
        let RankTuning { saturation, length: by, .. } = self.tuning;
        let by_length = saturation * by / self.view.average_length();
        self.view.postings(&form.term, |doc, count, length| {
            let count = f64::from(count);
            let norm = saturation * (1.0 - by) + by_length * f64::from(length);
            give(doc, gain * count * (saturation + 1.0) / (count + norm));
        });
    }

    /// Matches of the terms that the best documents have in common besides the query.
    fn company(&mut self, query: &ParsedQuery, best: &[ScoredDoc]) -> Vec<TermMatches> {
        let mut terms = self.common_terms(query, best);
        terms.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        terms.truncate(COMPANY_TERMS);
        let most = terms.first().map_or(1.0, |(_, weight)| *weight);
        terms
            .into_iter()
            .map(|(term, weight)| {
                let frequency = self.view.frequency(&term);
                let factor = self.tuning.company * weight / most;
                let gain = factor * self.rarity.of(&term, frequency);
                let form =
                    TermForm { term: term.clone(), kind: MatchKind::Company, factor, frequency };
                let hits = self.hits(std::slice::from_ref(&form), &[gain]);
                TermMatches { word: term, forms: vec![form], weight: 0.0, hits }
            })
            .collect()
    }

    fn common_terms(&self, query: &ParsedQuery, best: &[ScoredDoc]) -> Vec<(String, f64)> {
        let top = best.first().map_or(1.0, |scored| scored.score);
        let mut terms: HashMap<String, f64> = HashMap::new();
        for scored in best {
            let Some((part, doc)) = self.view.doc(scored.doc) else { continue };
            let length = f64::from(part.segment.length(doc).max(1));
            for (term, count) in part.segment.first_terms(doc) {
                let text = part.segment.text(term);
                let is_asked = query.terms.iter().any(|asked| asked.term == text);
                if is_asked || text.chars().nth(1).is_none() {
                    continue;
                }
                let rarity = self.rarity.of(text, self.view.frequency(text));
                let weight = scored.score / top * rarity * f64::from(count) / length;
                *terms.entry(text.to_owned()).or_default() += weight;
            }
        }
        terms.into_iter().collect()
    }
}

/// Order of a ranking: by score, then newest first, then by file, so that it is deterministic.
pub(crate) fn compare(view: &IndexView, a: &ScoredDoc, b: &ScoredDoc) -> std::cmp::Ordering {
    let about = |scored: &ScoredDoc| {
        view.doc(scored.doc).map(|(part, doc)| {
            (std::cmp::Reverse(part.segment.changed(doc)), part.collection, part.segment.file(doc))
        })
    };
    b.score.total_cmp(&a.score).then_with(|| about(a).cmp(&about(b)))
}

/// Selects the best documents with bounded memory.
struct Best<'a> {
    view: &'a IndexView,
    count: usize,
    kept: Vec<ScoredDoc>,
    /// Score of the last of the best, once there are enough.
    floor: f64,
}

impl<'a> Best<'a> {
    fn new(view: &'a IndexView, count: usize) -> Self {
        Self { view, count, kept: Vec::new(), floor: 0.0 }
    }

    /// Whether a document with this score may be among the best.
    fn may_take(&self, score: f64) -> bool {
        self.count > 0 && score >= self.floor
    }

    fn offer(&mut self, scored: ScoredDoc) {
        if !self.may_take(scored.score) {
            return;
        }
        self.kept.push(scored);
        if self.kept.len() >= self.count.saturating_mul(4).max(64) {
            self.truncate();
        }
    }

    fn truncate(&mut self) {
        if self.kept.len() > self.count {
            let view = self.view;
            self.kept.select_nth_unstable_by(self.count, |a, b| compare(view, a, b));
            self.kept.truncate(self.count);
            self.floor = self.kept.iter().map(|kept| kept.score).fold(f64::MAX, f64::min);
        }
    }

    fn in_order(mut self) -> Vec<ScoredDoc> {
        self.truncate();
        self.kept.sort_by(|a, b| compare(self.view, a, b));
        self.kept
    }
}
