//! A server behind an address: streamable HTTP.
//!
//! Invariants: redirects are not followed, for headers may hold a key; no message is read beyond [`LONGEST_MESSAGE`],
//! which the library sees to only for streams, so that requests are made here.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{BoxStream, Stream, StreamExt};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse, SseStream};
use thiserror::Error;

use crate::error_chain::innermost;
use crate::message_limit::{MAX_MESSAGE_BYTES, MessageOverflow};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// What is read of an answer that says no.
const REFUSAL_BYTES: usize = 64 * 1024;
const SESSION: &str = "mcp-session-id";
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
/// Headers that the protocol uses itself.
const OWN_HEADERS: [&str; 5] =
    ["accept", "content-type", SESSION, "mcp-protocol-version", "last-event-id"];

pub(crate) type HttpTransport = StreamableHttpClientTransport<HttpClient>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Outcome<T> = Result<T, StreamableHttpError<HttpError>>;

/// What went wrong on the way, without the address: that may hold a key.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct HttpError(String);

impl From<reqwest::Error> for HttpError {
    fn from(error: reqwest::Error) -> Self {
        Self(innermost(&error.without_url()))
    }
}

/// The way to a server. The error is for people.
pub(crate) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
    flooded: MessageOverflow,
) -> Result<HttpTransport, String> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.custom_headers = header_map(headers)?;
    Ok(HttpTransport::with_client(HttpClient { client: client(url)?, flooded }, config))
}

