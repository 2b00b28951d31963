//! Searching the memories of several stores as one collection.
//!
//! Invariant: every returned memory was read just now. A memory that was deleted or quarantined is not returned for a
//! model, whatever the index says (M-17).

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::{Dir, EntryKind, FileError};
use dormouse_search::{
    DocumentFlags, Embedder, EmbedderLocation, IndexView, QueryVector, RankRequest, RankTuning,
    RankedDoc, Ranker, VectorFile, ViewDocId, start_reading_lists,
};
use jiff::{SignedDuration, Timestamp};

use super::hit::{MemoryHit, MemoryQuery, MemoryRanking, QuarantineFilter};
use super::index::DirectoryIndex;
use crate::anchor::{Anchor, AnchorCache, Freshness, check as check_anchors};
use crate::entry::MemoryEntry;
use crate::names::MemoryFile;
use crate::scan::Scanned;
use crate::store::{Store, state_folder};

/// Factors for a memory about files that have changed or no longer exist (M-11).
const TOUCHED: f64 = 0.95;
const BROKEN: f64 = 0.8;
/// Factor for a memory that was often recalled and never helped, on score and confidence.
const NEVER_HELPED: f64 = 0.85;
/// Additional memories that are read: stale anchors may change the order.
const SPARE: usize = 5;

/// For each store, the files of the memories that were recalled and never helped.
type NeverHelped = Vec<Arc<BTreeSet<String>>>;

/// Search over the memories of several stores.
pub struct MemorySearch {
    indexes: Vec<DirectoryIndex>,
    ranker: Ranker,
    project: Option<(Dir, Mutex<AnchorCache>)>,
}

impl MemorySearch {
    /// Searches these stores. `cache` is the folder of derived indexes; without a usable one they are kept in memory.
    pub fn open(stores: Vec<Arc<Store>>, cache: Option<&Path>) -> Self {
        start_reading_lists();
        let indexes = stores.into_iter().map(|store| {
            // A cache that cannot be created is no reason to fail.
            let folder = cache.and_then(|cache| {
                let real = store.dir().path().canonicalize().ok()?;
                Dir::create(cache.join("recall").join(state_folder(&real))).ok()
            });
            DirectoryIndex::new(store, folder)
        });
        Self { indexes: indexes.collect(), ranker: Ranker::default(), project: None }
    }

    /// Checks the anchors of memories against the project's files.
    #[must_use]
    pub fn with_project(self, root: Dir) -> Self {
        Self { project: Some((root, Mutex::default())), ..self }
    }

    /// Ranks by vectors as well, as far as memories have vectors of this model.
    #[must_use]
    pub fn with_embedder(mut self, embedder: Arc<dyn Embedder>) -> Self {
        let file = |index: &DirectoryIndex| index.folder().cloned().map(VectorFile::new);
        let files = self.indexes.iter().map(file).collect();
        self.ranker.set_embedder(embedder, files);
        self
    }

    /// Replaces the measured parameters of the ranking, for benchmarks.
    pub fn tune(&mut self, tuning: RankTuning) {
        self.ranker.set_tuning(tuning);
    }

    /// The store of a hit.
    pub fn store(&self, store_index: usize) -> Option<&Store> {
        self.indexes.get(store_index).map(DirectoryIndex::store)
    }

    /// Looks for changes by other programs. Call it in parallel to a query when [`MemoryRanking::age`] exceeds
    /// [`RESCAN_INTERVAL`](super::RESCAN_INTERVAL), or before a query that must be up to date.
    pub fn rescan(&self, now: Timestamp) -> Result<(), FileError> {
        self.indexes.iter().try_for_each(|index| index.rescan(self.ranker.tokenizer(), now))
    }

    /// Time since changes by other programs were last looked for.
    pub fn age(&self, now: Timestamp) -> Result<SignedDuration, FileError> {
        let (_, scanned) = self.view(now)?;
        Ok(now.duration_since(scanned).max(SignedDuration::ZERO))
    }

