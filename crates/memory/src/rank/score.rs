//! BM25 over the terms of a question and their forms, widened by what the best memories have in common.
//!
//! A plain function of a view and a question: the same memories give the same order, however the index over
//! them came about.

use std::collections::HashMap;

use super::forms::{Fit, Form, Typos, forms};
use super::question::{Asked, AskedKind, Question};
use super::segment::Marks;
use super::tuning::Tuning;
use super::view::{Spot, View};
use super::words::Words;

/// The least that a term counts: a name that half of the memories have still tells whose they are.
const RAREST_FLOOR: f64 = 1.0;
/// A memory that tells when, for a question that asks when.
const TELLS_WHEN: f64 = 0.2;
/// What the newest memory gets on top; half of it a month later, a third after two.
const RECENCY: f64 = 0.05;
const MONTH: f64 = 30.0 * 24.0 * 60.0 * 60.0;
/// How many memories are asked for the company they keep, and how many terms are taken from them.
const COMPANY_MEMORIES: usize = 4;
const COMPANY_TERMS: usize = 14;
/// A name that no memory knows counts more than other unknown words: the question is about something else.
const UNKNOWN_NAME: f64 = 2.0;

/// A memory with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored {
    pub(crate) spot: Spot,
    pub(crate) score: f64,
    /// The share of the question's weight that the memory covers, 0 to 1.
    pub(crate) coverage: f64,
    /// How many of the question's terms it has; a form counts by how well it fits.
    pub(crate) terms: f64,
}

/// What one term of a question has found.
#[derive(Debug, Clone)]
pub(crate) struct Matches {
    /// The word that was asked for; for company the term itself.
    pub(crate) word: String,
    pub(crate) forms: Vec<Form>,
    /// How much of the question the term is.
    weight: f64,
    pub(crate) hits: Vec<Match>,
}

/// One memory that has a form of a term. There are many of them: they are small.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Match {
    /// What it adds to the score, before anything that concerns the memory as a whole.
    pub(crate) gain: f64,
    pub(crate) spot: Spot,
    /// Which form.
    pub(crate) form: u16,
}

impl Matches {
    pub(crate) fn form(&self, hit: &Match) -> Option<&Form> {
        self.forms.get(usize::from(hit.form))
    }
}

/// A ranking: the best memories in order, and why.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scores {
    pub(crate) best: Vec<Scored>,
    /// How many memories have anything that was asked for.
    pub(crate) found: usize,
    pub(crate) matches: Vec<Matches>,
    /// How many terms the question has.
    pub(crate) asked: usize,
}

/// Which memories are wanted.
pub(crate) struct Wanted<'a> {
    pub(crate) count: usize,
    /// In seconds.
    pub(crate) now: i64,
    pub(crate) admits: &'a dyn Fn(Spot) -> bool,
    pub(crate) tuning: Tuning,
}

/// Ranks the memories of a view.
pub(crate) fn score(
    view: &View,
    words: &Words,
    question: &Question,
    wanted: &Wanted<'_>,
) -> Scores {
    let mut scorer = Scorer { view, tuning: wanted.tuning, best: vec![(0.0, 0); view.spots()] };
    let mut typos = Typos::ALL;
    let mut matches: Vec<Matches> =
        question.asked.iter().map(|asked| scorer.matches(words, asked, &mut typos)).collect();
    let mut sums = Sums::new(view, &matches);
    let mut first = Best::new(view, COMPANY_MEMORIES);
    for scored in sums.scored().filter(|scored| (wanted.admits)(scored.spot)) {
        first.offer(scored);
    }
    let company = scorer.company(question, &first.in_order());
    for term in &company {
        sums.add(term);
    }
    matches.extend(company);
    let mut best = Best::new(view, wanted.count);
    let mut found = 0;
    for mut scored in sums.scored().filter(|scored| (wanted.admits)(scored.spot)) {
        scored.score *= whole_memory(view, scored.spot, question, wanted.now);
        found += 1;
        best.offer(scored);
    }
    Scores { best: best.in_order(), found, matches, asked: question.asked.len() }
}

