//! Finds the authorization server of an MCP server: by its refusal, its metadata (RFC 9728), and the authorization server's (RFC
//! 8414, or `OpenID` Connect discovery).

use std::collections::BTreeMap;

use reqwest::Url;
use reqwest::header::ACCEPT;
use serde::Deserialize;

use super::addresses::{CheckedUrl, LoginAddresses, shown};
use super::challenge::Challenge;
use super::error::OAuthError;
use crate::server_spec::OAuthSettings;

/// What the metadata of the two servers say, checked.
#[derive(Debug, Clone)]
pub(super) struct Discovered {
    /// The identifier of the MCP server, for which tokens are asked.
    pub(super) resource: String,
    /// The scopes to ask for, if known.
    pub(super) scope: Option<String>,
    /// The authorization server.
    pub(super) issuer: String,
    pub(super) authorization: Url,
    pub(super) token: CheckedUrl,
    pub(super) registration: Option<CheckedUrl>,
    pub(super) revocation: Option<CheckedUrl>,
    /// Whether its answers in the browser name the issuer.
    pub(super) names_issuer: bool,
}

#[derive(Deserialize)]
struct ResourceMetadata {
    resource: String,
    #[serde(default)]
    authorization_servers: Vec<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
}

#[derive(Deserialize)]
struct ServerMetadata {
    issuer: String,
    authorization_endpoint: String,
    token_endpoint: String,
    registration_endpoint: Option<String>,
    revocation_endpoint: Option<String>,
    #[serde(default)]
    scopes_supported: Vec<String>,
    #[serde(default)]
    code_challenge_methods_supported: Vec<String>,
    #[serde(default)]
    authorization_response_iss_parameter_supported: bool,
}

/// The scope for logins that last.
const OFFLINE: &str = "offline_access";
const OF_RESOURCE: &str = "the server's metadata";
const OF_ISSUER: &str = "the metadata of the authorization server";

/// Finds the authorization server of the MCP server at this address.
pub(super) async fn discover(
    server: &str,
    headers: &BTreeMap<String, String>,
    settings: &OAuthSettings,
    addresses: &LoginAddresses,
) -> Result<Discovered, OAuthError> {
    let server = addresses.check(server)?;
    let challenge = challenge_of(&server, headers).await?;
    let found = resource_metadata(&server.url, &challenge, addresses).await?;
    let (resource, issuer, offered) = match found {
        Some(found) => {
            let issuer = found.authorization_servers.into_iter().next();
            (found.resource, issuer, found.scopes_supported)
        }
        None => (identifier(&server.url), None, Vec::new()),
    };
    // Servers of older revisions of the protocol are their own authorization servers.
    let issuer = issuer.unwrap_or_else(|| server.url.origin().ascii_serialization());
    let metadata = server_metadata(&issuer, settings, addresses).await?;
    if !metadata.code_challenge_methods_supported.iter().any(|method| method == "S256") {
        return Err(OAuthError::NoPkce);
    }
    let offered = Some(offered.join(" ")).filter(|offered| !offered.is_empty());
    // Without this scope some servers give no refresh token.
    let lasts = metadata.scopes_supported.iter().any(|scope| scope == OFFLINE);
    let lasting = |scope: String| match scope.split(' ').any(|known| known == OFFLINE) {
        has if has || !lasts => scope,
        _ => format!("{scope} {OFFLINE}"),
    };
    let optional = |address: Option<String>| address.map(|a| addresses.check(&a)).transpose();
    Ok(Discovered {
        resource,
        scope: settings.scopes.clone().or(challenge.scope).or(offered).map(lasting),
        issuer: metadata.issuer,
        authorization: addresses.check(&metadata.authorization_endpoint)?.url,
        token: addresses.check(&metadata.token_endpoint)?,
        registration: optional(metadata.registration_endpoint)?,
        revocation: optional(metadata.revocation_endpoint)?,
        names_issuer: metadata.authorization_response_iss_parameter_supported,
    })
}

