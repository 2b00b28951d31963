//! The sessions of a folder of transcripts, and passages of them.

use std::collections::BTreeMap;

use dormouse_base::SessionId;
use dormouse_conversation::metrics::{MetricsFilter, MetricsSummary, summarize_metrics_by_session};
use dormouse_conversation::transcript::{
    Passage, SessionHead, search_sessions, session_head, session_heads,
};
use serde::Deserialize;

use crate::error::ViewerError;
use crate::viewer::{TranscriptSource, Viewer};

/// Sessions on one page.
const PAGE: usize = 40;
/// Passages that a search shows.
const PASSAGES: usize = 40;

/// What the form above the list asks for.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SessionQuery {
    pub(crate) q: String,
    pub(crate) source: String,
    pub(crate) page: usize,
}

/// What was found in a folder of transcripts.
pub(crate) enum SessionResults {
    /// Sessions, newest first.
    Heads { heads: Vec<SessionHead>, all: usize, page: usize, pages: usize },
    /// Passages with the words of a query, best first.
    Passages(Vec<Passage>),
}

/// The sessions of one source.
pub(crate) struct SessionList {
    pub(crate) source: &'static str,
    pub(crate) sources: Vec<&'static str>,
    pub(crate) results: SessionResults,
    /// The figures of its sessions, where there are any.
    pub(crate) known: BTreeMap<SessionId, MetricsSummary>,
}

pub(crate) fn list(viewer: &Viewer, query: &SessionQuery) -> Result<SessionList, ViewerError> {
    let sources: Vec<&'static str> =
        viewer.sources.sessions.iter().map(|source| source.name).collect();
    let chosen = viewer.session_source(&query.source).ok().or(viewer.sources.sessions.first());
    let Some(TranscriptSource { name, folder }) = chosen else {
        let results = SessionResults::Heads { heads: Vec::new(), all: 0, page: 0, pages: 1 };
        return Ok(SessionList { source: "dormouse", sources, results, known: BTreeMap::new() });
    };
    let results = if query.q.trim().is_empty() {
        let (heads, all) = session_heads(folder, query.page.saturating_mul(PAGE), PAGE)?;
        SessionResults::Heads { heads, all, page: query.page, pages: all.div_ceil(PAGE).max(1) }
    } else {
        SessionResults::Passages(search_sessions(folder, &query.q, PASSAGES)?)
    };
    let known = match &results {
        SessionResults::Heads { heads, .. } => known(viewer, heads)?,
        SessionResults::Passages(_) => BTreeMap::new(),
    };
    Ok(SessionList { source: name, sources, results, known })
}

/// The figures of sessions. Nothing older than the first of them is read.
fn known(
    viewer: &Viewer,
    heads: &[SessionHead],
) -> Result<BTreeMap<SessionId, MetricsSummary>, ViewerError> {
    let begun = heads.iter().map(|head| head.session.time()).min();
    let project = Some(viewer.sources.project_key.clone());
    let filter = MetricsFilter { since: begun.flatten(), session: None, project };
    let mut all = summarize_metrics_by_session(&viewer.sources.metrics, &filter)?;
    all.retain(|session, _| heads.iter().any(|head| head.session == *session));
    Ok(all)
}

/// A session of a source, as an address names it.
pub(crate) struct ViewedSession<'a> {
    pub(crate) source: &'a TranscriptSource,
    pub(crate) session: SessionId,
}

impl<'a> ViewedSession<'a> {
    pub(crate) fn of(viewer: &'a Viewer, source: &str, id: &str) -> Result<Self, ViewerError> {
        let session = id.parse().map_err(|_| ViewerError::NotFound)?;
        Ok(Self { source: viewer.session_source(source)?, session })
    }

    /// What the user first said in it, or its id.
    pub(crate) fn title(&self) -> Result<String, ViewerError> {
        let head = session_head(&self.source.folder, self.session)?;
        Ok(head.title.unwrap_or_else(|| self.session.to_string()))
    }
}
