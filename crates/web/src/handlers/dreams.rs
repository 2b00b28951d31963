//! Dreams: the list, and one with its changes.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use dormouse_background::{DreamReport, dream_reports};
use dormouse_memory::StoreScope;

use super::reply;
use crate::error::ViewerError;
use crate::message_catalog::msg;
use crate::model::memory_page::changes;
use crate::pages::dreams;
use crate::pages::layout::Area;
use crate::viewer::Viewer;

/// The most changes of one dream.
const CHANGES: usize = 500;

pub(super) fn routes() -> Router<Arc<Viewer>> {
    Router::new().route("/dreams", get(all)).route("/dream/{id}", get(one))
}

/// The reports are with the project's store.
fn reports(viewer: &Viewer) -> Result<Vec<DreamReport>, ViewerError> {
    match viewer.store(StoreScope::Project) {
        Ok((_, store)) => Ok(dream_reports(store)?),
        Err(_) => Ok(Vec::new()),
    }
}

async fn all(State(viewer): State<Arc<Viewer>>) -> Response {
    reply::page(viewer, Area::Dreams, None, |viewer, _| {
        Ok((msg!("dreams-title"), dreams::list(&reports(viewer)?)))
    })
    .await
}

async fn one(State(viewer): State<Arc<Viewer>>, Path(id): Path<String>) -> Response {
    reply::page(viewer, Area::Dreams, None, move |viewer, frame| {
        let report = reports(viewer)?.into_iter().find(|report| report.id == id);
        let report = report.ok_or(ViewerError::NotFound)?;
        let of_dream = changes(viewer, CHANGES, |change| {
            change.entry.part_of.as_deref() == Some(&*id) && change.entry.undoes.is_none()
        })?;
        Ok((msg!("dreams-title"), dreams::page(frame, &report, &of_dream)))
    })
    .await
}