/// What concerns a memory as a whole.
fn whole_memory(view: &View, spot: Spot, question: &Question, now: i64) -> f64 {
    let Some((part, doc)) = view.doc(spot) else { return 1.0 };
    let tells = question.asks_when && part.segment.marks(doc).has(Marks::TELLS_WHEN);
    let when = if tells { 1.0 + TELLS_WHEN } else { 1.0 };
    let age = now.saturating_sub(i64::from(part.segment.changed(doc))).max(0);
    // Ages beyond a century are all the same.
    let age = f64::from(u32::try_from(age).unwrap_or(u32::MAX));
    when * (1.0 + RECENCY / (1.0 + age / MONTH))
}

struct Scorer<'a> {
    view: &'a View,
    tuning: Tuning,
    /// The best gain of each memory for the term at hand, and by which form.
    best: Vec<(f64, u16)>,
}

impl Scorer<'_> {
    /// How rare a term is that this many memories have.
    fn rarity(&self, frequency: u32) -> f64 {
        let (all, frequency) = (f64::from(self.view.live()), f64::from(frequency));
        (1.0 + (all - frequency + 0.5).max(0.0) / (frequency + 0.5)).ln()
    }

    fn matches(&mut self, words: &Words, asked: &Asked, typos: &mut Typos) -> Matches {
        let forms = forms(self.view, words, asked, typos);
        let weight = self.weight(asked, &forms);
        let gains: Vec<f64> = forms
            .iter()
            .map(|form| {
                let rarity = self.rarity(form.frequency).max(RAREST_FLOOR);
                form.factor * rarity * asked.weight * asked.times
            })
            .collect();
        let hits = self.hits(&forms, &gains);
        Matches { word: asked.word.clone(), forms, weight, hits }
    }

    /// How much of the question a term is: the rarer the more, and most what no memory knows.
    fn weight(&self, asked: &Asked, forms: &[Form]) -> f64 {
        let most = self.rarity(0);
        let same = forms.iter().find(|form| form.fit == Fit::Same);
        let rarity = match same {
            Some(form) => self.rarity(form.frequency).max(RAREST_FLOOR).min(most),
            None if asked.kind == AskedKind::Name => most * UNKNOWN_NAME,
            None => most,
        };
        rarity * asked.weight * asked.times
    }

    /// The memories that have any of the forms, each with its best.
    fn hits(&mut self, forms: &[Form], gains: &[f64]) -> Vec<Match> {
        if let ([form], [gain]) = (forms, gains) {
            let mut hits = Vec::with_capacity(usize::try_from(form.frequency).unwrap_or(0));
            self.gains(form, *gain, |spot, gain| hits.push(Match { gain, spot, form: 0 }));
            return hits;
        }
        let mut touched = Vec::new();
        let mut best = std::mem::take(&mut self.best);
        for (place, (form, gain)) in (0..).zip(forms.iter().zip(gains)) {
            self.gains(form, *gain, |spot, gain| {
                let Some(best) = slot(&mut best, spot) else { return };
                if best.0 == 0.0 {
                    touched.push(spot);
                }
                if gain > best.0 {
                    *best = (gain, place);
                }
            });
        }
        let hits = touched.into_iter().filter_map(|spot| {
            let (gain, form) = std::mem::take(slot(&mut best, spot)?);
            Some(Match { gain, spot, form })
        });
        let hits = hits.collect();
        self.best = best;
        hits
    }

    /// What a form adds to each memory that has it.
    fn gains(&self, form: &Form, gain: f64, mut give: impl FnMut(Spot, f64)) {
        let Tuning { saturation, length: by, .. } = self.tuning;
        let by_length = saturation * by / self.view.average_length();
        self.view.postings(&form.term, |spot, count, length| {
            let count = f64::from(count);
            let norm = saturation * (1.0 - by) + by_length * f64::from(length);
            give(spot, gain * count * (saturation + 1.0) / (count + norm));
        });
    }

    /// What the best memories have in common beside what was asked for.
    fn company(&mut self, question: &Question, best: &[Scored]) -> Vec<Matches> {
        let mut terms = self.common_terms(question, best);
        terms.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        terms.truncate(COMPANY_TERMS);
        let most = terms.first().map_or(1.0, |(_, weight)| *weight);
        terms
            .into_iter()
            .map(|(term, weight)| {
                let frequency = self.view.frequency(&term);
                let factor = self.tuning.company * weight / most;
                let gain = factor * self.rarity(frequency);
                let form = Form { term: term.clone(), fit: Fit::Company, factor, frequency };
                let hits = self.hits(std::slice::from_ref(&form), &[gain]);
                Matches { word: term, forms: vec![form], weight: 0.0, hits }
            })
            .collect()
    }

    fn common_terms(&self, question: &Question, best: &[Scored]) -> Vec<(String, f64)> {
        let top = best.first().map_or(1.0, |scored| scored.score);
        let mut terms: HashMap<String, f64> = HashMap::new();
        for scored in best {
            let Some((part, doc)) = self.view.doc(scored.spot) else { continue };
            let length = f64::from(part.segment.length(doc).max(1));
            for (term, count) in part.segment.first_terms(doc) {
                let text = part.segment.text(term);
                let is_asked = question.asked.iter().any(|asked| asked.term == text);
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

/// The order of a ranking: the better first; among equals the newer, then by file, so that it is always the same.
pub(crate) fn compare(view: &View, a: &Scored, b: &Scored) -> std::cmp::Ordering {
    let about = |scored: &Scored| {
        view.doc(scored.spot).map(|(part, doc)| {
            (std::cmp::Reverse(part.segment.changed(doc)), part.shelf, part.segment.file(doc))
        })
    };
    b.score.total_cmp(&a.score).then_with(|| about(a).cmp(&about(b)))
}

/// The best of many: what can not be among them is let go at once.
struct Best<'a> {
    view: &'a View,
    count: usize,
    kept: Vec<Scored>,
    /// The score of the last of the best, once there are enough.
    floor: f64,
}

impl<'a> Best<'a> {
    fn new(view: &'a View, count: usize) -> Self {
        Self { view, count, kept: Vec::new(), floor: 0.0 }
    }

    fn offer(&mut self, scored: Scored) {
        if self.count == 0 || scored.score < self.floor {
            return;
        }
        self.kept.push(scored);
        if self.kept.len() >= self.count.saturating_mul(4).max(64) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if self.kept.len() > self.count {
            let view = self.view;
            self.kept.select_nth_unstable_by(self.count, |a, b| compare(view, a, b));
            self.kept.truncate(self.count);
            self.floor = self.kept.iter().map(|kept| kept.score).fold(f64::MAX, f64::min);
        }
    }

    fn in_order(mut self) -> Vec<Scored> {
        self.cut();
        self.kept.sort_by(|a, b| compare(self.view, a, b));
        self.kept
    }
}

fn slot<T>(list: &mut [T], spot: Spot) -> Option<&mut T> {
    usize::try_from(spot.0).ok().and_then(|at| list.get_mut(at))
}

/// What the covered share of a question makes of a sum: its power of 3/8, from roots, which are quick to draw.
fn by_share(share: f64) -> f64 {
    let fourth = share.sqrt().sqrt();
    fourth * fourth.sqrt()
}

#[derive(Clone, Copy, Default)]
struct Sum {
    gain: f64,
    company: f64,
    /// How much of the question it has in any form, and how much by how well the forms fit.
    touched: f64,
    covered: f64,
    terms: f64,
}

struct Sums {
    by_spot: Vec<Sum>,
    touched: Vec<Spot>,
    /// The weight of the question.
    whole: f64,
}

impl Sums {
    fn new(view: &View, matches: &[Matches]) -> Self {
        let whole = matches.iter().map(|found| found.weight).sum();
        let mut sums =
            Self { by_spot: vec![Sum::default(); view.spots()], touched: Vec::new(), whole };
        for found in matches {
            sums.add(found);
        }
        sums
    }

    fn add(&mut self, matches: &Matches) {
        let covers: Vec<f64> = matches.forms.iter().map(Form::cover).collect();
        // Company was not asked for: it covers nothing.
        let is_company = matches.forms.iter().any(|form| form.fit == Fit::Company);
        for hit in &matches.hits {
            let Some(sum) = slot(&mut self.by_spot, hit.spot) else { continue };
            if sum.gain == 0.0 && sum.company == 0.0 {
                self.touched.push(hit.spot);
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

    /// Every memory that was found. What has more of the question gets more of its sum.
    fn scored(&self) -> impl Iterator<Item = Scored> + '_ {
        let share = |part: f64| if self.whole > 0.0 { part / self.whole } else { 0.0 };
        self.touched.iter().filter_map(move |spot| {
            let sum = *self.by_spot.get(usize::try_from(spot.0).ok()?)?;
            let score = sum.gain * by_share(share(sum.touched)) + sum.company;
            Some(Scored { spot: *spot, score, coverage: share(sum.covered), terms: sum.terms })
        })
    }
}
