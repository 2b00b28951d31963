//! Recalling: the indexes of several memory directories, asked as one.
//!
//! Invariant: what is given back was looked at just now. A memory that is gone, or in quarantine, is not in a
//! ranking for a model, whatever the index says (M-17).

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::{Dir, EntryKind, FileError};
use jiff::{SignedDuration, Timestamp};

use super::forms::Fit;
use super::index::Index;
use super::near::{DEPTH, Fused, Nearest, Nearness, VectorUse, Vectors, fused};
use super::question::Question;
use super::score::{Scored, Scores, Wanted, compare, score};
use super::segment::Marks;
use super::sure::is_sure;
use super::tuning::Tuning;
use super::view::{Spot, View};
use super::words::Words;
use crate::embed::{Embedder, Reach, VectorsFile};
use crate::store::state_folder;
use crate::{Anchor, AnchorCache, Entry, Freshness, MemoryFile, Scanned, Store, check_anchors};

/// How often others' changes are looked for, at most.
pub const LOOK_AGAIN: SignedDuration = SignedDuration::from_secs(2);
/// How many memories the selector is offered.
pub const CANDIDATES: usize = 200;
/// What is said by a memory about files that have changed, or are gone, is worth less (M-11).
const TOUCHED: f64 = 0.95;
const BROKEN: f64 = 0.8;
/// What was put in again and again and helped nobody is worth less, and covers less.
const NEVER_HELPED: f64 = 0.85;
/// How many memories beyond those wanted are looked at: their anchors may put them before others.
const SPARE: usize = 5;

/// Whether memories in quarantine are looked at: for a person they are, for a model never (M-17).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quarantined {
    /// They are not there.
    LeaveOut,
    /// They are.
    Include,
}

/// A question to the memories.
#[derive(Debug, Clone)]
pub struct Query<'a> {
    /// What was typed.
    pub text: &'a str,
    /// How many memories are wanted.
    pub limit: usize,
    /// Only those of this directory, by its place in the list; none: of all.
    pub shelf: Option<usize>,
    /// Those that are not: the directory's place in the list, and the file.
    pub exclude: &'a BTreeSet<(usize, MemoryFile)>,
    /// Whether memories in quarantine are looked at; never for a model.
    pub quarantined: Quarantined,
    /// The time.
    pub now: Timestamp,
}

/// Why a memory was found: one of its terms.
#[derive(Debug, Clone, PartialEq)]
pub struct TermWhy {
    /// The word that was asked for.
    pub word: String,
    /// The term that the memory has.
    pub term: String,
    /// How the two fit.
    pub fit: Fit,
    /// What it added to the score.
    pub gain: f64,
}

/// A memory that was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The place of its directory in the list of those that are searched.
    pub shelf: usize,
    /// Which.
    pub memory: Arc<Scanned>,
    /// How well it fits; more is better, and only within one ranking.
    pub score: f64,
    /// The share of the question that it covers, 0 to 1.
    pub coverage: f64,
    /// Whether it may be put into a conversation without asking.
    pub sure: bool,
    /// What is no longer as it says; none if all is, or nobody looked.
    pub stale: Option<Freshness>,
    /// Its places by words and by vectors; none where no vectors took part.
    pub nearness: Option<Nearness>,
    /// Why, what added most first.
    pub why: Vec<TermWhy>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Ranking {
    /// The memories, the best first.
    pub hits: Vec<Hit>,
    /// How many more had something that was asked for.
    pub passed_over: usize,
    /// How many memories were searched.
    pub searched: u32,
    /// How long ago others' changes were last looked for.
    pub age: SignedDuration,
    /// Whether vectors took part.
    pub vectors: VectorUse,
}

/// Of each directory, the files of the memories that cost and never helped.
type Sinking = Vec<Arc<BTreeSet<String>>>;

/// The memories in reach, ready to be asked.
pub struct Recall {
    shelves: Vec<Index>,
    words: Words,
    project: Option<(Dir, Mutex<AnchorCache>)>,
    pub(super) vectors: Option<Vectors>,
    tuning: Tuning,
}

impl Recall {
    /// Recalls from these stores. `cache` is the folder of derived indexes; where it can not be used, they live
    /// in memory.
    pub fn open(stores: Vec<Arc<Store>>, cache: Option<&Path>) -> Self {
        let shelves = stores.into_iter().map(|store| {
            // A cache that can not be made is no reason not to answer.
            let folder = cache.and_then(|cache| {
                let real = store.dir().path().canonicalize().ok()?;
                Dir::create(cache.join("recall").join(state_folder(&real))).ok()
            });
            Index::new(store, folder)
        });
        Self {
            shelves: shelves.collect(),
            words: Words::new(),
            project: None,
            vectors: None,
            tuning: Tuning::default(),
        }
    }

