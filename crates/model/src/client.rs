//! Talking to a model: over HTTP, or to the scripted one in this process.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use dormouse_base::{Redactor, Secret};
use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::anthropic::AnthropicDecoder;
use crate::body::Wire;
use crate::classify::{Refusal, classify};
use crate::event::Completion;
use crate::openai::OpenAiDecoder;
use crate::sse::SseDecoder;
use crate::{ModelError, ScriptedModel, StreamEvent};

/// How the server wants its key.
#[derive(Debug, Clone)]
pub enum Credential {
    /// None: a server on this machine.
    None,
    /// `x-api-key`.
    ApiKey(Secret),
    /// `Authorization: Bearer`.
    Bearer(Secret),
}

/// How long to wait for what.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// For a connection.
    pub connect: Duration,
    /// For the first byte: a small machine reads a long prompt for minutes.
    pub first_byte: Duration,
    /// Between two bytes of a stream.
    pub idle: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_mins(10),
            idle: Duration::from_secs(90),
        }
    }
}

/// A server and how to speak to it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The format.
    pub wire: Wire,
    /// Where it is: with `/v1` for OpenAI-compatible servers, without for Anthropic.
    pub base_url: String,
    /// The key.
    pub credential: Credential,
    /// The `anthropic-version`.
    pub version: String,
    /// The `anthropic-beta` list.
    pub betas: Vec<String>,
    /// Patience.
    pub timeouts: Timeouts,
}

impl Endpoint {
    /// Whether it is on this machine.
    pub fn is_local(&self) -> bool {
        let host = self.base_url.split("://").nth(1).unwrap_or(&self.base_url);
        let host = host.split('/').next().unwrap_or_default();
        host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]")
    }

    /// The address of a path below the base.
    pub(crate) fn url(&self, path: &str) -> String {
        let base = self.base_url.trim_end_matches('/');
        match self.wire {
            // Both with and without `/v1` are in use as a base.
            Wire::Anthropic => format!("{}/v1/{path}", base.trim_end_matches("/v1")),
            Wire::OpenAi => format!("{base}/{path}"),
        }
    }

    pub(crate) fn headers(&self) -> Result<HeaderMap, ModelError> {
        let mut headers = HeaderMap::new();
        let mut add = |name: HeaderName, value: &str| match HeaderValue::from_str(value) {
            Ok(value) => {
                headers.insert(name, value);
                Ok(())
            }
            Err(_) => Err(ModelError::NotAuthenticated(format!(
                "the value for `{name}` has characters no header may hold"
            ))),
        };
        add(reqwest::header::CONTENT_TYPE, "application/json")?;
        match &self.credential {
            Credential::None => {}
            Credential::ApiKey(key) => add(HeaderName::from_static("x-api-key"), key.expose())?,
            Credential::Bearer(key) => {
                add(reqwest::header::AUTHORIZATION, &format!("Bearer {}", key.expose()))?;
            }
        }
        if self.wire == Wire::Anthropic {
            add(HeaderName::from_static("anthropic-version"), &self.version)?;
            if !self.betas.is_empty() {
                add(HeaderName::from_static("anthropic-beta"), &self.betas.join(","))?;
            }
        }
        Ok(headers)
    }
}

/// A model to talk to. The set is closed: a server, or a script.
pub enum Model {
    /// A server.
    Http(HttpModel),
    /// A script, in this process.
    Scripted(ScriptedModel),
}

impl Model {
    /// Sends a request; the answer streams from what comes back. Dropping that ends the request.
    pub async fn send(&self, body: Vec<u8>) -> Result<Answering, ModelError> {
        match self {
            Self::Http(model) => model.send(body).await,
            Self::Scripted(model) => model.send(&body),
        }
    }

    /// Sends a request and waits for the whole answer: for questions on the side.
    pub async fn ask(&self, body: Vec<u8>) -> Result<Completion, ModelError> {
        let mut answering = self.send(body).await?;
        let mut completion = Completion::default();
        while let Some(event) = answering.next().await {
            completion.add(event?);
        }
        Ok(completion)
    }
}

/// A model behind HTTP. The client is built with the first request, not at start-up.
pub struct HttpModel {
    endpoint: Endpoint,
    client: OnceLock<reqwest::Client>,
    redactor: Redactor,
}

