//! Server-sent events: a line for every new version of a repository (T-15).

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{Extension, Path, State};
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use super::entries::repository;
use super::error::Refusal;
use super::request::{PeerAddress, caller};
use super::state::ServerState;
use crate::person::TeamRole;
use crate::repository_name::RepositoryName;
use crate::storage::RepoChange;
use crate::version::{EntityTag, RepoVersion};

/// Between two comments that keep proxies from closing a quiet stream.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Between two looks at the version without news.
const LOOK_AGAIN: Duration = Duration::from_mins(1);

/// A stream that somebody listens to.
struct Listener {
    state: Arc<ServerState>,
    headers: HeaderMap,
    peer: std::net::IpAddr,
    repo: RepositoryName,
    changes: Receiver<RepoChange>,
    /// The version that the client has.
    known: Option<EntityTag>,
    is_first: bool,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.state.metrics.stream_closed();
    }
}

/// `GET …/events`. The first event is the current version, unless `Last-Event-ID` names it.
pub(super) async fn events(
    State(state): State<Arc<ServerState>>,
    Extension(PeerAddress(peer)): Extension<PeerAddress>,
    Path(repo): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let repo = repository(repo)?;
    // Subscribed before the version is read: no change can fall between the two.
    let changes = state.store.changes();
    caller(&state, &headers, peer, Some(&repo), TeamRole::Read).await?;
    let known =
        headers.get("last-event-id").and_then(|id| EntityTag::parse(id.to_str().ok()?).ok());
    state.metrics.stream_opened();
    let listener = Listener { state, headers, peer, repo, changes, known, is_first: true };
    let events = stream::unfold(listener, |mut listener| async move {
        let event = listener.next().await?;
        Some((Ok::<_, Infallible>(event), listener))
    });
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response())
}

impl Listener {
    /// The next version; none when the server stops or the token was revoked.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if !std::mem::take(&mut self.is_first) {
                self.wait_for_change().await?;
            }
            let access =
                caller(&self.state, &self.headers, self.peer, Some(&self.repo), TeamRole::Read);
            let etag = access.await.ok()?.etag;
            if self.known.as_ref() != Some(&etag) {
                self.known = Some(etag.clone());
                return Some(
                    Event::default().event("version").id(etag.to_string()).data(etag.to_string()),
                );
            }
        }
    }

    async fn wait_for_change(&mut self) -> Option<()> {
        let known = self.known.as_ref().map_or(RepoVersion(0), EntityTag::version);
        loop {
            let change = tokio::select! {
                change = self.changes.recv() => change,
                () = self.state.stop.cancelled() => return None,
                // News may be lost with a connection to the database.
                () = tokio::time::sleep(LOOK_AGAIN) => return Some(()),
            };
            match change {
                Ok(change) if change.repo == self.repo && change.version > known => return Some(()),
                Ok(_) => {}
                // Some were missed: look at the current version.
                Err(RecvError::Lagged(_)) => return Some(()),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}
