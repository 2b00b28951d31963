//! Posting JSON to an address that the person has set: for hooks. No redirect is followed, and of what comes back no
//! more is read than anybody needs.

use std::time::Duration;

use reqwest::Client;
use reqwest::header::CONTENT_TYPE;

/// The most that is read of an answer.
const MOST_BYTES: usize = 1_000_000;
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// What a server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostResponse {
    /// Its status.
    pub status: u16,
    /// What it said.
    pub body: String,
}

/// Posts JSON; an error says in words what went wrong.
pub async fn post_json(
    url: &str,
    headers: &[(String, String)],
    body: Vec<u8>,
    timeout: Duration,
) -> Result<PostResponse, String> {
    let work = async {
        let mut request = client(url)?.post(url).header(CONTENT_TYPE, "application/json");
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let mut response = request.body(body).send().await.map_err(|error| innermost(&error))?;
        let (status, mut bytes) = (response.status().as_u16(), Vec::new());
        while let Some(piece) = response.chunk().await.map_err(|error| innermost(&error))? {
            bytes.extend_from_slice(&piece);
            if bytes.len() > MOST_BYTES {
                return Err(format!("the answer is larger than {MOST_BYTES} bytes"));
            }
        }
        Ok(PostResponse { status, body: String::from_utf8_lossy(&bytes).into_owned() })
    };
    let late = |_| format!("timed out after {} s", timeout.as_secs_f32());
    tokio::time::timeout(timeout, work).await.map_err(late)?
}

fn client(url: &str) -> Result<Client, String> {
    let mut builder = Client::builder()
        .connect_timeout(CONNECT_PATIENCE)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("dormouse/", env!("CARGO_PKG_VERSION")));
    // An error only says that somebody installed one before.
    let _already = rustls::crypto::ring::default_provider().install_default();
    if url.starts_with("http://") {
        // What is not encrypted stays near, and a proxy has no business in it.
        builder = builder.tls_certs_only([]).no_proxy();
    }
    builder.build().map_err(|error| innermost(&error))
}

/// The error at the bottom of the chain says what happened; those above it say "error sending request".
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}
