//! Figures over time.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::get;

use super::reply;
use crate::message_catalog::msg;
use crate::model::figures::{FiguresQuery, figures};
use crate::pages;
use crate::pages::layout::Area;
use crate::viewer::Viewer;

pub(super) fn routes() -> Router<Arc<Viewer>> {
    Router::new().route("/figures", get(all))
}

async fn all(State(viewer): State<Arc<Viewer>>, Query(query): Query<FiguresQuery>) -> Response {
    reply::slow_page(viewer, Area::Figures, None, move |viewer, _| {
        let figures = figures(viewer, &query)?;
        Ok((msg!("figures-title"), pages::figures::page(&figures, &query)))
    })
    .await
}
