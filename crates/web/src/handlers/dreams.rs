//! Dreams: the list, and one with its changes.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::response::Response;
use axum::routing::get;
use dormouse_background::{DreamReport, dream_reports};
use dormouse_memory::{DiffFiles, FileDiff, StoreChange, StoreScope};

use super::reply;
use crate::error::ViewerError;
use crate::message_catalog::msg;
use crate::model::address;
use crate::model::memory_page::{ChangeView, changes};
use crate::pages::dreams::{self, DreamFile};
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
        let of_dream = changes(viewer, CHANGES, DiffFiles::All, |change| {
            change.entry.part_of.as_deref() == Some(&*id) && change.entry.undoes.is_none()
        })?;
        let known = viewer.memories().changes()?;
        let files = of_dream.into_iter().flat_map(|view| files(&view, &known)).collect::<Vec<_>>();
        Ok((msg!("dreams-title"), dreams::page(frame, &report, &files)))
    })
    .await
}

/// The files of a change, each with the address that brings back its former content: the version of the change before,
/// or for a new memory its removal.
fn files(view: &ChangeView, known: &[StoreChange]) -> Vec<DreamFile> {
    let take_back = |diff: &FileDiff| {
        let file = diff.file.as_str();
        if diff.before.is_none() {
            return Some(address::memory("remove", view.scope, file));
        }
        let touched = |change: &&StoreChange| {
            change.position == view.change.position
                && change.entry.id < view.change.entry.id
                && change.entry.files.iter().any(|(known, _)| *known == diff.file)
        };
        let before = known.iter().filter(touched).map(|change| change.entry.id).max()?;
        Some(format!("{}?change={before}", address::memory("restore", view.scope, file)))
    };
    let with_address = |diff: &FileDiff| DreamFile {
        view: view.clone(),
        diff: diff.clone(),
        take_back: take_back(diff),
    };
    view.files.iter().map(with_address).collect()
}
