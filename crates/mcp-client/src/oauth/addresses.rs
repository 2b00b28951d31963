//! Which addresses a login may use: https, and of private networks only hosts that the user's own entry names.

use std::net::IpAddr;
use std::time::Duration;

use dormouse_tools::AddressReach;
use reqwest::{Client, RequestBuilder, Response, Url};
use serde::de::DeserializeOwned;

use super::error::{OAuthError, PRIVATE};
use crate::server_spec::OAuthSettings;

/// The longest answer.
const MAX_BYTES: usize = 256 * 1024;
/// How long an answer may take.
const TIMEOUT: Duration = Duration::from_secs(20);

/// The addresses that the login at one server may use.
#[derive(Debug, Clone)]
pub(super) struct LoginAddresses {
    /// Hosts that the user's entry names, which may be in a private network.
    named: Vec<String>,
    /// Whether the server is on this machine: then others on this machine may be used, without TLS.
    is_local: bool,
}

/// An address that was checked.
#[derive(Debug, Clone)]
pub(super) struct CheckedUrl {
    pub(super) url: Url,
    reach: AddressReach,
}

impl LoginAddresses {
    pub(super) fn of(server: &str, settings: &OAuthSettings) -> Result<Self, OAuthError> {
        let server = parsed(server)?;
        let named = std::iter::once(server.clone())
            .chain(settings.metadata_url.as_deref().map(parsed).transpose()?);
        let named = named.filter_map(|url| url.host_str().map(str::to_owned)).collect();
        Ok(Self { named, is_local: is_loopback(&server) })
    }

    /// Checks an address. What a host name leads to is checked when it is connected to.
    pub(super) fn check(&self, address: &str) -> Result<CheckedUrl, OAuthError> {
        let url = parsed(address)?;
        let refuse = |reason: &str| {
            Err(OAuthError::Address { address: shown(&url), reason: reason.to_owned() })
        };
        let is_local = self.is_local && is_loopback(&url);
        if url.scheme() != "https" && !(url.scheme() == "http" && is_local) {
            return refuse("only https is safe for a login");
        }
        if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
            return refuse("it has a user name, a password or a fragment");
        }
        let is_named = url.host_str().is_some_and(|host| self.named.iter().any(|own| own == host));
        let reach =
            if is_named || is_local { AddressReach::Anywhere } else { AddressReach::Public };
        if reach.check_host(&url).is_err() {
            return refuse(PRIVATE);
        }
        Ok(CheckedUrl { url, reach })
    }
}

impl CheckedUrl {
    fn client(&self) -> Result<Client, OAuthError> {
        Ok(self.reach.client(&self.url)?)
    }

    /// The answer to a GET as JSON; none if there is nothing at the address.
    pub(super) async fn get_json<T: DeserializeOwned>(
        &self,
        what: &'static str,
    ) -> Result<Option<T>, OAuthError> {
        let request = self.client()?.get(self.url.clone()).header("accept", "application/json");
        let (response, body) = answer(request, what).await?;
        if response.is_client_error() {
            return Ok(None);
        }
        if !response.is_success() {
            return Err(OAuthError::status(what, response));
        }
        json(&body, what).map(Some)
    }

    /// The status and body of the answer to a POST.
    pub(super) async fn post(
        &self,
        what: &'static str,
        kind: &str,
        body: String,
        more: impl FnOnce(RequestBuilder) -> RequestBuilder,
    ) -> Result<(reqwest::StatusCode, Vec<u8>), OAuthError> {
        let request = self.client()?.post(self.url.clone()).header("accept", "application/json");
        answer(more(request.header("content-type", kind).body(body)), what).await
    }

    /// The whole answer, however it is.
    pub(super) async fn ask(
        &self,
        what: &'static str,
        request: impl FnOnce(Client, Url) -> RequestBuilder,
    ) -> Result<Response, OAuthError> {
        let request = request(self.client()?, self.url.clone()).timeout(TIMEOUT);
        request.send().await.map_err(|error| OAuthError::request(what, error))
    }
}

/// Parses an answer.
pub(super) fn json<T: DeserializeOwned>(body: &[u8], what: &'static str) -> Result<T, OAuthError> {
    // The text may hold a token: only where it is wrong is said.
    serde_json::from_slice(body).map_err(|error| OAuthError::Request {
        what,
        reason: format!(
            "the answer is not as expected (line {}, column {})",
            error.line(),
            error.column()
        ),
    })
}

async fn answer(
    request: RequestBuilder,
    what: &'static str,
) -> Result<(reqwest::StatusCode, Vec<u8>), OAuthError> {
    let fail = |error| OAuthError::request(what, error);
    let mut response = request.timeout(TIMEOUT).send().await.map_err(fail)?;
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(fail)? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > MAX_BYTES {
            let reason = format!("the answer is longer than {MAX_BYTES} bytes");
            return Err(OAuthError::Request { what, reason });
        }
    }
    Ok((response.status(), bytes))
}

/// Whether tokens may be sent to an address: over https, or to this machine.
pub(crate) fn is_protected(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| url.scheme() == "https" || is_loopback(&url))
}

fn parsed(address: &str) -> Result<Url, OAuthError> {
    Url::parse(address).map_err(|error| OAuthError::Address {
        address: address.split('?').next().unwrap_or_default().to_owned(),
        reason: error.to_string(),
    })
}

/// An address without what may be secret.
pub(super) fn shown(url: &Url) -> String {
    format!("{}{}", url.origin().ascii_serialization(), url.path())
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(server: &str, metadata: Option<&str>, address: &str) -> Result<AddressReach, String> {
        let settings =
            OAuthSettings { metadata_url: metadata.map(str::to_owned), ..OAuthSettings::default() };
        let addresses = LoginAddresses::of(server, &settings).unwrap();
        addresses.check(address).map(|checked| checked.reach).map_err(|error| error.to_string())
    }

    #[test]
    fn only_https_and_no_private_addresses_that_nobody_named() {
        let remote = "https://mcp.example.com/mcp";
        assert_eq!(check(remote, None, "https://login.example.com/x"), Ok(AddressReach::Public));
        assert_eq!(check(remote, None, "https://mcp.example.com/x"), Ok(AddressReach::Anywhere));
        assert_eq!(
            check(remote, Some("https://sso.corp/m"), "https://sso.corp/t"),
            Ok(AddressReach::Anywhere)
        );
        for refused in [
            "http://login.example.com/x",
            "http://127.0.0.1/x",
            "https://127.0.0.1/x",
            "https://[::1]/x",
            "https://169.254.169.254/latest",
            "https://10.0.0.1/",
            "https://user@login.example.com/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "nothing",
        ] {
            assert!(check(remote, None, refused).is_err(), "{refused}");
        }
        let local = "http://127.0.0.1:8000/mcp";
        assert_eq!(check(local, None, "http://localhost:9000/auth"), Ok(AddressReach::Anywhere));
        assert!(check(local, None, "http://10.0.0.1/auth").is_err());
        assert!(check(local, None, "https://10.0.0.1/auth").is_err());
    }

    #[test]
    fn tokens_go_over_tls_or_stay_here() {
        assert!(is_protected("https://a.example/") && is_protected("http://[::1]:1/"));
        assert!(!is_protected("http://a.example/") && !is_protected("nothing"));
    }
}