/// What a person can use of an error on the way; none if it is of another kind.
pub(crate) fn told(error: &(dyn std::error::Error + 'static)) -> Option<String> {
    match error.downcast_ref::<StreamableHttpError<HttpError>>()? {
        StreamableHttpError::Client(error) => Some(error.to_string()),
        other => Some(innermost(other)),
    }
}

fn header_map(headers: &BTreeMap<String, String>) -> Result<Headers, String> {
    let pairs = headers.iter().map(|(name, value)| {
        let wrong = |why: &str| format!("the header `{name}` can not be sent: {why}");
        let unfit = |_| wrong("its name or value does not fit");
        let mut value =
            HeaderValue::from_str(value).map_err(|_| wrong("its value does not fit"))?;
        value.set_sensitive(true);
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(unfit)?;
        if OWN_HEADERS.contains(&name.as_str()) {
            return Err(wrong("the protocol uses it itself"));
        }
        Ok((name, value))
    });
    pairs.collect()
}

fn client(url: &str) -> Result<reqwest::Client, String> {
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
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

/// Makes the requests.
#[derive(Debug, Clone)]
pub(crate) struct HttpClient {
    client: reqwest::Client,
    /// The library does not hand on why a stream broke off.
    flooded: MessageOverflow,
}

impl StreamableHttpClient for HttpClient {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _token: Option<String>,
        headers: Headers,
    ) -> Outcome<StreamableHttpPostResponse> {
        let body = serde_json::to_vec(&message)?;
        let request = self.client.post(&*uri).header(ACCEPT, [JSON, EVENTS].join(", "));
        let request = request.header(CONTENT_TYPE, JSON).body(body);
        let response = send(request, session.as_deref(), headers).await?;
        match response.status() {
            StatusCode::ACCEPTED | StatusCode::NO_CONTENT => {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            StatusCode::NOT_FOUND if session.is_some() => Err(StreamableHttpError::SessionExpired),
            status if status.is_success() => self.answer(response, &message).await,
            _ => refusal(response, &message, session.is_some()).await,
        }
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _token: Option<String>,
        headers: Headers,
    ) -> Outcome<()> {
        // Servers that know no goodbye are within their rights.
        send(self.client.delete(&*uri), Some(&session), headers).await.map(drop)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _token: Option<String>,
        headers: Headers,
    ) -> Outcome<Events> {
        let mut request = self.client.get(&*uri).header(ACCEPT, EVENTS);
        if let Some(last) = last_event {
            request = request.header("last-event-id", last);
        }
        let response = send(request, session.as_deref(), headers).await?;
        if response.status().is_success() && is_of(&response, EVENTS) {
            Ok(self.events(response))
        } else {
            Err(StreamableHttpError::ServerDoesNotSupportSse)
        }
    }
}

impl HttpClient {
    async fn answer(
        &self,
        response: Response,
        message: &ClientJsonRpcMessage,
    ) -> Outcome<StreamableHttpPostResponse> {
        let session = session_of(&response);
        if is_of(&response, EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(self.events(response), session));
        }
        let bytes = body(response, MAX_MESSAGE_BYTES).await.map_err(StreamableHttpError::Client)?;
        match serde_json::from_slice::<ServerJsonRpcMessage>(&bytes) {
            Ok(parsed) => Ok(StreamableHttpPostResponse::Json(parsed, session)),
            // Nobody waits for an answer to what was no request.
            Err(_) if !matches!(message, ClientJsonRpcMessage::Request(_)) => {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            Err(error) => {
                let why = format!("its answer is no message of the protocol ({error})");
                Err(StreamableHttpError::Client(HttpError(why)))
            }
        }
    }

    fn events(&self, response: Response) -> Events {
        let pieces = bounded(response.bytes_stream(), self.flooded.clone());
        SseStream::from_bytes_stream(pieces).boxed()
    }
}

async fn send(
    mut request: reqwest::RequestBuilder,
    session: Option<&str>,
    headers: Headers,
) -> Outcome<Response> {
    for (name, value) in headers {
        request = request.header(name, value);
    }
    if let Some(session) = session {
        request = request.header(SESSION, session);
    }
    request.send().await.map_err(|error| StreamableHttpError::Client(error.into()))
}

fn is_of(response: &Response, kind: &str) -> bool {
    let header = response.headers().get(CONTENT_TYPE);
    header.is_some_and(|value| value.as_bytes().starts_with(kind.as_bytes()))
}

fn session_of(response: &Response) -> Option<String> {
    response.headers().get(SESSION)?.to_str().ok().map(str::to_owned)
}

/// The body, if it is not longer than this.
async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, HttpError> {
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > most {
            return Err(HttpError(MessageOverflow::reason()));
        }
    }
    Ok(bytes)
}

/// An answer that says no. An old server's no to the new handshake has to look like one.
async fn refusal(
    response: Response,
    message: &ClientJsonRpcMessage,
    in_session: bool,
) -> Outcome<StreamableHttpPostResponse> {
    let status = response.status();
    let session = session_of(&response);
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        let why = format!("it answered {status}; set `headers` with what it expects");
        return Err(StreamableHttpError::Client(HttpError(why)));
    }
    let bytes = body(response, REFUSAL_BYTES).await.unwrap_or_default();
    let said = serde_json::from_slice::<ServerJsonRpcMessage>(&bytes);
    if let ClientJsonRpcMessage::Request(request) = message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && status.is_client_error()
        && !in_session
    {
        let error = match said {
            Ok(ServerJsonRpcMessage::Error(error)) => error.error,
            _ => ErrorData::invalid_request(format!("it answered {status}"), None),
        };
        let error = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(error, None));
    }
    match said {
        Ok(error @ ServerJsonRpcMessage::Error(_)) => {
            Ok(StreamableHttpPostResponse::Json(error, session))
        }
        _ => Err(StreamableHttpError::Client(HttpError(format!("it answered {status}")))),
    }
}

/// How far an event has come.
#[derive(Default)]
struct Reading {
    event: usize,
    line: usize,
    over: bool,
}

/// The pieces of a stream of events; one that is too long ends it.
fn bounded<E: Into<HttpError>>(
    pieces: impl Stream<Item = Result<Bytes, E>>,
    flooded: MessageOverflow,
) -> impl Stream<Item = Result<Bytes, io::Error>> {
    pieces.scan(Reading::default(), move |reading, piece| {
        if reading.over {
            return std::future::ready(None);
        }
        let piece = piece.map_err(|error| io::Error::other(error.into()));
        std::future::ready(Some(piece.and_then(|bytes| {
            if bytes.iter().all(|byte| reading.take(*byte)) {
                return Ok(bytes);
            }
            reading.over = true;
            flooded.mark();
            Err(io::Error::other(MessageOverflow::reason()))
        })))
    })
}

impl Reading {
    /// Whether the event is not too long with this byte.
    fn take(&mut self, byte: u8) -> bool {
        match byte {
            b'\n' if self.line == 0 => self.event = 0,
            b'\n' => self.line = 0,
            b'\r' => {}
            _ => self.line += 1,
        }
        self.event += 1;
        self.event <= MAX_MESSAGE_BYTES
    }
}
