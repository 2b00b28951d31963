//! Sessions: list, transcript in parts, live, requests, checkpoints.

use std::convert::Infallible;
use std::path::Path as FilePath;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, Query, State};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use dormouse_base::MessageId;
use dormouse_conversation::transcript::session_file;
use futures_util::stream;
use serde::Deserialize;

use super::reply::{self, PageContent};
use crate::error::ViewerError;
use crate::message_catalog::msg;
use crate::model::address;
use crate::model::checkpoints::checkpoints;
use crate::model::session_list::{SessionQuery, ViewedSession, list};
use crate::model::transcript_part::{after, around, before};
use crate::pages::layout::Area;
use crate::pages::sessions::{self, SessionTab};
use crate::pages::transcript;
use crate::profile_page;
use crate::viewer::Viewer;

/// How often a followed transcript is looked at.
const FOLLOW: Duration = Duration::from_millis(400);

pub(super) fn routes() -> Router<Arc<Viewer>> {
    Router::new()
        .route("/sessions", get(all))
        .route("/session/{source}/{id}", get(to_transcript))
        .route("/session/{source}/{id}/transcript", get(view))
        .route("/session/{source}/{id}/transcript/part", get(part))
        .route("/session/{source}/{id}/follow", get(follow))
        .route("/session/{source}/{id}/requests", get(requests))
        .route("/session/{source}/{id}/checkpoints", get(turns))
}

/// The source and id in an address.
type SessionAddress = Path<(String, String)>;

/// A position in a transcript.
#[derive(Deserialize)]
struct PartQuery {
    before: Option<u64>,
    /// A message that the part is to have.
    message: Option<String>,
}

impl PartQuery {
    fn message(&self) -> Option<MessageId> {
        self.message.as_ref()?.parse().ok()
    }
}

async fn to_transcript(Path((source, id)): SessionAddress) -> Redirect {
    Redirect::permanent(&address::session(&address::encoded(&source), &id, "transcript"))
}

async fn all(State(viewer): State<Arc<Viewer>>, Query(query): Query<SessionQuery>) -> Response {
    reply::page(viewer, Area::Sessions, None, move |viewer, _| {
        let list = list(viewer, &query)?;
        Ok((msg!("sessions-title"), sessions::page(&list, &query)))
    })
    .await
}

/// The address of the page of a memory, by its path.
fn memory_link(viewer: &Viewer, path: &FilePath) -> Option<String> {
    let (store, file) = viewer.memories().memory_at(path)?;
    let mut stores = viewer.sources.stores.iter();
    let found = stores.find(|known| Arc::ptr_eq(&known.store, &store))?;
    Some(address::memory("view", found.scope, file.as_str()))
}

async fn view(
    State(viewer): State<Arc<Viewer>>,
    Path((source, id)): SessionAddress,
    Query(query): Query<PartQuery>,
) -> Response {
    reply::page(viewer, Area::Sessions, None, move |viewer, _| {
        let named = ViewedSession::of(viewer, &source, &id)?;
        let part = match query.message() {
            Some(message) => around(&named, message)?,
            None => before(&named, query.before)?,
        };
        let base = address::session(&source, &id, "transcript");
        // Only the newest part can grow.
        let follow = format!("{}?after={}", address::session(&source, &id, "follow"), part.end);
        let is_newest = query.before.is_none() && query.message().is_none();
        let follow = is_newest.then_some(follow.as_str());
        let content = transcript::page(&part, &base, follow, &|path| memory_link(viewer, path));
        shown(&named, SessionTab::Transcript, &content)
    })
    .await
}

fn shown(
    named: &ViewedSession<'_>,
    tab: SessionTab,
    content: &maud::Markup,
) -> Result<PageContent, ViewerError> {
    let title = named.title()?;
    let id = named.session.to_string();
    let page = sessions::session_frame((named.source.name, &id), &title, tab, content);
    Ok((title, page))
}

async fn part(
    State(viewer): State<Arc<Viewer>>,
    Path((source, id)): SessionAddress,
    Query(query): Query<PartQuery>,
) -> Response {
    reply::part(viewer, move |viewer| {
        let named = ViewedSession::of(viewer, &source, &id)?;
        let base = address::session(&source, &id, "transcript");
        Ok(transcript::fragment(&before(&named, query.before)?, &base, &|path| {
            memory_link(viewer, path)
        }))
    })
    .await
}

#[derive(Deserialize)]
struct FollowQuery {
    after: u64,
}

/// What a stream of new messages knows between two of them.
struct Follower {
    viewer: Arc<Viewer>,
    address: (String, String),
    position: u64,
}

impl Follower {
    /// Waits for new lines; none when the transcript can no longer be read.
    async fn next(mut self) -> Option<(Result<Event, Infallible>, Self)> {
        loop {
            tokio::time::sleep(FOLLOW).await;
            let (viewer, position) = (Arc::clone(&self.viewer), self.position);
            let (source, id) = self.address.clone();
            let read = tokio::task::spawn_blocking(move || {
                let named = ViewedSession::of(&viewer, &source, &id)?;
                let part = after(&named, position)?;
                let html = transcript::messages(&part, &|path| memory_link(&viewer, path));
                Ok::<_, ViewerError>((part.end, html.into_string()))
            });
            let (end, html) = read.await.ok()?.ok()?;
            if end > self.position {
                self.position = end;
                // The line ends of an event are its own.
                let event = Event::default().event("messages").data(html.replace('\r', ""));
                return Some((Ok(event), self));
            }
        }
    }
}

async fn follow(
    State(viewer): State<Arc<Viewer>>,
    Path(address): SessionAddress,
    Query(query): Query<FollowQuery>,
) -> Response {
    let follower = Follower { viewer, address, position: query.after };
    let events = stream::unfold(follower, Follower::next);
    Sse::new(events).keep_alive(KeepAlive::default()).into_response()
}

async fn requests(
    State(viewer): State<Arc<Viewer>>,
    Path((source, id)): SessionAddress,
) -> Response {
    reply::slow_page(viewer, Area::Sessions, None, move |viewer, _| {
        let named = ViewedSession::of(viewer, &source, &id)?;
        let path = named.source.folder.path().join(session_file(named.session).as_path());
        let content = match viewer.sources.profiler.profile(&path) {
            Ok(profile) => profile_page::profile(&profile),
            // A session without a response has nothing to show; that is no fault.
            Err(ViewerError::Profile(reason)) => sessions::no_requests(&reason),
            Err(error) => return Err(error),
        };
        shown(&named, SessionTab::Requests, &content)
    })
    .await
}

async fn turns(State(viewer): State<Arc<Viewer>>, Path((source, id)): SessionAddress) -> Response {
    reply::page(viewer, Area::Sessions, None, move |viewer, _| {
        let named = ViewedSession::of(viewer, &source, &id)?;
        let content = sessions::checkpoints(&checkpoints(&named)?);
        shown(&named, SessionTab::Checkpoints, &content)
    })
    .await
}