impl HttpModel {
    /// A model at this endpoint.
    pub fn new(endpoint: Endpoint) -> Self {
        let key = match &endpoint.credential {
            Credential::None => None,
            Credential::ApiKey(key) | Credential::Bearer(key) => Some(key.clone()),
        };
        Self { endpoint, client: OnceLock::new(), redactor: Redactor::new(key) }
    }

    /// Where it is.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    async fn send(&self, body: Vec<u8>) -> Result<Answering, ModelError> {
        let path = match self.endpoint.wire {
            Wire::Anthropic => "messages",
            Wire::OpenAi => "chat/completions",
        };
        let url = self.endpoint.url(path);
        let request = self.client()?.post(&url).headers(self.endpoint.headers()?).body(body);
        let patience = self.endpoint.timeouts.first_byte;
        let response = match tokio::time::timeout(patience, request.send()).await {
            Err(_) => return Err(ModelError::Silent(patience)),
            Ok(Err(error)) => return Err(self.no_connection(url, &error)),
            Ok(Ok(response)) => response,
        };
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        if !is_event_stream(&response) {
            return Err(self.not_a_stream(response).await);
        }
        let request_id =
            header(&response, "request-id").or_else(|| header(&response, "x-request-id"));
        let decoder = match self.endpoint.wire {
            Wire::Anthropic => Decoder::Anthropic(AnthropicDecoder::default()),
            Wire::OpenAi => Decoder::OpenAi(OpenAiDecoder::default()),
        };
        let bytes =
            response.bytes_stream().map(|piece| piece.map_err(|error| innermost(&error))).boxed();
        Ok(Answering::new(bytes, decoder, self.endpoint.timeouts.idle, request_id))
    }

    fn no_connection(&self, url: String, error: &reqwest::Error) -> ModelError {
        let problem = innermost(error);
        let refused = problem.to_lowercase().contains("refused");
        if self.endpoint.is_local() && error.is_connect() && refused {
            ModelError::NoServer { url, problem }
        } else {
            ModelError::Unreachable { url, problem }
        }
    }

    /// The first request builds it.
    pub(crate) fn client(&self) -> Result<&reqwest::Client, ModelError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = build_client(&self.endpoint).map_err(|problem| ModelError::Unreachable {
            url: self.endpoint.base_url.clone(),
            problem,
        })?;
        Ok(self.client.get_or_init(|| client))
    }

    async fn refusal(&self, response: reqwest::Response) -> ModelError {
        let status = response.status().as_u16();
        let retry_after = retry_after(&response);
        let should_retry = header(&response, "x-should-retry").and_then(|value| value.parse().ok());
        let body = match response.bytes().await {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => innermost(&error),
        };
        let body = self.redactor.redact(&body);
        classify(&Refusal { status, retry_after, should_retry, body: &body })
    }

    /// A 200 that does not stream: an error in disguise, or a server that can not.
    async fn not_a_stream(&self, response: reqwest::Response) -> ModelError {
        let body = response.text().await.unwrap_or_default();
        let body = self.redactor.redact(&body);
        if body.contains("\"error\"") {
            return classify(&Refusal { status: 200, body: &body, ..Refusal::default() });
        }
        let start: String = body.chars().take(200).collect();
        ModelError::InvalidRequest {
            status: 200,
            message: format!("the server does not stream its answer: {start}"),
        }
    }
}

fn build_client(endpoint: &Endpoint) -> Result<reqwest::Client, String> {
    let mut builder = reqwest::Client::builder()
        .connect_timeout(endpoint.timeouts.connect)
        .redirect(reqwest::redirect::Policy::none())
        .tcp_nodelay(true)
        .pool_idle_timeout(Duration::from_mins(1))
        .user_agent(concat!("dormouse/", env!("CARGO_PKG_VERSION")));
    // An error only says that somebody installed one before.
    let _already = rustls::crypto::ring::default_provider().install_default();
    if endpoint.base_url.starts_with("http://") {
        // Loading the system's certificates takes milliseconds, and fails where there are none.
        builder = builder.tls_certs_only([]);
    }
    if endpoint.is_local() {
        // A proxy for the outside can not reach this machine's own servers.
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| innermost(&error))
}

