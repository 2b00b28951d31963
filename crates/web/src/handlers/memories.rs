//! Memories: list, one memory, editing, removing, confirming.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Form, Path, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use dormouse_memory::{
    ChangeError, ChangeOrigin, ChangeOutcome, Expected, MemoryEntry, StoreScope, lint_text,
};
use serde::Deserialize;

use super::reply::{self, Done, FormResult, PageContent};
use crate::error::ViewerError;
use crate::message_catalog::msg;
use crate::model::address;
use crate::model::memory_list::{ListQuery, list};
use crate::model::memory_page::{MemoryPage, ViewedMemory, history};
use crate::pages::edit::{EditObstacle, EditView};
use crate::pages::layout::{Area, PageFrame};
use crate::pages::{changes, edit, memories, memory};
use crate::viewer::Viewer;

pub(super) fn routes() -> Router<Arc<Viewer>> {
    Router::new()
        .route("/", get(all))
        .route("/memories/results", get(results))
        .route("/memory/view/{scope}/{*file}", get(view))
        .route("/memory/edit/{scope}/{*file}", get(edit_text))
        .route("/memory/history/{scope}/{*file}", get(of_one))
        .route("/memory/preview/{scope}/{*file}", post(preview))
        .route("/memory/save/{scope}/{*file}", post(save))
        .route("/memory/remove/{scope}/{*file}", post(remove))
        .route("/memory/confirm/{scope}/{*file}", post(confirm))
}

/// The scope and file in an address.
type MemoryAddress = Path<(String, String)>;

async fn all(
    State(viewer): State<Arc<Viewer>>,
    Query(query): Query<ListQuery>,
    Query(done): Query<Done>,
) -> Response {
    reply::page(viewer, Area::Memories, Some(done), move |viewer, _| {
        // A search that was asked for sees what other programs wrote; one while the user types sees it the next time.
        if !query.q.trim().is_empty() {
            viewer.update_index();
        }
        let list = list(viewer, &query)?;
        let scopes: Vec<StoreScope> =
            viewer.sources.stores.iter().map(|store| store.scope).collect();
        Ok((msg!("memories-title"), memories::page(&list, &query, &scopes)))
    })
    .await
}

/// The results alone, while the user types. Changes by other programs are looked for afterwards.
async fn results(State(viewer): State<Arc<Viewer>>, Query(query): Query<ListQuery>) -> Response {
    let response = reply::part(Arc::clone(&viewer), move |viewer| {
        Ok(memories::results(&list(viewer, &query)?, &query))
    })
    .await;
    drop(tokio::task::spawn_blocking(move || viewer.update_index()));
    response
}

async fn view(
    State(viewer): State<Arc<Viewer>>,
    Path((scope, file)): MemoryAddress,
    Query(done): Query<Done>,
) -> Response {
    reply::page(viewer, Area::Memories, Some(done), move |viewer, frame| {
        let named = ViewedMemory::of(viewer, &scope, &file)?;
        let page = match MemoryPage::of(viewer, &named) {
            Err(ViewerError::NotFound) => {
                let trashed = named.removed()?.ok_or(ViewerError::NotFound)?;
                let content = memory::removed_page(frame, named.scope, &trashed);
                return Ok((trashed.name, content));
            }
            page => page?,
        };
        Ok((page.found.memory.name().to_owned(), memory::page(frame, &page)))
    })
    .await
}

async fn of_one(State(viewer): State<Arc<Viewer>>, Path((scope, file)): MemoryAddress) -> Response {
    reply::page(viewer, Area::Memories, None, move |viewer, frame| {
        let named = ViewedMemory::of(viewer, &scope, &file)?;
        let views = history(viewer, &named)?;
        let name = named.file.stem().to_owned();
        let back = address::memory("view", named.scope, named.file.as_str());
        Ok((name.clone(), changes::history_page(frame, &name, &back, &views)))
    })
    .await
}

async fn edit_text(
    State(viewer): State<Arc<Viewer>>,
    Path((scope, file)): MemoryAddress,
) -> Response {
    reply::page(viewer, Area::Memories, None, move |viewer, frame| {
        let named = ViewedMemory::of(viewer, &scope, &file)?;
        if !frame.can_change() {
            return Err(ViewerError::ReadOnly);
        }
        let (text, _) = named.text()?;
        let view = edit_view(&named, text)?;
        Ok((view.name.clone(), edit::edit_page(frame, &view)))
    })
    .await
}

/// A memory's text as a form sends it, with the hash of what the user began with.
#[derive(Deserialize)]
struct EditForm {
    token: String,
    hash: String,
    text: String,
    #[serde(default)]
    allow_secret: String,
}

