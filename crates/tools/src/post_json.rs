//! Posts JSON to an address from the user's settings, for hooks. Redirects are not followed, and responses are bounded.

use futures_util::future::BoxFuture;
use std::time::Duration;

use dormouse_base::innermost_error;
use reqwest::Client;
use reqwest::header::CONTENT_TYPE;
use thiserror::Error;

/// The largest response.
const MAX_RESPONSE_BYTES: usize = 1_000_000;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A server's response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostResponse {
    /// The HTTP status.
    pub status: u16,
    /// The body.
    pub body: String,
}

/// Why a request got no response.
#[derive(Debug, Error)]
pub enum PostError {
    /// The request failed.
    #[error("{}", innermost_error(.0))]
    Request(#[from] reqwest::Error),
    /// The response is too large.
    #[error("the response is larger than {limit} bytes")]
    TooLarge {
        /// The largest response that is read.
        limit: usize,
    },
    /// No complete response in time.
    #[error("timed out after {} s", .0.as_secs_f32())]
    TimedOut(Duration),
}

/// Posts JSON.
pub fn post_json<'a>(
    url: &'a str,
    headers: &'a [(String, String)],
    body: Vec<u8>,
    timeout: Duration,
) -> BoxFuture<'a, Result<PostResponse, PostError>> {
    Box::pin(async move {
        let work = async {
            let mut request = client(url)?.post(url).header(CONTENT_TYPE, "application/json");
            for (name, value) in headers {
                request = request.header(name, value);
            }
            let mut response = request.body(body).send().await?;
            let status = response.status().as_u16();
            let mut bytes = Vec::new();
            while let Some(piece) = response.chunk().await? {
                bytes.extend_from_slice(&piece);
                if bytes.len() > MAX_RESPONSE_BYTES {
                    return Err(PostError::TooLarge { limit: MAX_RESPONSE_BYTES });
                }
            }
            Ok(PostResponse { status, body: String::from_utf8_lossy(&bytes).into_owned() })
        };
        tokio::time::timeout(timeout, work).await.map_err(|_| PostError::TimedOut(timeout))?
    })
}

fn client(url: &str) -> Result<Client, PostError> {
    let mut builder = Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("dormouse/", env!("CARGO_PKG_VERSION")));
    // An error only means that one is installed already.
    let _already = rustls::crypto::ring::default_provider().install_default();
    if url.starts_with("http://") {
        // Plain HTTP is for addresses nearby, which need no proxy.
        builder = builder.tls_certs_only([]).no_proxy();
    }
    Ok(builder.build()?)
}