    /// Ranks memories without using the network: a turn may wait for the result.
    pub fn query(&self, query: &MemoryQuery<'_>) -> Result<MemoryRanking, FileError> {
        self.rank(query, QueryVector::Asked(EmbedderLocation::Local))
    }

    /// The same with a vector of the text that [`MemorySearch::remote_vector`] made.
    pub fn query_with_vector(
        &self,
        query: &MemoryQuery<'_>,
        vector: &[f32],
    ) -> Result<MemoryRanking, FileError> {
        self.rank(query, QueryVector::Given(vector))
    }

    /// Ranks memories for an explicit search: a remote model may be asked for the vector of the query; if it does not
    /// answer, words alone decide.
    pub fn search(&self, query: &MemoryQuery<'_>) -> Result<MemoryRanking, FileError> {
        self.rank(query, QueryVector::Asked(EmbedderLocation::Remote))
    }

    fn rank(
        &self,
        query: &MemoryQuery<'_>,
        vector: QueryVector<'_>,
    ) -> Result<MemoryRanking, FileError> {
        let (view, scanned) = self.view(query.now)?;
        let request = RankRequest {
            text: query.text,
            files: query.files,
            count: query.limit.saturating_add(SPARE),
            now: query.now.as_second(),
            vector,
            admits: &|doc| Self::admits(&view, doc, query),
        };
        let ranked = self.ranker.rank(&view, &request);
        let hits = self.hits(&view, ranked.docs, query);
        Ok(MemoryRanking {
            omitted: ranked.found.saturating_sub(hits.len()),
            hits,
            searched: view.live_count(),
            age: query.now.duration_since(scanned).max(SignedDuration::ZERO),
            vectors: ranked.vectors,
        })
    }

    /// The memories that a selector may choose from: the best matches, then the newest, up to the limit.
    pub fn candidates(&self, query: &MemoryQuery<'_>) -> Result<Vec<MemoryHit>, FileError> {
        let mut hits = self.query(query)?.hits;
        let (view, _) = self.view(query.now)?;
        let never_helped = self.never_helped();
        let known: BTreeSet<(usize, MemoryFile)> =
            hits.iter().map(|hit| (hit.store_index, hit.memory.file.clone())).collect();
        for ranked in self.ranker.newest(&view, &|doc| Self::admits(&view, doc, query)) {
            if hits.len() >= query.limit {
                break;
            }
            let hit = self.hit(&view, ranked, query.quarantined, &never_helped);
            let is_new =
                |hit: &MemoryHit| !known.contains(&(hit.store_index, hit.memory.file.clone()));
            hits.extend(hit.filter(is_new));
        }
        Ok(hits)
    }

    /// The memories that are rules for the kind of task that a message asks for, newest first.
    pub(super) fn rules(&self, query: &MemoryQuery<'_>) -> Result<Vec<MemoryHit>, FileError> {
        let (view, _) = self.view(query.now)?;
        let never_helped = self.never_helped();
        let rules =
            self.ranker.standing_rules(&view, query.text, &|doc| Self::admits(&view, doc, query));
        let hit = |ranked| self.hit(&view, ranked, query.quarantined, &never_helped);
        Ok(rules.into_iter().filter_map(hit).collect())
    }

    pub(super) fn ranker(&self) -> &Ranker {
        &self.ranker
    }

    pub(super) fn view(&self, now: Timestamp) -> Result<(IndexView, Timestamp), FileError> {
        let mut segments = Vec::new();
        let mut oldest = now;
        for (store_index, index) in self.indexes.iter().enumerate() {
            let (of_index, scanned) = index.segments(self.ranker.tokenizer(), store_index, now)?;
            segments.extend(of_index);
            oldest = oldest.min(scanned);
        }
        Ok((IndexView::new(segments), oldest))
    }