    /// Looks at the project's files as well: what memories say about them may no longer hold.
    #[must_use]
    pub fn with_project(self, root: Dir) -> Self {
        Self { project: Some((root, Mutex::default())), ..self }
    }

    /// Ranks by vectors as well, as far as memories have some of this model.
    #[must_use]
    pub fn with_embedder(self, embedder: Arc<dyn Embedder>) -> Self {
        let file = |index: &Index| index.folder().cloned().map(VectorsFile::new);
        let files = self.shelves.iter().map(file).collect();
        Self { vectors: Some(Vectors { embedder, files }), ..self }
    }

    /// Ranks by other numbers than those that ship: for measuring.
    pub fn tune(&mut self, tuning: Tuning) {
        self.tuning = tuning;
    }

    /// The store of a hit.
    pub fn store(&self, shelf: usize) -> Option<&Store> {
        self.shelves.get(shelf).map(Index::store)
    }

    /// Looks for what others have changed. To be called beside a query when [`Ranking::age`] says that it is
    /// due ([`LOOK_AGAIN`]), or before one that has to be up to date.
    pub fn look(&self, now: Timestamp) -> Result<(), FileError> {
        self.shelves.iter().try_for_each(|index| index.walk(&self.words, now))
    }

    /// How long ago others' changes were last looked for.
    pub fn age(&self, now: Timestamp) -> Result<SignedDuration, FileError> {
        let (_, walked) = self.view(now)?;
        Ok(now.duration_since(walked).max(SignedDuration::ZERO))
    }

    /// Asks. No network is waited for: somebody's turn may wait for the answer.
    pub fn query(&self, query: &Query<'_>) -> Result<Ranking, FileError> {
        self.ask(query, Reach::Here)
    }

    /// Asks for somebody who searches: a model on a server may be asked for the question's vector, and where it
    /// does not answer words alone decide.
    pub fn search(&self, query: &Query<'_>) -> Result<Ranking, FileError> {
        self.ask(query, Reach::Away)
    }

    fn ask(&self, query: &Query<'_>, reach: Reach) -> Result<Ranking, FileError> {
        let (view, walked) = self.view(query.now)?;
        let question = Question::read(&self.words, query.text);
        let admits = |spot: Spot| Self::admits(&view, spot, query);
        let nearest = self.vectors.as_ref().map_or_else(Nearest::default, |vectors| {
            vectors.nearest(&view, query.text, reach, &admits)
        });
        let mut count = query.limit.saturating_add(SPARE);
        if !nearest.order.is_empty() {
            count = count.max(DEPTH);
        }
        let wanted =
            Wanted { count, now: query.now.as_second(), admits: &admits, tuning: self.tuning };
        let scores = score(&view, &self.words, &question, &wanted);
        let order = fused(&scores.best, &nearest);
        let found = order.len().max(scores.found);
        let hits = self.hits(&view, &scores, order, query);
        let passed_over = found.saturating_sub(hits.len());
        let age = query.now.duration_since(walked).max(SignedDuration::ZERO);
        Ok(Ranking { hits, passed_over, searched: view.live(), age, vectors: nearest.vectors })
    }

    /// The memories that a selector is to choose from: all of them while they are few, else those that
    /// fit best, and then the newest.
    pub fn candidates(&self, query: &Query<'_>) -> Result<Vec<Hit>, FileError> {
        let mut hits = self.query(query)?.hits;
        let (view, _) = self.view(query.now)?;
        let sinking = self.sinking();
        let known: BTreeSet<(usize, MemoryFile)> =
            hits.iter().map(|hit| (hit.shelf, hit.memory.file.clone())).collect();
        let mut others: Vec<Scored> = view
            .all()
            .filter(|spot| Self::admits(&view, *spot, query))
            .map(|spot| Scored { spot, score: 0.0, coverage: 0.0, terms: 0.0 })
            .collect();
        others.sort_by(|a, b| compare(&view, a, b));
        for scored in others {
            if hits.len() >= query.limit {
                break;
            }
            let hit = self.hit(&view, &scored, query.quarantined, &sinking);
            hits.extend(hit.filter(|hit| !known.contains(&(hit.shelf, hit.memory.file.clone()))));
        }
        Ok(hits)
    }

    pub(super) fn view(&self, now: Timestamp) -> Result<(View, Timestamp), FileError> {
        let mut parts = Vec::new();
        let mut oldest = now;
        for (shelf, index) in self.shelves.iter().enumerate() {
            let (of_index, walked) = index.parts(&self.words, shelf, now)?;
            parts.extend(of_index);
            oldest = oldest.min(walked);
        }
        Ok((View::new(parts), oldest))
    }