/// What the server says to a request without a token.
async fn challenge_of(
    server: &CheckedUrl,
    headers: &BTreeMap<String, String>,
) -> Result<Challenge, OAuthError> {
    let response = server
        .ask("the server", |client, url| {
            let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
            let request = client.post(url).header("content-type", "application/json").body(ping);
            let request = request.header(ACCEPT, "application/json, text/event-stream");
            headers.iter().fold(request, |request, (name, value)| request.header(name, value))
        })
        .await?;
    Ok(Challenge::of(response.headers()).unwrap_or_default())
}

async fn resource_metadata(
    server: &Url,
    challenge: &Challenge,
    addresses: &LoginAddresses,
) -> Result<Option<ResourceMetadata>, OAuthError> {
    let places = match &challenge.metadata {
        Some(address) => vec![address.clone()],
        None => well_known(server, "oauth-protected-resource"),
    };
    for place in places {
        let found = addresses.check(&place)?.get_json::<ResourceMetadata>(OF_RESOURCE).await?;
        let Some(found) = found else { continue };
        return if is_of(&found.resource, server) {
            Ok(Some(found))
        } else {
            Err(OAuthError::OtherResource(found.resource))
        };
    }
    Ok(None)
}

/// Whether an identifier stands for a server: the same origin, and its path or one above it.
fn is_of(resource: &str, server: &Url) -> bool {
    let Ok(resource) = Url::parse(resource) else { return false };
    let (above, path) = (resource.path().trim_end_matches('/'), server.path());
    let below = path.strip_prefix(above);
    resource.origin() == server.origin()
        && below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
}

async fn server_metadata(
    issuer: &str,
    settings: &OAuthSettings,
    addresses: &LoginAddresses,
) -> Result<ServerMetadata, OAuthError> {
    if let Some(address) = &settings.metadata_url {
        let found = addresses.check(address)?.get_json(OF_ISSUER).await?;
        return found.ok_or_else(|| OAuthError::NoAuthorizationServer(address.clone()));
    }
    let url = addresses.check(issuer)?.url;
    let mut places = well_known(&url, "oauth-authorization-server");
    places.extend(well_known(&url, "openid-configuration"));
    let appended = url.path().trim_end_matches('/');
    if !appended.is_empty() {
        // OpenID Connect puts it behind the path.
        let origin = url.origin().ascii_serialization();
        places.push(format!("{origin}{appended}/.well-known/openid-configuration"));
    }
    // Only those of this very issuer: the ones at the root may be another's.
    let mut other = None;
    for place in places {
        let found = addresses.check(&place)?.get_json::<ServerMetadata>(OF_ISSUER).await?;
        match found {
            Some(found) if is_same_issuer(&found.issuer, issuer) => return Ok(found),
            Some(found) => other = other.or(Some(found.issuer)),
            None => {}
        }
    }
    Err(match other {
        Some(found) => OAuthError::OtherIssuer { expected: issuer.to_owned(), found },
        None => OAuthError::NoAuthorizationServer(shown(&url)),
    })
}

/// Whether two texts name one issuer; a slash at the end does not matter.
fn is_same_issuer(one: &str, other: &str) -> bool {
    one.trim_end_matches('/') == other.trim_end_matches('/')
}

/// The well-known addresses for one with a path: with the path behind, then without.
fn well_known(url: &Url, name: &str) -> Vec<String> {
    let origin = url.origin().ascii_serialization();
    let path = url.path().trim_end_matches('/');
    let mut places = vec![format!("{origin}/.well-known/{name}{path}")];
    if !path.is_empty() {
        places.push(format!("{origin}/.well-known/{name}"));
    }
    places
}

/// The identifier of a server that names none: its address without query.
fn identifier(server: &Url) -> String {
    shown(server)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_are_of_the_server_that_was_asked() {
        let server = Url::parse("https://a.example/team/mcp?x=1").unwrap();
        for good in [
            "https://a.example",
            "https://a.example/",
            "https://a.example/team",
            "https://a.example/team/mcp",
        ] {
            assert!(is_of(good, &server), "{good}");
        }
        for bad in [
            "https://b.example/team/mcp",
            "http://a.example",
            "https://a.example:8443",
            "https://a.example/te",
            "https://a.example/team/mcp/x",
            "x",
        ] {
            assert!(!is_of(bad, &server), "{bad}");
        }
        assert_eq!(
            well_known(&server, "n"),
            ["https://a.example/.well-known/n/team/mcp", "https://a.example/.well-known/n"]
        );
    }
}
