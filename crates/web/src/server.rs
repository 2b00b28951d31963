//! The server: routes, checks before every request, and headers on every response.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, HttpBody as _, to_bytes};
use axum::extract::{DefaultBodyLimit, Query, Request, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{Method, StatusCode};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use dormouse_base::IdSource;
use dormouse_serve::{ConnectionAdmission, ConnectionLimits, serve_connections};
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::service::TowerToHyperService;
use serde::Deserialize;
use tokio::net::TcpListener;

use crate::access::{AccessRefusal, ViewerAccess};
use crate::assets::ASSETS;
use crate::error::ViewerError;
use crate::handlers;
use crate::pages::entry;
use crate::viewer::{Viewer, ViewerMode, ViewerSources};

/// Nothing is loaded from elsewhere, and nothing in a page is a script or style.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
                      form-action 'self'; frame-ancestors 'none'; base-uri 'none'";
/// The longest body of a request: a memory has at most 1 MiB, and a form encodes it.
const LONGEST_BODY: usize = 4 * 1024 * 1024;
/// The time for the body of a request.
const BODY_PATIENCE: Duration = Duration::from_secs(10);
/// A browser opens few connections, and closes idle ones itself.
const LIMITS: ConnectionLimits =
    ConnectionLimits { head: Duration::from_secs(10), connections: 64 };
/// The address that exchanges the code for the cookie.
const ENTER: &str = "/enter";

/// A port on loopback, before anything is served on it.
pub struct ViewerServer {
    listener: TcpListener,
    access: ViewerAccess,
}

impl ViewerServer {
    /// Listens on a port of this machine; 0 is any that is free.
    pub async fn bind(port: u16, ids: &dyn IdSource) -> Result<Self, ViewerError> {
        let failed = |source| ViewerError::Listen { port, source };
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Self { listener, access: ViewerAccess::new(port, ids) })
    }

    /// The address to open.
    pub fn entry_url(&self) -> String {
        self.access.entry_url()
    }

    /// Serves until the future is dropped.
    pub async fn serve(self, sources: ViewerSources, mode: ViewerMode) -> Infallible {
        let viewer = Arc::new(Viewer::new(sources, self.access, mode));
        handlers::warm_up(&viewer);
        let routes = TowerToHyperService::new(router(viewer));
        serve_connections(&self.listener, LIMITS, move |admission| {
            let routes = routes.clone();
            service_fn(move |mut request: hyper::Request<Incoming>| {
                request.extensions_mut().insert(admission.clone());
                routes.call(request)
            })
        })
        .await
    }
}

pub(crate) fn router(viewer: Arc<Viewer>) -> Router {
    let mut router = handlers::routes().route(ENTER, get(enter));
    for asset in ASSETS {
        let response = move || async move {
            let kind = HeaderValue::from_static(asset.content_type);
            ([(CONTENT_TYPE, kind)], asset.text)
        };
        router = router.route(&format!("/assets/{}", asset.path), get(response));
    }
    router
        .fallback(handlers::not_found)
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(from_fn_with_state(Arc::clone(&viewer), guarded))
        .with_state(viewer)
}

/// Refuses what is not from the user's own browser, and adds the headers that every response has.
async fn guarded(State(viewer): State<Arc<Viewer>>, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    // Style and scripts are the same for everybody.
    let needs_cookie = path != ENTER && !path.starts_with("/assets/");
    let checked = viewer.access.check(request.method(), request.headers(), needs_cookie);
    let mut response = match checked {
        Ok(()) => {
            if needs_cookie
                && let Some(admission) = request.extensions().get::<ConnectionAdmission>()
            {
                admission.admit();
            }
            match whole(request).await {
                Ok(request) => next.run(request).await,
                Err(status) => status.into_response(),
            }
        }
        Err(AccessRefusal::NoCookie) => {
            (StatusCode::UNAUTHORIZED, entry::no_cookie_page()).into_response()
        }
        Err(AccessRefusal::Foreign | AccessRefusal::NoToken) => {
            (StatusCode::FORBIDDEN, entry::foreign_page()).into_response()
        }
    };
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Without any, browsers hide the origin of forms as well.
        (REFERRER_POLICY, "same-origin"),
        (CACHE_CONTROL, "no-store"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The whole request, if it comes in time and is not too long.
async fn whole(request: Request) -> Result<Request, StatusCode> {
    let (head, body) = request.into_parts();
    // One that says how long it is need not come first.
    if body.size_hint().lower() > LONGEST_BODY as u64 {
        return Err(StatusCode::PAYLOAD_TOO_LARGE);
    }
    match tokio::time::timeout(BODY_PATIENCE, to_bytes(body, LONGEST_BODY)).await {
        Ok(Ok(bytes)) => Ok(Request::from_parts(head, Body::from(bytes))),
        Ok(Err(_)) => Err(StatusCode::PAYLOAD_TOO_LARGE),
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT),
    }
}

#[derive(Deserialize)]
struct EntryQuery {
    code: String,
}

/// Exchanges the code. The page that comes back leads on by itself: after a redirect, a browser would not send the cookie
/// if the address was opened from another site.
async fn enter(
    State(viewer): State<Arc<Viewer>>,
    method: Method,
    Query(query): Query<EntryQuery>,
) -> Response<Body> {
    // A program that only looks whether the address is there must not use up the code.
    if method != Method::GET {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    match viewer.access.exchange(&query.code) {
        Some(cookie) => ([(SET_COOKIE, cookie)], entry::welcome_page()).into_response(),
        None => (StatusCode::FORBIDDEN, entry::used_code_page()).into_response(),
    }
}