    fn admits(view: &View, spot: Spot, query: &Query<'_>) -> bool {
        let Some((part, doc)) = view.doc(spot) else { return false };
        if query.shelf.is_some_and(|shelf| shelf != part.shelf) {
            return false;
        }
        let marks = part.segment.marks(doc);
        if marks.has(Marks::BLANK)
            || (marks.has(Marks::QUARANTINED) && query.quarantined == Quarantined::LeaveOut)
        {
            return false;
        }
        if query.exclude.is_empty() {
            return true;
        }
        let file = MemoryFile::existing(part.segment.file(doc));
        file.is_ok_and(|file| !query.exclude.contains(&(part.shelf, file)))
    }

    fn hits(&self, view: &View, scores: &Scores, order: Vec<Fused>, query: &Query<'_>) -> Vec<Hit> {
        let (mut whys, sinking) = (whys(view, scores), self.sinking());
        let mut hits: Vec<Hit> = order
            .into_iter()
            .take(query.limit.saturating_add(SPARE))
            .filter_map(|Fused { scored, place, nearness }| {
                let mut hit = self.hit(view, &scored, query.quarantined, &sinking)?;
                hit.sure = is_sure(self.tuning, hit.coverage, scored.terms, scores.asked);
                let why = place.and_then(|place| whys.get_mut(place));
                hit.why = why.map(std::mem::take).unwrap_or_default();
                hit.nearness = nearness;
                Some(hit)
            })
            .collect();
        // The sort keeps the order of equals, which is that of the ranking.
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.truncate(query.limit);
        hits
    }

    /// A memory as its file is now; none if it may not be given back any more.
    fn hit(
        &self,
        view: &View,
        scored: &Scored,
        quarantined: Quarantined,
        sinking: &Sinking,
    ) -> Option<Hit> {
        let (part, doc) = view.doc(scored.spot)?;
        let memory = read(self.store(part.shelf)?, part.segment.file(doc))?;
        if memory.header.quarantined && quarantined == Quarantined::LeaveOut {
            return None;
        }
        let stale = self.stale(&memory);
        let worth = match stale {
            None | Some(Freshness::Fresh) => 1.0,
            Some(Freshness::Touched) => TOUCHED,
            Some(Freshness::SymbolGone | Freshness::FileGone) => BROKEN,
        };
        // A pinned one is wanted as it is.
        let sinks =
            sinking.get(part.shelf).is_some_and(|files| files.contains(memory.file.as_str()));
        let help = if sinks && !memory.header.pinned { NEVER_HELPED } else { 1.0 };
        Some(Hit {
            shelf: part.shelf,
            memory: Arc::new(memory),
            score: scored.score * worth * help,
            coverage: scored.coverage * help,
            sure: false,
            stale,
            nearness: None,
            why: Vec::new(),
        })
    }

    /// The memories that never helped, looked up once for a whole ranking.
    fn sinking(&self) -> Sinking {
        self.shelves.iter().map(|index| index.store().never_helped_files()).collect()
    }

    /// The worst of what became of a memory's anchors.
    fn stale(&self, memory: &Scanned) -> Option<Freshness> {
        let (root, cache) = self.project.as_ref()?;
        let anchors: Vec<Anchor> =
            memory.header.anchors.iter().filter_map(|text| Anchor::parse(text)).collect();
        let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
        let worst = check_anchors(root, &anchors, &mut cache).into_iter().max()?;
        (worst != Freshness::Fresh).then_some(worst)
    }
}

/// Which terms brought each of the best memories up, what added most first.
fn whys(view: &View, scores: &Scores) -> Vec<Vec<TermWhy>> {
    let mut whys = vec![Vec::new(); scores.best.len()];
    // Where a memory stands among the best: one look for each of very many matches.
    let mut places = vec![u16::MAX; view.spots()];
    for (place, scored) in (0..u16::MAX).zip(&scores.best) {
        if let Some(slot) = usize::try_from(scored.spot.0).ok().and_then(|at| places.get_mut(at)) {
            *slot = place;
        }
    }
    for matches in &scores.matches {
        for hit in &matches.hits {
            let place = usize::try_from(hit.spot.0).ok().and_then(|at| places.get(at));
            let why = place.and_then(|place| whys.get_mut(usize::from(*place)));
            if let (Some(why), Some(form)) = (why, matches.form(hit)) {
                let (word, term) = (matches.word.clone(), form.term.clone());
                why.push(TermWhy { word, term, fit: form.fit, gain: hit.gain });
            }
        }
    }
    for why in &mut whys {
        why.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    }
    whys
}

fn read(store: &Store, file: &str) -> Option<Scanned> {
    let file = MemoryFile::existing(file).ok()?;
    let entry = store.dir().entry(file.path()).ok()?;
    if entry.kind != EntryKind::File {
        return None;
    }
    let (bytes, _) = store.read(&file).ok()?;
    let header = Entry::read(&bytes, entry.size).header;
    let modified = Timestamp::try_from(entry.modified).unwrap_or_default();
    Some(Scanned { file, modified, size: entry.size, header })
}