/// An edit of this text.
fn edit_view(named: &ViewedMemory<'_>, text: String) -> Result<EditView, ViewerError> {
    let (current, hash) = named.text()?;
    let entry = MemoryEntry::read(current.as_bytes(), current.len() as u64);
    let file = named.file.as_str();
    let to = |action: &str| address::memory(action, named.scope, file);
    let findings = lint_text(file, text.as_bytes(), dormouse_secrets::scan);
    Ok(EditView {
        name: entry.header.name.unwrap_or_else(|| named.file.stem().to_owned()),
        back: to("view"),
        preview: to("preview"),
        save: to("save"),
        text,
        current,
        hash: hash.to_string(),
        findings,
        obstacle: None,
    })
}

/// The text of a form with the line ends of the memory: browsers send both characters.
fn with_own_line_ends(text: &str, current: &str) -> String {
    let plain = text.replace("\r\n", "\n");
    if current.contains("\r\n") { plain.replace('\n', "\r\n") } else { plain }
}

fn submitted(named: &ViewedMemory<'_>, form: &EditForm) -> Result<EditView, ViewerError> {
    let (current, _) = named.text()?;
    let mut view = edit_view(named, with_own_line_ends(&form.text, &current))?;
    if view.hash != form.hash {
        view.obstacle = Some(EditObstacle::Changed);
    }
    Ok(view)
}

/// Shows what would change. Nothing is written.
async fn preview(
    State(viewer): State<Arc<Viewer>>,
    Path((scope, file)): MemoryAddress,
    Form(form): Form<EditForm>,
) -> Response {
    reply::page(viewer, Area::Memories, None, move |viewer, frame| {
        viewer.access.check_form(&form.token).map_err(|_| ViewerError::OldForm)?;
        let named = ViewedMemory::of(viewer, &scope, &file)?;
        Ok(again(frame, &submitted(&named, &form)?))
    })
    .await
}

fn again(frame: &PageFrame<'_>, view: &EditView) -> PageContent {
    (view.name.clone(), edit::preview_page(frame, view))
}

/// Saves a text that was looked at, if the memory is still as it was then.
async fn save(
    State(viewer): State<Arc<Viewer>>,
    Path((scope, file)): MemoryAddress,
    Form(form): Form<EditForm>,
) -> Response {
    reply::change(viewer, Area::Memories, form.token.clone(), move |viewer, frame| {
        let named = ViewedMemory::of(viewer, &scope, &file)?;
        let mut view = submitted(&named, &form)?;
        if view.obstacle.is_some() {
            return Ok(FormResult::Again(again(frame, &view)));
        }
        let by = ChangeOrigin::user("edited in the viewer");
        let by = if form.allow_secret == "yes" { by.allowing_secrets() } else { by };
        let (_, hash) = named.text()?;
        let saved = named.store.change(&by, |plan| {
            plan.write(&named.file, view.text.as_bytes(), &Expected::Content(hash))
        });
        match saved {
            Ok(outcome) => {
                Ok(FormResult::Next(format!("{}?done={}", view.back, written(&outcome))))
            }
            Err(error) => {
                view.obstacle = Some(match error {
                    ChangeError::Stale { .. } => EditObstacle::Changed,
                    ChangeError::Secrets(found) => {
                        let rules: Vec<&str> = found.iter().map(|(_, found)| found.rule).collect();
                        EditObstacle::Secrets(rules.join(", "))
                    }
                    other => EditObstacle::Refused(other.to_string()),
                });
                Ok(FormResult::Again(again(frame, &view)))
            }
        }
    })
    .await
}

fn written(outcome: &ChangeOutcome) -> &'static str {
    match outcome {
        ChangeOutcome::Unchanged => "unchanged",
        ChangeOutcome::Written(_) | ChangeOutcome::Ask(_) | ChangeOutcome::InInbox(_) => "saved",
    }
}

/// A form that carries nothing but the token.
#[derive(Deserialize)]
pub(super) struct TokenForm {
    pub(super) token: String,
}

async fn remove(
    State(viewer): State<Arc<Viewer>>,
    Path((scope, file)): MemoryAddress,
    Form(form): Form<TokenForm>,
) -> Response {
    reply::change(viewer, Area::Memories, form.token, move |viewer, _| {
        let named = ViewedMemory::of(viewer, &scope, &file)?;
        let by = ChangeOrigin::user("removed in the viewer");
        named.store.change(&by, |plan| plan.delete(&named.file, &Expected::Present))?;
        Ok(FormResult::Next("/changes?done=removed#trash".to_owned()))
    })
    .await
}

/// Takes a memory out of quarantine (M-17).
async fn confirm(
    State(viewer): State<Arc<Viewer>>,
    Path((scope, file)): MemoryAddress,
    Form(form): Form<TokenForm>,
) -> Response {
    reply::change(viewer, Area::Memories, form.token, move |viewer, _| {
        let named = ViewedMemory::of(viewer, &scope, &file)?;
        let by = ChangeOrigin::user("confirmed in the viewer");
        named.store.change(&by, |plan| plan.confirm(&named.file))?;
        let back = address::memory("view", named.scope, named.file.as_str());
        Ok(FormResult::Next(format!("{back}?done=confirmed")))
    })
    .await
}