fn is_event_stream(response: &reqwest::Response) -> bool {
    header(response, "content-type")
        .is_none_or(|kind| kind.contains("event-stream") || !kind.contains("json"))
}

fn header(response: &reqwest::Response, name: &str) -> Option<String> {
    Some(response.headers().get(name)?.to_str().ok()?.to_owned())
}

/// `retry-after-ms`, else `retry-after`: seconds, or a date compared with the server's own.
fn retry_after(response: &reqwest::Response) -> Option<Duration> {
    if let Some(milliseconds) =
        header(response, "retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok())
    {
        return Duration::try_from_secs_f64(milliseconds / 1000.0).ok();
    }
    let text = header(response, "retry-after")?;
    if let Ok(seconds) = text.trim().parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let parse = |text: &str| jiff::fmt::rfc2822::parse(text).ok().map(|zoned| zoned.timestamp());
    let (then, now) = (parse(&text)?, parse(&header(response, "date")?)?);
    Duration::try_from(then.duration_since(now)).ok()
}

/// The error at the bottom of the chain says what happened; those above it say "error sending request".
fn innermost(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(source) = inner.source() {
        inner = source;
    }
    inner.to_string()
}

pub(crate) enum Decoder {
    Anthropic(AnthropicDecoder),
    OpenAi(OpenAiDecoder),
}

impl Decoder {
    fn take(&mut self, event: &crate::SseEvent) -> Result<Vec<StreamEvent>, ModelError> {
        match self {
            Self::Anthropic(decoder) => decoder.take(event),
            Self::OpenAi(decoder) => decoder.take(event),
        }
    }

    fn end(&mut self) -> Result<Vec<StreamEvent>, ModelError> {
        match self {
            Self::Anthropic(decoder) => decoder.end(),
            Self::OpenAi(decoder) => decoder.end(),
        }
    }
}

/// An answer that is coming in. Dropping it ends the request.
pub struct Answering {
    bytes: BoxStream<'static, Result<Bytes, String>>,
    sse: SseDecoder,
    decoder: Decoder,
    ready: std::collections::VecDeque<StreamEvent>,
    failed: Option<ModelError>,
    ended: bool,
    idle: Duration,
    request_id: Option<String>,
}

impl Answering {
    pub(crate) fn new(
        bytes: BoxStream<'static, Result<Bytes, String>>,
        decoder: Decoder,
        idle: Duration,
        request_id: Option<String>,
    ) -> Self {
        Self {
            bytes,
            sse: SseDecoder::new(),
            decoder,
            ready: std::collections::VecDeque::new(),
            failed: None,
            ended: false,
            idle,
            request_id,
        }
    }

    /// The server's id of the request.
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// The next step; none after the last. After an error nothing more comes.
    pub async fn next(&mut self) -> Option<Result<StreamEvent, ModelError>> {
        loop {
            // What came whole before an error is handed out first.
            if let Some(event) = self.ready.pop_front() {
                self.ended |= matches!(event, StreamEvent::Finished { .. });
                return Some(Ok(event));
            }
            if let Some(error) = self.failed.take() {
                self.ended = true;
                return Some(Err(error));
            }
            if self.ended {
                return None;
            }
            self.read().await;
        }
    }

    /// Reads the next bytes and decodes them.
    async fn read(&mut self) {
        match tokio::time::timeout(self.idle, self.bytes.next()).await {
            Err(_) => self.failed = Some(ModelError::Silent(self.idle)),
            Ok(None) => self.decode_end(),
            Ok(Some(Err(problem))) => self.failed = Some(ModelError::BrokenStream(problem)),
            Ok(Some(Ok(bytes))) => match self.sse.push(&bytes) {
                Err(error) => self.failed = Some(ModelError::Malformed(error.to_string())),
                Ok(events) => {
                    for event in events {
                        match self.decoder.take(&event) {
                            Ok(steps) => self.ready.extend(steps),
                            Err(error) => {
                                self.failed = Some(error);
                                break;
                            }
                        }
                    }
                }
            },
        }
    }

    fn decode_end(&mut self) {
        match self.decoder.end() {
            Ok(steps) => {
                self.ready.extend(steps);
                self.ended = self.ready.is_empty();
            }
            Err(error) => self.failed = Some(error),
        }
    }
}
