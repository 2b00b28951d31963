//! The list of memories: by time, or ranked by a query as a session would rank it, and filtered.

use dormouse_memory::recall::{
    MemoryHit, MemoryQuery, QuarantineFilter, RecallAddition, recall_additions,
};
use dormouse_memory::{
    Age, Anchor, AnchorCache, FoundMemory, Freshness, MemoryType, MemoryUsage, StoreScope, Trust,
    check_anchors,
};
use serde::Deserialize;

use crate::error::ViewerError;
use crate::viewer::Viewer;

/// Memories on one page.
const PAGE: usize = 50;
/// The most memories of a ranking that are filtered: each of them is read.
const FILTERED: usize = 200;

/// What the form above the list asks for. An empty or unknown value filters nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ListQuery {
    pub(crate) q: String,
    pub(crate) r#type: String,
    pub(crate) scope: String,
    pub(crate) trust: String,
    pub(crate) age: String,
    pub(crate) anchors: String,
    pub(crate) state: String,
    pub(crate) page: usize,
}

impl ListQuery {
    /// Whether anything but the page is asked for.
    pub(crate) fn is_filtered(&self) -> bool {
        !self.q.trim().is_empty() || self.has_filter()
    }

    /// Whether memories are left out, whatever the query.
    fn has_filter(&self) -> bool {
        let fields =
            [&self.r#type, &self.scope, &self.trust, &self.age, &self.anchors, &self.state];
        fields.into_iter().any(|field| !field.trim().is_empty())
    }

    fn admits(&self, viewer: &Viewer, found: &FoundMemory, states: &mut AnchorStates<'_>) -> bool {
        let header = &found.memory.header;
        let kind = MemoryType::from_word(&self.r#type);
        let scope = StoreScope::from_word(&self.scope);
        let trust = Trust::from_word(&self.trust);
        let is_in_state = match self.state.as_str() {
            "quarantined" => header.quarantined,
            "pinned" => header.pinned,
            "never-helped" => usage(found).never_helped(),
            _ => true,
        };
        is_in_state
            && kind.is_none_or(|kind| header.kind == Some(kind))
            && scope.is_none_or(|scope| viewer.scope_at(found.position) == scope)
            && trust.is_none_or(|trust| header.effective_trust() == trust)
            && self.admits_age(viewer, found)
            && self.admits_anchors(states, found)
    }

    fn admits_age(&self, viewer: &Viewer, found: &FoundMemory) -> bool {
        let days = || found.age(viewer.now()).days();
        match self.age.as_str() {
            "day" => days() <= 1,
            "week" => days() <= 7,
            "month" => days() <= 30,
            "older" => days() > 90,
            _ => true,
        }
    }

    fn admits_anchors(&self, states: &mut AnchorStates<'_>, found: &FoundMemory) -> bool {
        let mut worst = || states.worst(&found.memory.header.anchors);
        match self.anchors.as_str() {
            "fresh" => worst() == Some(Freshness::Fresh),
            "changed" => worst() == Some(Freshness::Touched),
            "broken" => worst().is_some_and(Freshness::is_broken),
            "none" => found.memory.header.anchors.is_empty(),
            _ => true,
        }
    }
}

/// The states of anchors, each file looked at once.
pub(crate) struct AnchorStates<'a> {
    viewer: &'a Viewer,
    cache: AnchorCache,
}

impl<'a> AnchorStates<'a> {
    pub(crate) fn new(viewer: &'a Viewer) -> Self {
        Self { viewer, cache: AnchorCache::default() }
    }

    /// Each anchor with its state.
    pub(crate) fn of(&mut self, anchors: &[String]) -> Vec<(Anchor, Freshness)> {
        let anchors: Vec<Anchor> = anchors.iter().filter_map(|text| Anchor::parse(text)).collect();
        let states = check_anchors(&self.viewer.sources.project, &anchors, &mut self.cache);
        anchors.into_iter().zip(states).collect()
    }

