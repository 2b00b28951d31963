//! Fetches a page: request by request, each to an address that was checked first.

use dormouse_base::innermost_error;
use dormouse_permissions::{HostPattern, normalize_host};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response, StatusCode, Url};
use thiserror::Error;

use super::page;
use crate::address_reach::{AddressReach, ReachError};

/// The largest page.
const MAX_PAGE_BYTES: usize = 10_000_000;
/// The most redirects within a host.
const MAX_REDIRECTS: usize = 5;

/// A fetched page, or where it is.
pub(super) enum Fetched {
    /// The text, and its final address.
    Page { url: Url, text: String },
    /// A redirect to another host.
    Elsewhere(Url),
}

/// Why a page was not fetched. The text is for the model.
#[derive(Debug, Error)]
pub(crate) enum FetchError {
    #[error("it redirects more than {MAX_REDIRECTS} times")]
    TooManyRedirects,
    #[error("{}", innermost_error(.0))]
    Request(#[from] reqwest::Error),
    #[error(transparent)]
    Address(#[from] ReachError),
    #[error("the server returned {0} without an address")]
    NoLocation(StatusCode),
    #[error("it redirects to `{location}`, which is not an address: {problem}")]
    InvalidLocation { location: String, problem: String },
    #[error("the server returned {0}")]
    Status(StatusCode),
    #[error("the server compressed it (`{0}`), which was not requested")]
    Compressed(String),
    #[error("it is not text: {kind}, {size}; a command such as curl can save it to a file")]
    NotText { kind: String, size: String },
    #[error("it is larger than {MAX_PAGE_BYTES} bytes")]
    TooLarge,
}

/// Fetches an address. The hosts of `private` may have private addresses.
pub(super) async fn fetch(start: Url, private: &[HostPattern]) -> Result<Fetched, FetchError> {
    let mut url = start;
    for _ in 0..=MAX_REDIRECTS {
        let response = ask(&url, private).await?;
        if !response.status().is_redirection() {
            let text = read(response, &url).await?;
            return Ok(Fetched::Page { url, text });
        }
        let target = target(&response, &url)?;
        if !is_same_place(&url, &target) {
            return Ok(Fetched::Elsewhere(target));
        }
        url = target;
    }
    Err(FetchError::TooManyRedirects)
}

/// A request to a server of the user's settings, which may carry a key.
pub(crate) struct HttpExchange {
    /// The address.
    pub(crate) url: Url,
    /// Headers.
    pub(crate) headers: Vec<(&'static str, String)>,
    /// JSON to post; without it, the address is fetched.
    pub(crate) body: Option<String>,
}

/// Sends a request and returns the text of the answer. Redirects are not followed: they would carry the key elsewhere.
pub(crate) async fn exchange(
    request: HttpExchange,
    private: &[HostPattern],
) -> Result<String, FetchError> {
    let HttpExchange { url, headers, body } = request;
    let client = checked_client(&url, private)?;
    let mut request = match body {
        Some(body) => client.post(url.clone()).header(CONTENT_TYPE, "application/json").body(body),
        None => client.get(url.clone()),
    };
    for (name, value) in headers {
        request = request.header(name, value);
    }
    read(request.send().await?, &url).await
}

async fn ask(url: &Url, private: &[HostPattern]) -> Result<Response, FetchError> {
    let accept = "text/html, text/plain, application/json, text/*;q=0.9, */*;q=0.1";
    let request = checked_client(url, private)?.get(url.clone()).header("accept", accept);
    Ok(request.send().await?)
}

/// A client for this address, which connects to public addresses only, unless its host is in `private`.
fn checked_client(url: &Url, private: &[HostPattern]) -> Result<Client, FetchError> {
    let host = normalize_host(url.host_str().unwrap_or_default());
    let reach = if private.iter().any(|pattern| pattern.names(&host)) {
        AddressReach::Anywhere
    } else {
        AddressReach::Public
    };
    Ok(reach.client(url)?)
}

fn target(response: &Response, url: &Url) -> Result<Url, FetchError> {
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let location = location.ok_or_else(|| FetchError::NoLocation(response.status()))?;
    url.join(location).map_err(|error| FetchError::InvalidLocation {
        location: location.to_owned(),
        problem: error.to_string(),
    })
}

/// The same host and port, or the same host over TLS.
fn is_same_place(from: &Url, to: &Url) -> bool {
    let port = |url: &Url| url.port_or_known_default();
    let to_tls = (from.scheme(), to.scheme()) == ("http", "https")
        && (port(from), port(to)) == (Some(80), Some(443));
    let plain = to.username().is_empty() && to.password().is_none();
    let same = from.scheme() == to.scheme() && port(from) == port(to);
    from.host_str() == to.host_str() && plain && (same || to_tls)
}

async fn read(mut response: Response, url: &Url) -> Result<String, FetchError> {
    let status = response.status();
    if !status.is_success() {
        return Err(FetchError::Status(status));
    }
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    let kind = header(CONTENT_TYPE).unwrap_or_default().to_owned();
    if let Some(encoding) = header(CONTENT_ENCODING).filter(|name| *name != "identity") {
        return Err(FetchError::Compressed(encoding.to_owned()));
    }
    let length = response.content_length();
    let kind = page::ContentKind::of(&kind).ok_or_else(|| FetchError::NotText {
        kind: if kind.is_empty() { "no content type".to_owned() } else { kind.clone() },
        size: length.map_or("unknown size".to_owned(), |bytes| format!("{bytes} bytes")),
    })?;
    if length.is_some_and(|bytes| bytes > MAX_PAGE_BYTES as u64) {
        return Err(FetchError::TooLarge);
    }
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > MAX_PAGE_BYTES {
            return Err(FetchError::TooLarge);
        }
    }
    Ok(kind.text(&bytes, url))
}