    fn admits(view: &IndexView, doc: ViewDocId, query: &MemoryQuery<'_>) -> bool {
        let Some((part, doc)) = view.doc(doc) else { return false };
        if query.store_index.is_some_and(|store_index| store_index != part.collection) {
            return false;
        }
        let flags = part.segment.flags(doc);
        if flags.has(DocumentFlags::BLANK)
            || (flags.has(DocumentFlags::QUARANTINED)
                && query.quarantined == QuarantineFilter::Exclude)
        {
            return false;
        }
        if query.exclude.is_empty() {
            return true;
        }
        let file = MemoryFile::existing(part.segment.file(doc));
        file.is_ok_and(|file| !query.exclude.contains(&(part.collection, file)))
    }

    fn hits(
        &self,
        view: &IndexView,
        ranked: Vec<RankedDoc>,
        query: &MemoryQuery<'_>,
    ) -> Vec<MemoryHit> {
        let never_helped = self.never_helped();
        let mut hits: Vec<MemoryHit> = ranked
            .into_iter()
            .filter_map(|ranked| self.hit(view, ranked, query.quarantined, &never_helped))
            .collect();
        // A stable sort: equal scores keep the order of the ranking.
        hits.sort_by(|a, b| b.score.total_cmp(&a.score));
        hits.truncate(query.limit);
        hits
    }

    /// Reads a memory as its file is now; `None` if it may no longer be returned.
    fn hit(
        &self,
        view: &IndexView,
        ranked: RankedDoc,
        quarantined: QuarantineFilter,
        never_helped: &NeverHelped,
    ) -> Option<MemoryHit> {
        let (part, doc) = view.doc(ranked.doc)?;
        let memory = read(self.store(part.collection)?, part.segment.file(doc))?;
        if memory.header.quarantined && quarantined == QuarantineFilter::Exclude {
            return None;
        }
        let (name, description) = (&memory.header.name, &memory.header.description);
        let ranked =
            ranked.with_subject(self.ranker.tokenizer(), name.as_deref(), description.as_deref());
        let stale = self.stale(&memory);
        let freshness = match stale {
            None | Some(Freshness::Fresh) => 1.0,
            Some(Freshness::Touched) => TOUCHED,
            Some(Freshness::SymbolGone | Freshness::FileGone) => BROKEN,
        };
        let unhelpful = never_helped
            .get(part.collection)
            .is_some_and(|files| files.contains(memory.file.as_str()));
        // The user wants a pinned memory as it is.
        let help = if unhelpful && !memory.header.pinned { NEVER_HELPED } else { 1.0 };
        let confidence = ranked.confidence * help;
        Some(MemoryHit {
            store_index: part.collection,
            memory: Arc::new(memory),
            score: ranked.score * freshness * help,
            confidence,
            tier: ranked.tier(confidence),
            evidence: ranked.evidence,
            calibration: ranked.calibration,
            stale,
            fused_rank: ranked.fused_rank,
            matches: ranked.matches,
        })
    }

    /// The memories that never helped, read once for a whole ranking.
    fn never_helped(&self) -> NeverHelped {
        self.indexes.iter().map(|index| index.store().usage().never_helped_files()).collect()
    }

    /// The worst state of the anchors of a memory, if not fresh.
    fn stale(&self, memory: &Scanned) -> Option<Freshness> {
        let (root, cache) = self.project.as_ref()?;
        let anchors: Vec<Anchor> =
            memory.header.anchors.iter().filter_map(|text| Anchor::parse(text)).collect();
        let mut cache = cache.lock().unwrap_or_else(PoisonError::into_inner);
        let worst = check_anchors(root, &anchors, &mut cache).into_iter().max()?;
        (worst != Freshness::Fresh).then_some(worst)
    }
}

fn read(store: &Store, file: &str) -> Option<Scanned> {
    let file = MemoryFile::existing(file).ok()?;
    let entry = store.dir().entry(file.path()).ok()?;
    if entry.kind != EntryKind::File {
        return None;
    }
    let (bytes, _) = store.read(&file).ok()?;
    let header = MemoryEntry::read(&bytes, entry.size).header;
    let modified = Timestamp::try_from(entry.modified).unwrap_or_default();
    Some(Scanned { file, modified, size: entry.size, header })
}
