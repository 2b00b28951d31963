//! Makes this program known to an authorization server: dynamic client registration (RFC 7591), or the id in the settings.

use serde::Deserialize;
use serde_json::json;

use super::addresses::json as parse;
use super::client_identity::ClientIdentity;
use super::discovery::Discovered;
use super::error::OAuthError;
use super::token_request::refusal;
use crate::server_spec::OAuthSettings;

#[derive(Deserialize)]
struct Registered {
    client_id: String,
    client_secret: Option<String>,
    token_endpoint_auth_method: Option<String>,
}

const WHAT: &str = "the registration of this program";

/// The identity from the settings, or a new one.
pub(super) async fn identity(
    discovered: &Discovered,
    settings: &OAuthSettings,
    redirect: &str,
) -> Result<ClientIdentity, OAuthError> {
    if let Some(client_id) = settings.client_id.clone() {
        return Ok(ClientIdentity { client_id, client_secret: None, by_header: false });
    }
    let endpoint = discovered.registration.as_ref().ok_or(OAuthError::NoClientId)?;
    let wanted = json!({
        "client_name": "Dormouse",
        "redirect_uris": [redirect],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
    });
    let (status, body) =
        endpoint.post(WHAT, "application/json", wanted.to_string(), |request| request).await?;
    if !status.is_success() {
        return Err(refusal(WHAT, status, &body));
    }
    let registered: Registered = parse(&body, WHAT)?;
    let method = registered.token_endpoint_auth_method.unwrap_or_default();
    let secret = registered.client_secret.filter(|_| method != "none");
    Ok(ClientIdentity {
        client_id: registered.client_id,
        by_header: secret.is_some() && method != "client_secret_post",
        client_secret: secret,
    })
}
