//! How this program is known at an authorization server.

use serde::{Deserialize, Serialize};

/// How this program is known at an authorization server.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ClientIdentity {
    pub(super) client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    /// Whether the secret goes into the header, and not into the body.
    #[serde(default)]
    pub(super) by_header: bool,
}
