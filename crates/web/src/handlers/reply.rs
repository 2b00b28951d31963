//! Replies: pages, changes and errors. Files are read on threads of their own, so that one slow page does not hold up others.

use std::sync::Arc;

use axum::http::StatusCode;
use axum::response::{Html, IntoResponse, Redirect, Response};
use dormouse_memory::ChangeError;
use maud::{Markup, html};
use serde::Deserialize;

use crate::error::ViewerError;
use crate::message_catalog::msg;
use crate::pages::layout::{Area, PageFrame};
use crate::viewer::{Viewer, ViewerMode};

/// What was just done, as the address of the next page says it.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Done {
    #[serde(default)]
    pub(super) done: String,
}

impl Done {
    fn notice(&self) -> Option<String> {
        Some(match self.done.as_str() {
            "saved" => msg!("done-saved"),
            "unchanged" => msg!("done-unchanged"),
            "removed" => msg!("done-removed"),
            "confirmed" => msg!("done-confirmed"),
            "restored" => msg!("done-restored"),
            "undone" => msg!("done-undone"),
            "accepted" => msg!("done-accepted"),
            "refused" => msg!("done-refused"),
            "fixed" => msg!("done-fixed"),
            _ => return None,
        })
    }
}

/// A title and the content below it.
pub(super) type PageContent = (String, Markup);

/// A page, or a page that says why there is none.
pub(super) async fn page(
    viewer: Arc<Viewer>,
    area: impl Into<Option<Area>>,
    done: Option<Done>,
    work: impl FnOnce(&Viewer, &PageFrame<'_>) -> Result<PageContent, ViewerError> + Send + 'static,
) -> Response {
    blocking(page_work(viewer, area.into(), done, work)).await
}

/// A page that reads much: made when no other of this kind is.
pub(super) async fn slow_page(
    viewer: Arc<Viewer>,
    area: Area,
    done: Option<Done>,
    work: impl FnOnce(&Viewer, &PageFrame<'_>) -> Result<PageContent, ViewerError> + Send + 'static,
) -> Response {
    let work = page_work(Arc::clone(&viewer), Some(area), done, work);
    viewer.slow_pages.make(work).await.unwrap_or_else(|error| plain_error(&error))
}

fn page_work(
    viewer: Arc<Viewer>,
    area: Option<Area>,
    done: Option<Done>,
    work: impl FnOnce(&Viewer, &PageFrame<'_>) -> Result<PageContent, ViewerError> + Send + 'static,
) -> impl FnOnce() -> Response + Send + 'static {
    move || {
        let frame = frame(&viewer, done.as_ref().and_then(Done::notice));
        match work(&viewer, &frame) {
            Ok((title, content)) => frame.page(area, &title, &content).into_response(),
            Err(error) => error_page(&frame, area, &error),
        }
    }
}

/// A part of a page, for a script.
pub(super) async fn part(
    viewer: Arc<Viewer>,
    work: impl FnOnce(&Viewer) -> Result<Markup, ViewerError> + Send + 'static,
) -> Response {
    blocking(move || match work(&viewer) {
        Ok(content) => Html(content.into_string()).into_response(),
        Err(error) => plain_error(&error),
    })
    .await
}

/// What a form led to.
pub(super) enum FormResult {
    /// Done: where to go next.
    Next(String),
    /// Not done: a page that says why and keeps what the user typed.
    Again(PageContent),
}

/// A change by a form: refused without the token of the page, and where the viewer only reads.
pub(super) async fn change(
    viewer: Arc<Viewer>,
    area: Area,
    token: String,
    work: impl FnOnce(&Viewer, &PageFrame<'_>) -> Result<FormResult, ViewerError> + Send + 'static,
) -> Response {
    blocking(move || {
        let frame = frame(&viewer, None);
        let result = if viewer.access.check_form(&token).is_err() {
            Err(ViewerError::OldForm)
        } else if viewer.mode == ViewerMode::ReadOnly {
            Err(ViewerError::ReadOnly)
        } else {
            work(&viewer, &frame)
        };
        match result {
            Ok(FormResult::Next(address)) => Redirect::to(&address).into_response(),
            Ok(FormResult::Again((title, content))) => {
                (StatusCode::CONFLICT, frame.page(Some(area), &title, &content)).into_response()
            }
            Err(error) => error_page(&frame, Some(area), &error),
        }
    })
    .await
}

async fn blocking(work: impl FnOnce() -> Response + Send + 'static) -> Response {
    tokio::task::spawn_blocking(work).await.unwrap_or_else(|_| plain_error(&ViewerError::CutOff))
}

fn plain_error(error: &ViewerError) -> Response {
    (status(error), error.to_string()).into_response()
}

fn frame(viewer: &Viewer, notice: Option<String>) -> PageFrame<'_> {
    PageFrame {
        token: viewer.access.form_token(),
        mode: viewer.mode,
        // The inbox page says what is wrong with an inbox that cannot be read.
        waiting: viewer.memories().waiting().unwrap_or(0),
        notice,
    }
}

fn error_page(frame: &PageFrame<'_>, area: Option<Area>, error: &ViewerError) -> Response {
    let title = match error {
        ViewerError::NotFound => msg!("error-not-found"),
        _ => msg!("error-title"),
    };
    let content = html! {
        h1 { (title) }
        p class="notice warn" role="alert" { (error) }
        p { a href=(area.unwrap_or(Area::Memories).path()) { (area.unwrap_or(Area::Memories).name()) } }
    };
    (status(error), frame.page(area, &title, &content)).into_response()
}

fn status(error: &ViewerError) -> StatusCode {
    match error {
        ViewerError::NotFound
        | ViewerError::Lookup(_)
        | ViewerError::Name(_)
        | ViewerError::Change(
            ChangeError::Missing(_) | ChangeError::NoChange(_) | ChangeError::NoProposal(_),
        ) => StatusCode::NOT_FOUND,
        ViewerError::ReadOnly | ViewerError::OldForm => StatusCode::FORBIDDEN,
        ViewerError::Change(_) => StatusCode::CONFLICT,
        ViewerError::File(error) if error.is_not_found() => StatusCode::NOT_FOUND,
        ViewerError::File(_)
        | ViewerError::Checkpoint(_)
        | ViewerError::Team(_)
        | ViewerError::Profile(_)
        | ViewerError::Listen { .. }
        | ViewerError::CutOff => StatusCode::INTERNAL_SERVER_ERROR,
    }
}
