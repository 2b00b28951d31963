//! Requests: which page an address is, and what a form changes.

mod changes;
mod dreams;
mod figures;
mod memories;
mod reply;
mod sessions;
mod team;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;

use crate::error::ViewerError;
use crate::viewer::Viewer;

pub(crate) fn routes() -> Router<Arc<Viewer>> {
    Router::new()
        .merge(memories::routes())
        .merge(changes::routes())
        .merge(sessions::routes())
        .merge(dreams::routes())
        .merge(figures::routes())
        .merge(team::routes())
}

/// No page has this address.
pub(crate) async fn not_found(State(viewer): State<Arc<Viewer>>) -> Response {
    reply::page(viewer, None, None, |_, _| Err(ViewerError::NotFound)).await
}

/// Opens the ranking before the first search asks for it.
pub(crate) fn warm_up(viewer: &Arc<Viewer>) {
    let viewer = Arc::clone(viewer);
    // What fails here fails again where it can be shown.
    drop(tokio::task::spawn_blocking(move || drop(viewer.memories().recall().age(viewer.now()))));
}