    fn worst(&mut self, anchors: &[String]) -> Option<Freshness> {
        self.of(anchors).into_iter().map(|(_, state)| state).max()
    }
}

/// Why a memory has its place in a ranking.
pub(crate) struct RankReasons {
    pub(crate) hit: MemoryHit,
    pub(crate) addition: RecallAddition,
}

/// A memory in the list.
pub(crate) struct MemoryRow {
    pub(crate) scope: StoreScope,
    pub(crate) found: FoundMemory,
    pub(crate) age: Age,
    pub(crate) usage: MemoryUsage,
    pub(crate) rank: Option<RankReasons>,
}

/// A page of the list.
pub(crate) struct MemoryList {
    pub(crate) rows: Vec<MemoryRow>,
    /// Memories that match.
    pub(crate) matching: usize,
    /// All memories.
    pub(crate) all: usize,
    /// The page, from 0.
    pub(crate) page: usize,
    pub(crate) pages: usize,
}

/// The memories that a query asks for.
pub(crate) fn list(viewer: &Viewer, query: &ListQuery) -> Result<MemoryList, ViewerError> {
    let Listed { found, all, omitted } =
        if query.q.trim().is_empty() { newest(viewer, query)? } else { ranked(viewer, query)? };
    let mut states = AnchorStates::new(viewer);
    let admitted: Vec<(FoundMemory, Option<RankReasons>)> =
        found.into_iter().filter(|(found, _)| query.admits(viewer, found, &mut states)).collect();
    let matching = admitted.len() + omitted;
    let pages = matching.div_ceil(PAGE).max(1);
    let page = query.page.min(pages - 1);
    let shown = admitted.into_iter().skip(page * PAGE).take(PAGE);
    let rows = shown.map(|(found, rank)| row(viewer, found, rank)).collect();
    Ok(MemoryList { rows, matching, all, page, pages })
}

/// Memories in order, before they are filtered.
struct Listed {
    found: Vec<(FoundMemory, Option<RankReasons>)>,
    /// All memories.
    all: usize,
    /// Further ones that match and are not needed for the page.
    omitted: usize,
}

/// The memories by the times of their files, which costs no look into the history. Without a filter, only those up to the
/// page are opened.
fn newest(viewer: &Viewer, query: &ListQuery) -> Result<Listed, ViewerError> {
    let (found, all) = if query.has_filter() {
        let mut found = viewer.memories().list(None, QuarantineFilter::Include)?;
        found.sort_by_key(|found| std::cmp::Reverse(found.memory.modified));
        let all = found.len();
        (found, all)
    } else {
        viewer.memories().newest(query.page.saturating_add(1).saturating_mul(PAGE))?
    };
    let omitted = if query.has_filter() { 0 } else { all.saturating_sub(found.len()) };
    Ok(Listed { found: found.into_iter().map(|found| (found, None)).collect(), all, omitted })
}

/// The memories with a match, as a session ranks them, without asking a server for vectors.
fn ranked(viewer: &Viewer, query: &ListQuery) -> Result<Listed, ViewerError> {
    let has_filter = query.has_filter();
    let shown = query.page.saturating_add(1).saturating_mul(PAGE);
    let limit = if has_filter { FILTERED } else { shown };
    let query = MemoryQuery {
        quarantined: QuarantineFilter::Include,
        ..MemoryQuery::new(&query.q, limit, viewer.now())
    };
    let ranking = viewer.memories().recall().query(&query)?;
    // A session reads neither the repository's directory nor what is in quarantine.
    let is_read = |hit: &MemoryHit| {
        viewer.scope_at(hit.store_index) != StoreScope::Repo && !hit.memory.header.quarantined
    };
    let additions = recall_additions(query.text, &ranking.hits, is_read);
    let with_reasons = |(hit, addition): (MemoryHit, RecallAddition)| {
        let found = viewer.memories().found(&hit)?;
        Some((found, Some(RankReasons { hit, addition })))
    };
    let all = usize::try_from(ranking.searched).unwrap_or(usize::MAX);
    let omitted = if has_filter { 0 } else { ranking.omitted };
    let found = ranking.hits.into_iter().zip(additions).filter_map(with_reasons).collect();
    Ok(Listed { found, all, omitted })
}

fn row(viewer: &Viewer, found: FoundMemory, rank: Option<RankReasons>) -> MemoryRow {
    MemoryRow {
        scope: viewer.scope_at(found.position),
        age: found.age(viewer.now()),
        usage: usage(&found),
        found,
        rank,
    }
}

/// How often a memory was recalled and helped.
pub(crate) fn usage(found: &FoundMemory) -> MemoryUsage {
    found.store.usage().of(found.memory.file.as_str()).unwrap_or_default()
}
