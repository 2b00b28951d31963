//! Changes, the trash, the inbox and doctor.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Form, Path, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use dormouse_memory::{ChangeId, ChangeOrigin, DiffFiles, ProposalId, StoreScope, undo_changes};
use serde::Deserialize;

use super::memories::TokenForm;
use super::reply::{self, Done, FormResult};
use crate::error::ViewerError;
use crate::message_catalog::msg;
use crate::model::address;
use crate::model::memory_page::{ViewedMemory, changes as newest_changes};
use crate::pages::changes::{SHOWN_FILES, TrashRow};
use crate::pages::doctor::StoreFindings;
use crate::pages::inbox::ProposalView;
use crate::pages::layout::Area;
use crate::pages::{changes, doctor, inbox};
use crate::viewer::Viewer;

/// Changes on the page.
const SHOWN: usize = 60;

pub(super) fn routes() -> Router<Arc<Viewer>> {
    Router::new()
        .route("/changes", get(all))
        .route("/change/{scope}/{id}/undo", post(undo))
        .route("/memory/restore/{scope}/{*file}", post(restore))
        .route("/inbox", get(waiting))
        .route("/inbox/{scope}/{id}/accept", post(accept))
        .route("/inbox/{scope}/{id}/refuse", post(refuse))
        .route("/doctor", get(findings))
        .route("/doctor/{scope}/fix", post(fix))
}

async fn all(State(viewer): State<Arc<Viewer>>, Query(done): Query<Done>) -> Response {
    reply::slow_page(viewer, Area::Changes, Some(done), |viewer, frame| {
        let views = newest_changes(viewer, SHOWN, DiffFiles::First(SHOWN_FILES), |_| true)?;
        let mut trash = Vec::new();
        for store in &viewer.sources.stores {
            let removed = store.store.history().trash()?.into_iter();
            trash.extend(removed.map(|trashed| TrashRow { scope: store.scope, trashed }));
        }
        Ok((msg!("changes-title"), changes::page(frame, &views, &trash)))
    })
    .await
}

fn scope_of(word: &str) -> Result<StoreScope, ViewerError> {
    StoreScope::from_word(word).ok_or(ViewerError::NotFound)
}

/// Undoes a change, with all others of the same dream.
async fn undo(
    State(viewer): State<Arc<Viewer>>,
    Path((scope, id)): Path<(String, u64)>,
    Form(form): Form<TokenForm>,
) -> Response {
    reply::change(viewer, Area::Changes, form.token, move |viewer, _| {
        let (position, _) = viewer.store(scope_of(&scope)?)?;
        let change = viewer.memories().change(position, ChangeId(id))?;
        let together = viewer.memories().with_same_task(change)?;
        match undo_changes(&together).error {
            Some(error) => Err(error.into()),
            None => Ok(FormResult::Next("/changes?done=undone".to_owned())),
        }
    })
    .await
}

#[derive(Deserialize)]
struct RestoreQuery {
    /// The change after which the memory had the wanted content; the last one before it was removed if none.
    change: Option<u64>,
}

async fn restore(
    State(viewer): State<Arc<Viewer>>,
    Path((scope, file)): Path<(String, String)>,
    Query(query): Query<RestoreQuery>,
    Form(form): Form<TokenForm>,
) -> Response {
    reply::change(viewer, Area::Changes, form.token, move |viewer, _| {
        let named = ViewedMemory::of(viewer, &scope, &file)?;
        // It was saved before, so secrets in it are not checked again.
        let by = ChangeOrigin::user("restored in the viewer").allowing_secrets();
        named.store.history().restore(&by, &named.file, query.change.map(ChangeId))?;
        let back = address::memory("view", named.scope, named.file.as_str());
        Ok(FormResult::Next(format!("{back}?done=restored")))
    })
    .await
}

async fn waiting(State(viewer): State<Arc<Viewer>>, Query(done): Query<Done>) -> Response {
    reply::page(viewer, Area::Inbox, Some(done), |viewer, frame| {
        let mut views = Vec::new();
        for store in &viewer.sources.stores {
            let list = store.store.inbox().list()?.into_iter();
            views.extend(list.map(|(id, time, proposal)| ProposalView {
                scope: store.scope,
                id,
                time,
                proposal,
            }));
        }
        Ok((msg!("inbox-title"), inbox::page(frame, &views)))
    })
    .await
}

/// Accepts a proposal, as it is or with texts that the user edited.
async fn accept(
    State(viewer): State<Arc<Viewer>>,
    Path((scope, id)): Path<(String, u64)>,
    Form(form): Form<HashMap<String, String>>,
) -> Response {
    let token = form.get("token").cloned().unwrap_or_default();
    reply::change(viewer, Area::Inbox, token, move |viewer, _| {
        let (_, store) = viewer.store(scope_of(&scope)?)?;
        let waiting = store.inbox().list()?.into_iter().find(|(known, ..)| known.0 == id);
        let (id, _, mut proposal) = waiting.ok_or(ViewerError::NotFound)?;
        let mut is_edited = false;
        for (index, file) in proposal.files.iter_mut().enumerate() {
            if let Some(text) = form.get(&format!("text{index}")).filter(|_| file.after.is_some()) {
                file.after = Some(text.replace("\r\n", "\n"));
                is_edited = true;
            }
        }
        store.inbox().accept(id, is_edited.then_some(&proposal))?;
        Ok(FormResult::Next("/inbox?done=accepted".to_owned()))
    })
    .await
}

async fn refuse(
    State(viewer): State<Arc<Viewer>>,
    Path((scope, id)): Path<(String, u64)>,
    Form(form): Form<TokenForm>,
) -> Response {
    reply::change(viewer, Area::Inbox, form.token, move |viewer, _| {
        let (_, store) = viewer.store(scope_of(&scope)?)?;
        store.inbox().refuse(ProposalId(id))?;
        Ok(FormResult::Next("/inbox?done=refused".to_owned()))
    })
    .await
}

async fn findings(State(viewer): State<Arc<Viewer>>, Query(done): Query<Done>) -> Response {
    reply::slow_page(viewer, Area::Doctor, Some(done), |viewer, frame| {
        let mut stores = Vec::new();
        for store in &viewer.sources.stores {
            stores.push(StoreFindings {
                scope: store.scope,
                folder: store.store.dir().path().display().to_string(),
                findings: store.store.doctor(Some(&viewer.sources.project))?,
            });
        }
        Ok((msg!("doctor-title"), doctor::page(frame, &stores)))
    })
    .await
}

async fn fix(
    State(viewer): State<Arc<Viewer>>,
    Path(scope): Path<String>,
    Form(form): Form<TokenForm>,
) -> Response {
    reply::change(viewer, Area::Doctor, form.token, move |viewer, _| {
        let (_, store) = viewer.store(scope_of(&scope)?)?;
        store.fix_index(&ChangeOrigin::user("index fixed"))?;
        Ok(FormResult::Next("/doctor?done=fixed".to_owned()))
    })
    .await
}
