//! A request on its way to its handler: its id, limits, the token's holder, the body.

use std::convert::Infallible;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{FromRequestParts, MatchedPath, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use serde::de::DeserializeOwned;

use super::error::Refusal;
use super::state::{RequestLog, ServerState};
use crate::limits::LONGEST_BODY;
use crate::person::{PersonName, TeamRole};
use crate::repository_name::RepositoryName;
use crate::storage::{ChangeKey, RepositoryAccess};
use crate::token::TeamToken;

/// The header with the request's id.
pub(super) const REQUEST_ID: &str = "x-request-id";

/// The address of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct PeerAddress(pub(super) IpAddr);

/// What every handler needs of a request: the server, the headers, and the address it came from.
pub(super) struct Incoming {
    pub(super) state: Arc<ServerState>,
    pub(super) headers: HeaderMap,
    pub(super) peer: IpAddr,
}

impl FromRequestParts<Arc<ServerState>> for Incoming {
    type Rejection = Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &Arc<ServerState>,
    ) -> Result<Self, Infallible> {
        // Every connection has an address; without one, all such requests share one limit.
        let peer = parts.extensions.get::<PeerAddress>().map(|PeerAddress(peer)| *peer);
        let peer = peer.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        Ok(Self { state: Arc::clone(state), headers: parts.headers.clone(), peer })
    }
}

impl Incoming {
    /// Who sends the request, and what they may do.
    pub(super) async fn caller(
        &self,
        repo: Option<&RepositoryName>,
        needed: TeamRole,
    ) -> Result<RepositoryAccess, Refusal> {
        caller(&self.state, &self.headers, self.peer, repo, needed).await
    }

    /// Names a change by the caller: the key that they sent, and what they ask for.
    pub(super) fn change_key(
        &self,
        repo: Option<&RepositoryName>,
        person: &PersonName,
        asked: &str,
    ) -> Result<Option<ChangeKey>, Refusal> {
        let key = idempotency_key(&self.headers)?;
        Ok(Some(ChangeKey::new(repo, person, &key, asked, self.state.options.clock.now())))
    }
}

/// Why a handler refused; kept beside the response, because only here the request's id is known.
#[derive(Clone)]
pub(super) struct RefusedBecause(Arc<std::sync::Mutex<Option<Refusal>>>);

impl axum::response::IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        response.extensions_mut().insert(RefusedBecause(Arc::new(Some(self).into())));
        response
    }
}

/// Gives every request an id, a time limit, a line in the log, and every refusal its JSON.
pub(super) async fn accompany(
    State(state): State<Arc<ServerState>>,
    request: Request,
    next: Next,
) -> Response {
    let started = state.options.clock.elapsed();
    let request_id = request_id(request.headers());
    let method = request.method().to_string();
    let route = request.extensions().get::<MatchedPath>();
    let route = route.map_or("unknown", MatchedPath::as_str).to_owned();
    let mut response = match refuse_unread(request.headers()) {
        Some(refusal) => axum::response::IntoResponse::into_response(refusal),
        None => match tokio::time::timeout(state.options.timeout, next.run(request)).await {
            Ok(response) => response,
            Err(_) => axum::response::IntoResponse::into_response(Refusal::timeout()),
        },
    };
    let mut code = None;
    let mut detail = None;
    if let Some(RefusedBecause(refusal)) = response.extensions().get().cloned() {
        let refusal = refusal.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(mut refusal) = refusal {
            code = Some(refusal.code());
            detail = refusal.take_detail();
            response = refusal.into_response_for(&request_id);
        }
    }
    if let Ok(id) = HeaderValue::from_str(&request_id) {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    let took = state.options.clock.elapsed().saturating_sub(started);
    let status = response.status().as_u16();
    state.metrics.count(&route, status, took);
    (state.options.log)(&RequestLog { request_id, method, route, status, code, detail, took });
    response
}

/// The client's id, if it is short and plain; otherwise a new one.
fn request_id(headers: &HeaderMap) -> String {
    let given = headers.get(REQUEST_ID).and_then(|id| id.to_str().ok());
    let is_plain = |id: &&str| {
        (1..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    given.filter(is_plain).map_or_else(|| uuid::Uuid::new_v4().to_string(), str::to_owned)
}

/// What can be refused before the body is read: its length, a compression (which could hide a much longer text).
fn refuse_unread(headers: &HeaderMap) -> Option<Refusal> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let length = text(header::CONTENT_LENGTH).and_then(|length| length.parse::<u64>().ok());
    if length.is_some_and(|length| length > LONGEST_BODY as u64) {
        let message = format!("the body is longer than {LONGEST_BODY} bytes");
        return Some(Refusal::too_large(message, LONGEST_BODY));
    }
    if text(header::CONTENT_ENCODING).is_some_and(|encoding| encoding != "identity") {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        let message = "compressed bodies are not read";
        return Some(Refusal::new(status, "compressed", message, "send the JSON as it is"));
    }
    None
}

/// Who sends a request, and what they may do.
pub(super) async fn caller(
    state: &ServerState,
    headers: &HeaderMap,
    peer: IpAddr,
    repo: Option<&RepositoryName>,
    needed: TeamRole,
) -> Result<RepositoryAccess, Refusal> {
    let now = state.options.clock.elapsed();
    let address = peer.to_string();
    if !state.failures.is_left(&address, now) {
        return Err(Refusal::too_many_requests("too many requests without a valid token"));
    }
    let failed = || {
        state.failures.take(&address, now);
        Refusal::unauthorized()
    };
    let token = bearer(headers).ok_or_else(failed)?;
    let hash = token.hash();
    if !state.requests.take(&hash.id(), now) {
        return Err(Refusal::too_many_requests("this token sends too many requests"));
    }
    let access = state.store.access(&hash, repo).await?.ok_or_else(failed)?;
    if let (Some(only), Some(repo)) = (&access.only, repo)
        && only != repo
    {
        return Err(Refusal::forbidden("the token is for another repository"));
    }
    if access.role < needed {
        let message = format!("the token allows `{}`, and this needs `{needed}`", access.role);
        return Err(Refusal::forbidden(message));
    }
    Ok(access)
}

fn bearer(headers: &HeaderMap) -> Option<TeamToken> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| TeamToken::parse(token).ok())?
}

/// Reads a body of JSON, bounded.
pub(super) async fn json<T: DeserializeOwned>(body: Body) -> Result<T, Refusal> {
    let bytes = axum::body::to_bytes(body, LONGEST_BODY).await.map_err(|_| {
        let message = format!("the body is longer than {LONGEST_BODY} bytes, or was cut off");
        Refusal::too_large(message, LONGEST_BODY)
    })?;
    serde_json::from_slice(&bytes).map_err(|error| {
        let message = format!("the body is not what is expected: {error}");
        Refusal::invalid(message, "GET /v1/openapi.json describes every request")
    })
}

/// The key that makes a repeated request harmless.
pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<String, Refusal> {
    let key = headers.get("idempotency-key").and_then(|key| key.to_str().ok()).unwrap_or_default();
    if (8..=128).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(key.to_owned());
    }
    let message = "every change needs an Idempotency-Key of 8 to 128 characters";
    Err(Refusal::invalid(
        message,
        "send a random one, and the same again when a request is repeated",
    ))
}
