//! A login from its beginning to the stored tokens, and its end.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::digest::{SHA256, digest};
use ring::rand::{SecureRandom, SystemRandom};

use super::addresses::{LoginAddresses, is_protected};
use super::callback::Callback;
use super::client_identity::ClientIdentity;
use super::discovery::{Discovered, discover};
use super::error::OAuthError;
use super::registration::identity;
use super::token_request::{form, request_tokens, revoke};
use super::token_store::{StoredTokens, TokenStore};
use crate::server_spec::{OAuthSettings, ServerSpec, Transport};

/// How a login talks to the user.
pub struct LoginPrompt<'a> {
    /// Shows the address to open in a browser.
    pub open: &'a (dyn Fn(&str) + Send + Sync),
    /// What the browser shows when the login is done.
    pub done: String,
}

/// Logs in at a server, and keeps the tokens. Returns the authorization server.
pub async fn log_in(
    spec: &ServerSpec,
    store: &TokenStore,
    prompt: LoginPrompt<'_>,
) -> Result<String, OAuthError> {
    let (server, settings) = remote(spec)?;
    let Transport::Http { headers, .. } = &spec.transport else {
        return Err(OAuthError::NotForOAuth(PROGRAM));
    };
    let addresses = LoginAddresses::of(server, settings)?;
    let discovered = discover(server, headers, settings, &addresses).await?;
    let callback = Callback::open(settings.callback_port.unwrap_or(0)).await?;
    let redirect = callback.address();
    let client = identity(&discovered, settings, &redirect).await?;
    let (verifier, state) = (random()?, random()?);
    let challenge = URL_SAFE_NO_PAD.encode(digest(&SHA256, verifier.as_bytes()));
    let address = authorization_address(&discovered, &client, &redirect, (&challenge, &state));
    (prompt.open)(&address);
    let returned = callback.wait(&state, &prompt.done).await?;
    check_issuer(&discovered, returned.issuer)?;
    let fields = [
        ("grant_type", "authorization_code"),
        ("code", returned.code.as_str()),
        ("redirect_uri", redirect.as_str()),
        ("code_verifier", verifier.as_str()),
        ("resource", discovered.resource.as_str()),
    ];
    let granted =
        request_tokens("tokens for the code", &discovered.token, &client, &fields).await?;
    let empty = StoredTokens {
        server: server.to_owned(),
        resource: discovered.resource,
        issuer: discovered.issuer.clone(),
        token_endpoint: discovered.token.url.to_string(),
        revocation_endpoint: discovered.revocation.map(|checked| checked.url.to_string()),
        client,
        access_token: String::new(),
        refresh_token: None,
        expires: None,
        scope: discovered.scope,
    };
    let _lock = store.lock(server).await?;
    store.write(&store.renewed(empty, granted))?;
    Ok(discovered.issuer)
}

/// Ends a login: at the authorization server where that is possible, and here. Whether there was one.
pub async fn log_out(spec: &ServerSpec, store: &TokenStore) -> Result<bool, OAuthError> {
    let (server, settings) = remote(spec)?;
    let _lock = store.lock(server).await?;
    let Some(tokens) = store.read(server) else { return Ok(false) };
    // What is here goes in any case.
    store.remove(server)?;
    if let Some(endpoint) = &tokens.revocation_endpoint {
        let endpoint = LoginAddresses::of(server, settings)?.check(endpoint)?;
        if let Some(token) = &tokens.refresh_token {
            revoke(&endpoint, &tokens.client, token, "refresh_token").await?;
        }
        revoke(&endpoint, &tokens.client, &tokens.access_token, "access_token").await?;
    }
    Ok(true)
}

const PROGRAM: &str = "it is a program on this machine, which needs no login here";

/// The address and settings of a server that one can log in at.
fn remote(spec: &ServerSpec) -> Result<(&str, &OAuthSettings), OAuthError> {
    match &spec.transport {
        Transport::Stdio { .. } => Err(OAuthError::NotForOAuth(PROGRAM)),
        Transport::Http { headers, .. }
            if headers.keys().any(|name| name.eq_ignore_ascii_case("authorization")) =>
        {
            Err(OAuthError::NotForOAuth(
                "its entry has an `Authorization` header, which is used instead of a login",
            ))
        }
        Transport::Http { url, .. } if !is_protected(url) => Err(OAuthError::NotForOAuth(
            "its address is not https, so that a token would not be safe",
        )),
        Transport::Http { url, oauth, .. } => Ok((url, oauth)),
    }
}

fn authorization_address(
    discovered: &Discovered,
    client: &ClientIdentity,
    redirect: &str,
    (challenge, state): (&str, &str),
) -> String {
    let mut fields = vec![
        ("response_type", "code"),
        ("client_id", client.client_id.as_str()),
        ("redirect_uri", redirect),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
        ("state", state),
        ("resource", discovered.resource.as_str()),
    ];
    fields.extend(discovered.scope.as_deref().map(|scope| ("scope", scope)));
    let mut url = discovered.authorization.clone();
    let query = match url.query() {
        Some(before) if !before.is_empty() => format!("{before}&{}", form(&fields)),
        _ => form(&fields),
    };
    url.set_query(Some(&query));
    url.to_string()
}

/// An answer of another authorization server is one that somebody mixed up on purpose (RFC 9207).
fn check_issuer(discovered: &Discovered, found: Option<String>) -> Result<(), OAuthError> {
    let found = match found {
        Some(found) if found == discovered.issuer => return Ok(()),
        None if !discovered.names_issuer => return Ok(()),
        found => found.unwrap_or_default(),
    };
    Err(OAuthError::OtherIssuer { expected: discovered.issuer.clone(), found })
}

/// 32 random bytes as text.
fn random() -> Result<String, OAuthError> {
    let mut bytes = [0; 32];
    SystemRandom::new().fill(&mut bytes).map_err(|_| OAuthError::NoRandom)?;
    Ok(URL_SAFE_NO_PAD.encode(bytes))
}
