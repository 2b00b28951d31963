//! BM25 over the terms of a query and their forms, expanded by terms that the best documents have in common.
//!
//! A pure function of view and query: the same documents give the same order, however the index was built.

use std::collections::HashMap;

use crate::query::{ParsedQuery, QueryTerm, QueryTermKind};
use crate::segment::DocumentFlags;
use crate::term_forms::{MatchKind, TermForm, TypoBudget, forms_of};
use crate::tuning::RankTuning;
use crate::view::{IndexView, ViewDocId};
use crate::words::Tokenizer;

/// Minimum rarity: a name that half of the documents have is still informative.
const RAREST_FLOOR: f64 = 1.0;
/// Bonus of a document that mentions a time, for a query that asks for one.
const TELLS_WHEN: f64 = 0.2;
/// Bonus of the newest document; half of it after a month, a third after two.
const RECENCY: f64 = 0.05;
const MONTH: f64 = 30.0 * 24.0 * 60.0 * 60.0;
/// How many of the best documents are used for expansion, and how many terms are taken from them.
const COMPANY_DOCS: usize = 4;
const COMPANY_TERMS: usize = 14;
/// Weight of an unknown name: the query is about something else.
const UNKNOWN_NAME: f64 = 2.0;

/// A document with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ScoredDoc {
    pub(crate) doc: ViewDocId,
    pub(crate) score: f64,
    /// Share of the query's weight that the document covers, 0 to 1.
    pub(crate) coverage: f64,
    /// How many of the query's terms it has; other forms count in part.
    pub(crate) terms: f64,
}

