//! What can go wrong with a login. No message holds a token, a code or a secret.

use std::time::Duration;

use dormouse_base::{FileError, LockError, innermost_error};
use dormouse_tools::{PrivateAddress, ReachError};
use reqwest::StatusCode;
use thiserror::Error;

/// For an address that nobody who may has named.
pub(super) const PRIVATE: &str = "it is in a private network, and the server's entry does not name it (`oauth.authServerMetadataUrl`)";

/// Why a login or its end failed.
#[derive(Debug, Error)]
pub enum OAuthError {
    /// The server is a program, or its entry has an `Authorization` header.
    #[error("{0}")]
    NotForOAuth(&'static str),
    /// An address that must not be used.
    #[error("the address `{address}` is not used: {reason}")]
    Address {
        /// The address, without what may be secret.
        address: String,
        /// The reason.
        reason: String,
    },
    /// An address in a private network, or no client.
    #[error(transparent)]
    Client(#[from] ReachError),
    /// A request failed.
    #[error("{what}: {reason}")]
    Request {
        /// What was asked for.
        what: &'static str,
        /// The reason.
        reason: String,
    },
    /// An authorization server refused.
    #[error("{what}: the authorization server refused: {code}{}", colon(description))]
    Refused {
        /// What was asked for.
        what: &'static str,
        /// The code of the error.
        code: String,
        /// What it says about it.
        description: String,
    },
    /// No authorization server is known.
    #[error("it names no authorization server, and there is none at its own address: {0}")]
    NoAuthorizationServer(String),
    /// The server's metadata are of another server.
    #[error("its metadata are for `{0}`, which is another server")]
    OtherResource(String),
    /// The metadata are of another issuer.
    #[error("the metadata of the authorization server `{expected}` name another issuer, `{found}`")]
    OtherIssuer {
        /// The one that was asked for.
        expected: String,
        /// The one in the metadata.
        found: String,
    },
    /// It does not support PKCE with S256.
    #[error(
        "its authorization server does not support PKCE with S256, without which a login is not safe"
    )]
    NoPkce,
    /// It registers no clients, and none is configured.
    #[error(
        "its authorization server registers no clients; set `oauth.clientId` in the server's entry to the id that you got there"
    )]
    NoClientId,
    /// The user, or the server for them, said no.
    #[error("the login was refused: {code}{}", colon(description))]
    Denied {
        /// The code of the error.
        code: String,
        /// What the server says about it.
        description: String,
    },
    /// The browser did not come back.
    #[error("the browser did not come back within {} minutes", .0.as_secs() / 60)]
    TimedOut(Duration),
    /// The port for the browser cannot be opened.
    #[error("cannot wait for the browser on port {port}: {source}")]
    Port {
        /// The port; 0 for any.
        port: u16,
        /// The reason.
        source: std::io::Error,
    },
    /// There are no random numbers.
    #[error("the system gives no random numbers")]
    NoRandom,
    /// Another process holds the tokens.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The tokens cannot be stored.
    #[error(transparent)]
    File(#[from] FileError),
}

impl OAuthError {
    pub(super) fn request(what: &'static str, error: reqwest::Error) -> Self {
        // Addresses may hold secrets.
        let error = error.without_url();
        let inner = innermost_error(&error);
        let reason =
            if inner.is::<PrivateAddress>() { PRIVATE.to_owned() } else { inner.to_string() };
        Self::Request { what, reason }
    }

    pub(super) fn status(what: &'static str, status: StatusCode) -> Self {
        Self::Request { what, reason: format!("the server answered {status}") }
    }
}

fn colon(description: &str) -> String {
    if description.is_empty() { String::new() } else { format!(" ({description})") }
}
