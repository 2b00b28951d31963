//! The routes, and what operators ask: health, readiness, metrics, the description of the API.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post, put};

use super::error::Refusal;
use super::request::accompany;
use super::state::ServerState;
use super::{admin, entries, events};

/// The description of the API. A test compares its paths with [`ROUTES`].
pub(super) const OPENAPI: &str = include_str!("openapi.json");

type ServerRouter = Router<Arc<ServerState>>;

/// A path, its methods, and how it is added to the router.
type Route = (&'static str, &'static [&'static str], fn(ServerRouter, &str) -> ServerRouter);

/// Every path. Requests are described in `openapi.json`.
pub(super) const ROUTES: &[Route] = &[
    ("/health", &["get"], |router, path| router.route(path, get(health))),
    ("/ready", &["get"], |router, path| router.route(path, get(ready))),
    ("/metrics", &["get"], |router, path| router.route(path, get(metrics))),
    ("/v1/openapi.json", &["get"], |router, path| router.route(path, get(openapi))),
    ("/v1/repos/{repo}", &["get"], |router, path| router.route(path, get(admin::about))),
    ("/v1/repos/{repo}/settings", &["put"], |router, path| {
        router.route(path, put(admin::settings))
    }),
    ("/v1/repos/{repo}/memory", &["get", "post"], |router, path| {
        router.route(path, get(entries::snapshot).post(entries::upload))
    }),
    ("/v1/repos/{repo}/memory/checksums", &["get"], |router, path| {
        router.route(path, get(entries::checksums))
    }),
    ("/v1/repos/{repo}/memory/entries/{name}", &["get", "delete"], |router, path| {
        router.route(path, get(entries::entry).delete(entries::delete))
    }),
    ("/v1/repos/{repo}/memory/entries/{name}/history", &["get"], |router, path| {
        router.route(path, get(entries::history))
    }),
    ("/v1/repos/{repo}/memory/entries/{name}/restore", &["post"], |router, path| {
        router.route(path, post(entries::restore))
    }),
    ("/v1/repos/{repo}/log", &["get"], |router, path| router.route(path, get(entries::log))),
    ("/v1/repos/{repo}/events", &["get"], |router, path| router.route(path, get(events::events))),
    ("/v1/repos/{repo}/proposals", &["get"], |router, path| {
        router.route(path, get(admin::proposals))
    }),
    ("/v1/repos/{repo}/proposals/{id}/{decision}", &["post"], |router, path| {
        router.route(path, post(admin::decide))
    }),
    ("/v1/tokens", &["get", "post"], |router, path| {
        router.route(path, get(admin::tokens).post(admin::create_token))
    }),
    ("/v1/tokens/{id}", &["delete"], |router, path| {
        router.route(path, delete(admin::revoke_token))
    }),
    ("/v1/people/{person}/purge", &["post"], |router, path| router.route(path, post(admin::purge))),
];

/// The router of a server.
pub(super) fn router(state: Arc<ServerState>) -> Router {
    let router = ROUTES.iter().fold(Router::new(), |router, (path, _, add)| add(router, path));
    router
        .fallback(|| async { Refusal::not_found("path") })
        .method_not_allowed_fallback(|| async {
            let status = StatusCode::METHOD_NOT_ALLOWED;
            Refusal::new(
                status,
                "method",
                "this path has other methods",
                "see GET /v1/openapi.json",
            )
        })
        .layer(from_fn_with_state(Arc::clone(&state), accompany))
        .with_state(state)
}

async fn health() -> &'static str {
    "ok\n"
}

/// Whether requests should be sent here: the database answers and the server is not stopping.
async fn ready(State(state): State<Arc<ServerState>>) -> Result<Response, Refusal> {
    if state.stop.is_cancelled() {
        let status = StatusCode::SERVICE_UNAVAILABLE;
        return Err(Refusal::new(status, "stopping", "the server is stopping", "use another one"));
    }
    state.store.check().await?;
    Ok("ready\n".into_response())
}

async fn metrics(State(state): State<Arc<ServerState>>) -> Response {
    let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
    (kind, state.metrics.render()).into_response()
}

async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}