/// The matches of one query term.
#[derive(Debug, Clone)]
pub(crate) struct TermMatches {
    /// The word of the query; for an expansion term, the term itself.
    pub(crate) word: String,
    pub(crate) forms: Vec<TermForm>,
    /// Share of the query that the term is.
    weight: f64,
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

/// The best documents in order, and their matches.
#[derive(Debug, Clone, Default)]
pub(crate) struct ScoreResult {
    pub(crate) best: Vec<ScoredDoc>,
    /// Number of documents with any match.
    pub(crate) found: usize,
    pub(crate) matches: Vec<TermMatches>,
    /// Number of terms of the query.
    pub(crate) query_terms: usize,
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
    let mut scorer =
        Scorer { view, tuning: request.tuning, best: vec![(0.0, 0); view.slot_count()] };
    let mut typos = TypoBudget::ALL;
    let mut matches: Vec<TermMatches> =
        query.terms.iter().map(|asked| scorer.matches(words, asked, &mut typos)).collect();
    let mut sums = Sums::new(view, &matches);
    let mut first = Best::new(view, COMPANY_DOCS);
    for scored in sums.scored().filter(|scored| (request.admits)(scored.doc)) {
        first.offer(scored);
    }
    let company = scorer.company(query, &first.in_order());
    for term in &company {
        sums.add(term);
    }
    matches.extend(company);
    let mut best = Best::new(view, request.count);
    let mut found = 0;
    for mut scored in sums.scored().filter(|scored| (request.admits)(scored.doc)) {
        scored.score *= document_factor(view, scored.doc, query, request.now);
        found += 1;
        best.offer(scored);
    }
    ScoreResult { best: best.in_order(), found, matches, query_terms: query.terms.len() }
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

struct Scorer<'a> {
    view: &'a IndexView,
    tuning: RankTuning,
    /// Best gain of each document for the current term, and its form.
    best: Vec<(f64, u16)>,
}

impl Scorer<'_> {
    /// Inverse document frequency.
    fn rarity(&self, frequency: u32) -> f64 {
        let all = f64::from(self.view.live_count());
        let frequency = f64::from(frequency);
        (1.0 + (all - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
    }

    fn matches(
        &mut self,
        words: &Tokenizer,
        asked: &QueryTerm,
        typos: &mut TypoBudget,
    ) -> TermMatches {
        let forms = forms_of(self.view, words, asked, typos);
        let weight = self.weight(asked, &forms);
        let gains: Vec<f64> = forms
            .iter()
            .map(|form| {
                let rarity = self.rarity(form.frequency).max(RAREST_FLOOR);
                form.factor * rarity * asked.weight * asked.times
            })
            .collect();
        let hits = self.hits(&forms, &gains);
        TermMatches { word: asked.word.clone(), forms, weight, hits }
    }

    /// Share of the query that a term is: rare terms weigh more, unknown ones most.
    fn weight(&self, asked: &QueryTerm, forms: &[TermForm]) -> f64 {
        let most = self.rarity(0);
        let same = forms.iter().find(|form| form.kind == MatchKind::Same);
        let rarity = match same {
            Some(form) => self.rarity(form.frequency).max(RAREST_FLOOR).min(most),
            None if asked.kind == QueryTermKind::Name => most * UNKNOWN_NAME,
            None => most,
        };
        rarity * asked.weight * asked.times
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
                let gain = factor * self.rarity(frequency);
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
                let rarity = self.rarity(self.view.frequency(text));
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

    fn offer(&mut self, scored: ScoredDoc) {
        if self.count == 0 || scored.score < self.floor {
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

fn slot<T>(list: &mut [T], doc: ViewDocId) -> Option<&mut T> {
    usize::try_from(doc.0).ok().and_then(|at| list.get_mut(at))
}

/// Factor for the covered share of a query: the share to the power of 3/8, computed from square roots for speed.
fn by_share(share: f64) -> f64 {
    let fourth = share.sqrt().sqrt();
    fourth * fourth.sqrt()
}

#[derive(Clone, Copy, Default)]
struct Sum {
    gain: f64,
    company: f64,
    /// Weight of the query terms it has in any form, and weight by how well the forms match.
    touched: f64,
    covered: f64,
    terms: f64,
}

struct Sums {
    by_doc: Vec<Sum>,
    touched: Vec<ViewDocId>,
    /// Weight of the whole query.
    whole: f64,
}

impl Sums {
    fn new(view: &IndexView, matches: &[TermMatches]) -> Self {
        let whole = matches.iter().map(|found| found.weight).sum();
        let mut sums =
            Self { by_doc: vec![Sum::default(); view.slot_count()], touched: Vec::new(), whole };
        for found in matches {
            sums.add(found);
        }
        sums
    }

    fn add(&mut self, matches: &TermMatches) {
        let covers: Vec<f64> = matches.forms.iter().map(TermForm::cover).collect();
        // Expansion terms are not part of the query and cover nothing.
        let is_company = matches.forms.iter().any(|form| form.kind == MatchKind::Company);
        for hit in &matches.hits {
            let Some(sum) = slot(&mut self.by_doc, hit.doc) else { continue };
            if sum.gain == 0.0 && sum.company == 0.0 {
                self.touched.push(hit.doc);
            }
            if is_company {
                sum.company += hit.gain;
                continue;
            }
            let cover = covers.get(usize::from(hit.form)).copied().unwrap_or(0.0);
            sum.gain += hit.gain;
            sum.touched += matches.weight;
            sum.covered += matches.weight * cover;
            sum.terms += cover;
        }
    }

    /// All documents with a match. Documents that cover more of the query score higher.
    fn scored(&self) -> impl Iterator<Item = ScoredDoc> + '_ {
        let share = |part: f64| if self.whole > 0.0 { part / self.whole } else { 0.0 };
        self.touched.iter().filter_map(move |doc| {
            let sum = *self.by_doc.get(usize::try_from(doc.0).ok()?)?;
            let score = sum.gain * by_share(share(sum.touched)) + sum.company;
            Some(ScoredDoc { doc: *doc, score, coverage: share(sum.covered), terms: sum.terms })
        })
    }
}
