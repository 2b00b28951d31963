//! Refusals as JSON: a code for programs, a message and a hint for people (T-17).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::api::{ApiErrorBody, ErrorResponse};
use crate::storage::StorageError;
use crate::version::EntityTag;

/// A refused request.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    code: &'static str,
    message: String,
    hint: String,
    limit: Option<usize>,
    etag: Option<Box<EntityTag>>,
    /// For the operator's log only.
    detail: Option<String>,
}

impl Refusal {
    pub(super) fn new(
        status: StatusCode,
        code: &'static str,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Self {
        let (message, hint) = (message.into(), hint.into());
        Self { status, code, message, hint, limit: None, etag: None, detail: None }
    }

    /// A request that cannot be read or accepted as it is.
    pub(super) fn invalid(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid", message, hint)
    }

    pub(super) fn not_found(what: &str) -> Self {
        let message = format!("there is no such {what}");
        Self::new(StatusCode::NOT_FOUND, "not_found", message, "check the name")
    }

    pub(super) fn too_large(what: String, limit: usize) -> Self {
        let hint = "send less at once, or make it shorter";
        let refusal = Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", what, hint);
        Self { limit: Some(limit), ..refusal }
    }

    pub(super) fn too_many_entries(limit: usize) -> Self {
        let message = format!("the repository may have at most {limit} entries");
        let hint = "delete entries with `dormouse team rm`, or ask the operator for a higher limit";
        let refusal = Self::new(StatusCode::PAYLOAD_TOO_LARGE, "too_many_entries", message, hint);
        Self { limit: Some(limit), ..refusal }
    }

    pub(super) fn other_version(now: EntityTag) -> Self {
        let message = "an entry has changed since the version in If-Match";
        let hint = "fetch the checksums, decide again, and repeat with the new ETag";
        let refusal = Self::new(StatusCode::PRECONDITION_FAILED, "version_changed", message, hint);
        Self { etag: Some(Box::new(now)), ..refusal }
    }

    fn key_reused() -> Self {
        let message = "the Idempotency-Key was used for another request";
        let hint = "send a new key for a new request";
        Self::new(StatusCode::CONFLICT, "key_reused", message, hint)
    }

    pub(super) fn unauthorized() -> Self {
        let message = "no valid token was sent";
        let hint = "get a token from an admin of the team, and run `dormouse team join`";
        Self::new(StatusCode::UNAUTHORIZED, "no_token", message, hint)
    }

    pub(super) fn forbidden(message: impl Into<String>) -> Self {
        let hint = "ask an admin of the team for a token that allows it";
        Self::new(StatusCode::FORBIDDEN, "forbidden", message, hint)
    }

    pub(super) fn too_many_requests(message: &str) -> Self {
        let hint = "wait a moment and try again";
        Self::new(StatusCode::TOO_MANY_REQUESTS, "too_many_requests", message, hint)
    }

    pub(super) fn timeout() -> Self {
        let message = "the request took longer than 30 seconds";
        Self::new(StatusCode::REQUEST_TIMEOUT, "timeout", message, "try again")
    }

    /// The word for programs.
    pub(super) fn code(&self) -> &'static str {
        self.code
    }

    /// What only the operator's log says.
    pub(super) fn take_detail(&mut self) -> Option<String> {
        self.detail.take()
    }

    pub(super) fn into_response_for(self, request_id: &str) -> Response {
        let error = ApiErrorBody {
            code: self.code.to_owned(),
            message: self.message,
            hint: self.hint,
            request_id: request_id.to_owned(),
            limit: self.limit,
        };
        let mut response = (self.status, Json(ErrorResponse { error })).into_response();
        let headers = response.headers_mut();
        if let Some(etag) = self.etag.and_then(|etag| HeaderValue::from_str(&etag.to_string()).ok())
        {
            headers.insert(header::ETAG, etag);
        }
        if self.status == StatusCode::TOO_MANY_REQUESTS {
            headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if self.status == StatusCode::PAYLOAD_TOO_LARGE
            || self.status == StatusCode::REQUEST_TIMEOUT
        {
            // The rest of the body is not read.
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

impl From<StorageError> for Refusal {
    fn from(error: StorageError) -> Self {
        if matches!(error, StorageError::KeyReused) {
            return Self::key_reused();
        }
        // Not the client's business, and it may name files.
        let hint = "try again later; the operator finds the reason in the server's log";
        let message = "the database did not answer";
        let refusal = Self::new(StatusCode::SERVICE_UNAVAILABLE, "database", message, hint);
        Self { detail: Some(error.to_string()), ..refusal }
    }
}
