//! What can go wrong between us and a model, in kinds that the loop can act on.

use std::time::Duration;

use dormouse_base::Redactor;
use thiserror::Error;

/// A failed request. Messages are the server's own, with keys taken out.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ModelError {
    /// The conversation does not fit the window, in whatever words the server says so.
    #[error("the conversation is too long for the model{}: {message}", numbers(*.used, *.limit))]
    TooLong {
        /// Tokens sent, if told.
        used: Option<u64>,
        /// Tokens allowed, if told.
        limit: Option<u64>,
        /// The server's words.
        message: String,
    },
    /// The request has too many bytes: pictures or documents.
    #[error("the request is too large for the server (too many bytes, often images): {0}")]
    RequestTooLarge(String),
    /// A thinking block does not match the conversation before it.
    #[error("the server refused a thinking block of an earlier answer: {0}")]
    ThinkingRefused(String),
    /// Too many requests or tokens a minute.
    #[error("the server limits the rate of requests: {message}")]
    RateLimited {
        /// When to try again, if told.
        retry_after: Option<Duration>,
        /// The server's words.
        message: String,
    },
    /// The server has too much to do.
    #[error("the server is overloaded: {message}")]
    Overloaded {
        /// When to try again, if told.
        retry_after: Option<Duration>,
        /// The server's words.
        message: String,
    },
    /// The server failed.
    #[error("the server failed with status {status}: {message}")]
    ServerFault {
        /// The HTTP status.
        status: u16,
        /// When to try again, if told.
        retry_after: Option<Duration>,
        /// The server's words.
        message: String,
    },
    /// The key is missing or wrong.
    #[error("the server did not accept the key: {0}")]
    NotAuthenticated(String),
    /// The account cannot pay for it.
    #[error("the account's credit or spending limit is used up: {0}")]
    Billing(String),
    /// The key may not do this.
    #[error("the key is not allowed to do this: {0}")]
    NotAllowed(String),
    /// No such model, or no such address.
    #[error("the server does not know this model or address: {0}")]
    NotFound(String),
    /// The request itself is wrong.
    #[error("the server refused the request (status {status}): {message}")]
    InvalidRequest {
        /// The HTTP status.
        status: u16,
        /// The server's words.
        message: String,
    },
    /// No connection.
    #[error("no connection to {url}: {problem}")]
    Unreachable {
        /// What was tried.
        url: String,
        /// What the network said.
        problem: String,
    },
    /// Nobody listens at an address of this machine: waiting would not change that.
    #[error("there is no server at {url} ({problem})")]
    NoServer {
        /// What was tried.
        url: String,
        /// What the system said.
        problem: String,
    },
    /// No such host, as far as this machine can tell.
    #[error("the host of {url} is not known ({problem})")]
    UnknownHost {
        /// What was tried.
        url: String,
        /// What the system said.
        problem: String,
    },
    /// The stream broke off.
    #[error("the response broke off: {0}")]
    BrokenStream(String),
    /// No byte for too long.
    #[error("the server sent nothing for {} seconds", .0.as_secs_f32())]
    Stalled(Duration),
    /// Something came that is not of the format.
    #[error("the server's response cannot be read: {0}")]
    Malformed(String),
}

fn numbers(used: Option<u64>, limit: Option<u64>) -> String {
    match (used, limit) {
        (Some(used), Some(limit)) => format!(" ({used} tokens, {limit} allowed)"),
        (None, Some(limit)) => format!(" ({limit} tokens allowed)"),
        _ => String::new(),
    }
}

/// Whether another try may help.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retryable {
    /// It will not.
    No,
    /// It may, after this long if told, else after the usual delay.
    After(Option<Duration>),
}

impl ModelError {
    /// Whether the same request may well be answered at another time: nothing about it is wrong.
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Unreachable { .. }
            | Self::UnknownHost { .. }
            | Self::NoServer { .. }
            | Self::Stalled(_)
            | Self::RateLimited { .. }
            | Self::Overloaded { .. }
            | Self::ServerFault { .. }
            | Self::BrokenStream(_)
            | Self::Malformed(_) => true,
            Self::NotAuthenticated(_)
            | Self::NotAllowed(_)
            | Self::NotFound(_)
            | Self::Billing(_)
            | Self::TooLong { .. }
            | Self::RequestTooLarge(_)
            | Self::ThinkingRefused(_)
            | Self::InvalidRequest { .. } => false,
        }
    }

    /// A word for programs.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::TooLong { .. } => "too_long",
            Self::RequestTooLarge(_) => "request_too_large",
            Self::ThinkingRefused(_) => "thinking_refused",
            Self::RateLimited { .. } => "rate_limited",
            Self::Overloaded { .. } => "overloaded",
            Self::ServerFault { .. } => "server_fault",
            Self::NotAuthenticated(_) => "not_authenticated",
            Self::Billing(_) => "billing",
            Self::NotAllowed(_) => "not_allowed",
            Self::NotFound(_) => "not_found",
            Self::InvalidRequest { .. } => "invalid_request",
            Self::Unreachable { .. } | Self::UnknownHost { .. } | Self::NoServer { .. } => {
                "no_connection"
            }
            Self::BrokenStream(_) | Self::Stalled(_) => "broken_stream",
            Self::Malformed(_) => "malformed",
        }
    }

    /// The error with known secrets taken out of its words: servers echo what they were sent.
    #[must_use]
    pub fn redacted(mut self, redactor: &Redactor) -> Self {
        match &mut self {
            Self::TooLong { message, .. }
            | Self::RateLimited { message, .. }
            | Self::Overloaded { message, .. }
            | Self::ServerFault { message, .. }
            | Self::InvalidRequest { message, .. }
            | Self::RequestTooLarge(message)
            | Self::ThinkingRefused(message)
            | Self::NotAuthenticated(message)
            | Self::Billing(message)
            | Self::NotAllowed(message)
            | Self::NotFound(message)
            | Self::BrokenStream(message)
            | Self::Malformed(message) => *message = redactor.redact(message),
            Self::Unreachable { url, problem }
            | Self::UnknownHost { url, problem }
            | Self::NoServer { url, problem } => {
                *url = redactor.redact(url);
                *problem = redactor.redact(problem);
            }
            Self::Stalled(_) => {}
        }
        self
    }

    /// Whether another try may help.
    pub fn retryable(&self) -> Retryable {
        match self {
            Self::RateLimited { retry_after, .. }
            | Self::Overloaded { retry_after, .. }
            | Self::ServerFault { retry_after, .. } => Retryable::After(*retry_after),
            Self::Unreachable { .. }
            | Self::UnknownHost { .. }
            | Self::BrokenStream(_)
            | Self::Stalled(_)
            | Self::Malformed(_) => Retryable::After(None),
            Self::TooLong { .. }
            | Self::RequestTooLarge(_)
            | Self::ThinkingRefused(_)
            | Self::NotAuthenticated(_)
            | Self::Billing(_)
            | Self::NotAllowed(_)
            | Self::NotFound(_)
            | Self::NoServer { .. }
            | Self::InvalidRequest { .. } => Retryable::No,
        }
    }
}
