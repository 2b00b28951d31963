//! A server behind an address: streamable HTTP.
//!
//! Invariants: redirects are not followed, for headers may hold a key; no answer is read beyond
//! [`LONGEST_MESSAGE`](super::flood::LONGEST_MESSAGE).

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use reqwest::header::{HeaderName, HeaderValue};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;

use super::flood::LONGEST_MESSAGE;

const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

pub(super) type Web = StreamableHttpClientTransport<reqwest::Client>;

/// The way to a server. The error is for people.
pub(super) fn transport(url: &str, headers: &BTreeMap<String, String>) -> Result<Web, String> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.custom_headers = header_map(headers)?;
    config.max_sse_event_size = LONGEST_MESSAGE;
    Ok(Web::with_client(client(url)?, config))
}

fn header_map(
    headers: &BTreeMap<String, String>,
) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let pairs = headers.iter().map(|(name, value)| {
        let wrong =
            || format!("the header `{name}` can not be sent: its name or value does not fit");
        let mut value = HeaderValue::from_str(value).map_err(|_| wrong())?;
        value.set_sensitive(true);
        Ok((HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?, value))
    });
    pairs.collect()
}

fn client(url: &str) -> Result<reqwest::Client, String> {
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_PATIENCE)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("dormouse/", env!("CARGO_PKG_VERSION")));
    // An error only says that somebody installed one before.
    let _already = rustls::crypto::ring::default_provider().install_default();
    if url.starts_with("http://") {
        // Loading the system's certificates takes milliseconds, and fails where there are none.
        builder = builder.tls_certs_only([]);
    }
    builder.build().map_err(|error| error.to_string())
}
