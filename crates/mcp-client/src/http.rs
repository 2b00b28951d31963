//! A server at a URL: streamable HTTP.
//!
//! Invariants: redirects are not followed, since headers may hold a key; no message is read beyond
//! [`MAX_MESSAGE_BYTES`]. The library checks that only for streams, so requests are made here.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use dormouse_base::innermost_error;
use futures_util::stream::{BoxStream, Stream, StreamExt};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderName, HeaderValue};
use reqwest::{RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClient, StreamableHttpClientTransportConfig, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Error as SseError, Sse, SseStream};
use thiserror::Error;

use crate::message_limit::{MAX_MESSAGE_BYTES, MessageOverflow};
use crate::oauth::{Challenge, OAuthError, ServerLogin};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How much is read of a refusal.
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

/// Why a server cannot be reached over HTTP. Never contains the address, which may hold a key.
#[derive(Debug, Error)]
pub(crate) enum HttpError {
    #[error("the header `{name}` cannot be sent: {problem}")]
    Header { name: String, problem: HeaderProblem },
    #[error("{}", innermost_error(.0))]
    Request(reqwest::Error),
    #[error("its response is not a message of the protocol ({0})")]
    NotAMessage(serde_json::Error),
    #[error("it answered {0}")]
    Status(StatusCode),
    #[error("it answered {0}; set `headers` with what it expects")]
    NotAuthorized(StatusCode),
    #[error(
        "it answered {status}; set `headers` with what it expects, or try `dormouse mcp login {name}`"
    )]
    MayNeedLogin { status: StatusCode, name: String },
    #[error("the login there could not be renewed: {0}")]
    Login(#[from] OAuthError),
    #[error("it needs a login: run `dormouse mcp login {0}`")]
    NeedsLogin(String),
    #[error("{}", MessageOverflow::reason())]
    TooLong,
}

/// Why a header of the settings cannot be sent.
#[derive(Debug, Error)]
pub(crate) enum HeaderProblem {
    #[error("its name is not valid")]
    Name,
    #[error("its value is not valid")]
    Value,
    #[error("the protocol sets it itself")]
    Reserved,
}

impl From<reqwest::Error> for HttpError {
    fn from(error: reqwest::Error) -> Self {
        Self::Request(error.without_url())
    }
}

/// The transport to a server.
pub(crate) fn transport(
    url: &str,
    headers: &BTreeMap<String, String>,
    login: Option<Arc<ServerLogin>>,
    flooded: MessageOverflow,
) -> Result<HttpTransport, HttpError> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(url);
    config.custom_headers = header_map(headers)?;
    Ok(HttpTransport::with_client(HttpClient { client: client(url)?, login, flooded }, config))
}

fn header_map(headers: &BTreeMap<String, String>) -> Result<Headers, HttpError> {
    let parsed = headers.iter().map(|(name, value)| {
        header(name, value).map_err(|problem| HttpError::Header { name: name.clone(), problem })
    });
    parsed.collect()
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), HeaderProblem> {
    let mut value = HeaderValue::from_str(value).map_err(|_| HeaderProblem::Value)?;
    value.set_sensitive(true);
    let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| HeaderProblem::Name)?;
    if OWN_HEADERS.contains(&name.as_str()) {
        return Err(HeaderProblem::Reserved);
    }
    Ok((name, value))
}

fn client(url: &str) -> Result<reqwest::Client, HttpError> {
    let mut builder = reqwest::Client::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("dormouse/", env!("CARGO_PKG_VERSION")));
    // An error only means that one is installed already.
    let _already = rustls::crypto::ring::default_provider().install_default();
    if url.starts_with("http://") {
        // Loading the system's certificates takes milliseconds, and fails where there are none.
        builder = builder.tls_certs_only([]);
    }
    Ok(builder.build()?)
}

