//! Getting it: one request after the other, each to an address that was looked at first.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use dormouse_permissions::{HostPattern, normalize_host};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response, Url};

use super::address::is_public;
use super::page;
use crate::post::innermost;

/// The most that is fetched.
const MOST_BYTES: usize = 10_000_000;
/// The most redirects within a host.
const MOST_STEPS: usize = 5;
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// What came of it.
pub(super) enum Fetched {
    /// The text, and where it was in the end.
    Page { url: Url, text: String },
    /// Another host has it.
    Elsewhere(Url),
}

/// Fetches an address. Those of `private` may lead to private addresses.
pub(super) async fn fetch(start: Url, private: &[HostPattern]) -> Result<Fetched, String> {
    let mut url = start;
    for _ in 0..=MOST_STEPS {
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
    Err(format!("it redirects more than {MOST_STEPS} times"))
}

async fn ask(url: &Url, private: &[HostPattern]) -> Result<Response, String> {
    let host = normalize_host(url.host_str().unwrap_or_default());
    let reach = if private.iter().any(|pattern| pattern.names(&host)) {
        Reach::Anywhere
    } else {
        Reach::Public
    };
    // A number is not resolved, so the resolver does not see it.
    if let Ok(address) = host.parse::<IpAddr>() {
        reach.check(&host, address).map_err(|error| error.to_string())?;
    }
    let accept = "text/html, text/plain, application/json, text/*;q=0.9, */*;q=0.1";
    let request = client(url, reach)?.get(url.clone()).header("accept", accept);
    request.send().await.map_err(|error| innermost(&error))
}

/// Where it may connect to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Public,
    /// The person has named the host.
    Anywhere,
}

impl Reach {
    fn check(self, host: &str, address: IpAddr) -> io::Result<()> {
        if self == Self::Anywhere || is_public(address) {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "`{host}` is at {address}, which is no public address; the person can allow it with a rule \
             that names the host: WebFetch(domain:{host})"
        )))
    }
}

impl Resolve for Reach {
    /// What is checked here is what is connected to: nothing is resolved a second time.
    fn resolve(&self, name: Name) -> Resolving {
        let reach = *self;
        Box::pin(async move {
            let host = name.as_str();
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host, 0)).await?.collect();
            for address in &found {
                reach.check(host, address.ip())?;
            }
            let addresses: Addrs = Box::new(found.into_iter());
            Ok(addresses)
        })
    }
}

fn client(url: &Url, reach: Reach) -> Result<Client, String> {
    let mut builder = Client::builder()
        .connect_timeout(CONNECT_PATIENCE)
        .redirect(reqwest::redirect::Policy::none())
        // A proxy would resolve names itself, where nobody looks at the address.
        .no_proxy()
        .dns_resolver(reach)
        .user_agent(concat!("dormouse/", env!("CARGO_PKG_VERSION")));
    // An error only says that somebody installed one before.
    let _already = rustls::crypto::ring::default_provider().install_default();
    if url.scheme() == "http" {
        // Loading the system's certificates takes milliseconds, and fails where there are none.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| innermost(&error))
}

fn target(response: &Response, url: &Url) -> Result<Url, String> {
    let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let location = location
        .ok_or_else(|| format!("the server answered {} and not where to", response.status()))?;
    url.join(location).map_err(|error| format!("it redirects to `{location}`: {error}"))
}

/// The same host and port; or the same host by TLS.
fn is_same_place(from: &Url, to: &Url) -> bool {
    let port = |url: &Url| url.port_or_known_default();
    let to_tls = (from.scheme(), to.scheme()) == ("http", "https")
        && (port(from), port(to)) == (Some(80), Some(443));
    let plain = to.username().is_empty() && to.password().is_none();
    let same = from.scheme() == to.scheme() && port(from) == port(to);
    from.host_str() == to.host_str() && plain && (same || to_tls)
}

async fn read(mut response: Response, url: &Url) -> Result<String, String> {
    let status = response.status();
    if !status.is_success() {
        return Err(format!("the server answered {status}"));
    }
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    let kind = header(CONTENT_TYPE).unwrap_or_default().to_owned();
    if let Some(encoding) = header(CONTENT_ENCODING).filter(|name| *name != "identity") {
        return Err(format!("the server packed it (`{encoding}`) though it was not asked to"));
    }
    let length = response.content_length();
    let kind = page::Kind::of(&kind).ok_or_else(|| {
        let size = length.map_or("of unknown size".to_owned(), |bytes| format!("{bytes} bytes"));
        let kind = if kind.is_empty() { "of no stated kind" } else { kind.as_str() };
        format!("it is no text but {kind}, {size}; a command such as curl can save it to a file")
    })?;
    let too_large = || format!("it is larger than {MOST_BYTES} bytes");
    if length.is_some_and(|bytes| bytes > MOST_BYTES as u64) {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| innermost(&error))? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > MOST_BYTES {
            return Err(too_large());
        }
    }
    Ok(kind.text(&bytes, url))
}