/// Sends requests.
#[derive(Debug, Clone)]
pub(crate) struct HttpClient {
    client: reqwest::Client,
    login: Option<Arc<ServerLogin>>,
    /// Kept here, since the library does not say why a stream ended.
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
        let response = self.send(request, session.as_deref(), headers).await?;
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
        // A server need not support ending a session.
        self.send(self.client.delete(&*uri), Some(&session), headers).await.map(drop)
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
        let response = self.send(request, session.as_deref(), headers).await?;
        if response.status().is_success() && is_of(&response, EVENTS) {
            Ok(self.events(response))
        } else {
            Err(StreamableHttpError::ServerDoesNotSupportSse)
        }
    }
}

impl HttpClient {
    /// Sends a request, with the user's token where there is one. A token that is refused is renewed once.
    async fn send(
        &self,
        mut request: RequestBuilder,
        session: Option<&str>,
        headers: Headers,
    ) -> Outcome<Response> {
        for (name, value) in headers {
            request = request.header(name, value);
        }
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        let fail = |error: reqwest::Error| StreamableHttpError::Client(error.into());
        let Some(login) = &self.login else { return request.send().await.map_err(fail) };
        let again = request.try_clone();
        let failed = |error: OAuthError| StreamableHttpError::Client(error.into());
        let token = login.token().await.map_err(failed)?;
        let response = with_token(request, token.as_deref()).send().await.map_err(fail)?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let renewed = match &token {
            Some(refused) => login.renewed(refused).await.map_err(failed)?,
            None => None,
        };
        let response = match (again, renewed) {
            (Some(request), Some(token)) => {
                with_token(request, Some(&token)).send().await.map_err(fail)?
            }
            _ => response,
        };
        let (status, name) = (response.status(), login.name().to_owned());
        let challenge = Challenge::of(response.headers());
        match challenge.filter(|_| status == StatusCode::UNAUTHORIZED) {
            Some(challenge) if challenge.names_metadata() || token.is_some() => {
                Err(StreamableHttpError::Client(HttpError::NeedsLogin(name)))
            }
            Some(_) => Err(StreamableHttpError::Client(HttpError::MayNeedLogin { status, name })),
            None => Ok(response),
        }
    }

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
            // Notifications need no response.
            Err(_) if !matches!(message, ClientJsonRpcMessage::Request(_)) => {
                Ok(StreamableHttpPostResponse::Accepted)
            }
            Err(error) => Err(StreamableHttpError::Client(HttpError::NotAMessage(error))),
        }
    }

    fn events(&self, response: Response) -> Events {
        let pieces = bounded(response.bytes_stream(), self.flooded.clone());
        SseStream::from_bytes_stream(pieces).boxed()
    }
}

fn with_token(request: RequestBuilder, token: Option<&str>) -> RequestBuilder {
    match token {
        Some(token) => request.bearer_auth(token),
        None => request,
    }
}

fn is_of(response: &Response, kind: &str) -> bool {
    let header = response.headers().get(CONTENT_TYPE);
    header.is_some_and(|value| value.as_bytes().starts_with(kind.as_bytes()))
}

fn session_of(response: &Response) -> Option<String> {
    response.headers().get(SESSION)?.to_str().ok().map(str::to_owned)
}

/// The body, if it has at most `most` bytes.
async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, HttpError> {
    let mut bytes = Vec::new();
    while let Some(piece) = response.chunk().await? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > most {
            return Err(HttpError::TooLong);
        }
    }
    Ok(bytes)
}

/// Handles an error status. The refusal of the new handshake by an old server becomes a protocol error, which makes the
/// library use the old handshake.
async fn refusal(
    response: Response,
    message: &ClientJsonRpcMessage,
    in_session: bool,
) -> Outcome<StreamableHttpPostResponse> {
    let status = response.status();
    let session = session_of(&response);
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(StreamableHttpError::Client(HttpError::NotAuthorized(status)));
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
        _ => Err(StreamableHttpError::Client(HttpError::Status(status))),
    }
}

/// The size of the current event.
#[derive(Default)]
struct Reading {
    event: usize,
    line: usize,
    over: bool,
}

/// A stream of events; an event that is too long ends it.
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
    /// Counts a byte; returns whether the event is still short enough.
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
