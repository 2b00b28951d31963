//! Talking to a model: over HTTP, or to the scripted one in this process.

use futures_util::future::BoxFuture;
use std::sync::OnceLock;
use std::time::Duration;

use dormouse_base::{Redactor, innermost_error};
use dormouse_conversation::Block;
use futures_util::StreamExt;

use crate::answer_watch::{AnswerCut, AnswerWatch};
use crate::classify::{HttpRefusal, classify_refusal};
use crate::endpoint::{Credential, Endpoint};
use crate::error::ModelError;
use crate::event::{Completion, StreamEvent};
use crate::quota::Quota;
use crate::response_stream::{Decoder, ResponseStream};
use crate::scripted::ScriptedModel;
use crate::wire_format::WireFormat;

/// A model to talk to. The set is closed: a server, or a script.
pub enum Model {
    /// A server.
    Http(Box<HttpModel>),
    /// A script, in this process.
    Scripted(ScriptedModel),
}

impl From<HttpModel> for Model {
    fn from(model: HttpModel) -> Self {
        Self::Http(Box::new(model))
    }
}

impl Model {
    /// Whether it runs on a server on this machine that speaks the format of local servers.
    pub fn is_local(&self) -> bool {
        match self {
            Self::Http(model) => {
                let endpoint = model.endpoint();
                endpoint.is_local() && endpoint.wire == WireFormat::OpenAi
            }
            Self::Scripted(_) => false,
        }
    }

    /// Whether a request costs nothing, however long it is: it goes to a script, not to a server.
    pub fn is_free(&self) -> bool {
        matches!(self, Self::Scripted(_))
    }

    /// How many requests its server works on at the same time; none where it does not say.
    pub fn slots(&self) -> BoxFuture<'_, Option<u32>> {
        match self {
            Self::Http(model) => model.slots(),
            Self::Scripted(_) => Box::pin(async { None }),
        }
    }

    /// Sends a request; the answer streams from what comes back. Dropping that ends the request.
    pub fn send(&self, body: Vec<u8>) -> BoxFuture<'_, Result<ResponseStream, ModelError>> {
        Box::pin(async move {
            match self {
                Self::Http(model) => model.send(body).await,
                Self::Scripted(model) => model.send(&body),
            }
        })
    }

    /// The share of the server's rate limit that is left, as it said last; none where it does not say.
    pub fn quota_left(&self) -> Option<f64> {
        match self {
            Self::Http(model) => model.quota.left(),
            Self::Scripted(_) => None,
        }
    }

    /// Sends a request and waits for the whole answer: for questions on the side.
    pub fn ask(&self, body: Vec<u8>) -> BoxFuture<'_, Result<Completion, ModelError>> {
        Box::pin(async move {
            let (completion, _cut) = self.ask_watched(body, AnswerWatch::default()).await?;
            Ok(completion)
        })
    }

    /// The same, with why the answer was ended early, if it was: it holds what came until then.
    pub fn ask_watched(
        &self,
        body: Vec<u8>,
        mut watch: AnswerWatch,
    ) -> BoxFuture<'_, Result<(Completion, Option<AnswerCut>), ModelError>> {
        Box::pin(async move {
            let mut answering = self.send(body).await?;
            let mut completion = Completion::default();
            while let Some(event) = answering.next().await {
                let event = event?;
                let cut = match &event {
                    StreamEvent::Text(text) => watch.add(text),
                    StreamEvent::Started { usage, .. } => {
                        completion.usage = *usage;
                        None
                    }
                    _ => None,
                };
                if cut.is_some() {
                    completion.blocks = vec![Block::text(watch.text())];
                    return Ok((completion, cut));
                }
                completion.add(event);
            }
            Ok((completion, None))
        })
    }
}

/// A model behind HTTP. The client is built with the first request, not at start-up.
pub struct HttpModel {
    endpoint: Endpoint,
    client: OnceLock<reqwest::Client>,
    redactor: Redactor,
    quota: Quota,
}

impl HttpModel {
    /// A model at this endpoint.
    pub fn new(endpoint: Endpoint) -> Self {
        let key = match &endpoint.credential {
            Credential::None => None,
            Credential::ApiKey(key) | Credential::Bearer(key) => Some(key.clone()),
        };
        let redactor = Redactor::new(key.into_iter().chain(endpoint.url_secret()));
        Self { endpoint, client: OnceLock::new(), redactor, quota: Quota::default() }
    }

    /// Where it is.
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    async fn send(&self, body: Vec<u8>) -> Result<ResponseStream, ModelError> {
        let path = match self.endpoint.wire {
            WireFormat::Anthropic => "messages",
            WireFormat::OpenAi => "chat/completions",
        };
        let url = self.endpoint.url(path);
        let request = self.client()?.post(&url).headers(self.endpoint.headers()?).body(body);
        let patience = self.endpoint.timeouts.first_byte;
        let response = match tokio::time::timeout(patience, request.send()).await {
            Err(_) => return Err(ModelError::Stalled(patience)),
            Ok(Err(error)) => return Err(self.no_connection(url, &error)),
            Ok(Ok(response)) => response,
        };
        self.quota.heard(response.headers());
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        if !is_event_stream(&response) {
            return Err(self.not_a_stream(response).await);
        }
        let request_id =
            header(&response, "request-id").or_else(|| header(&response, "x-request-id"));
        let decoder = Decoder::new(self.endpoint.wire);
        let bytes = response
            .bytes_stream()
            .map(|piece| piece.map_err(|error| innermost_error(&error).to_string()))
            .boxed();
        let request_id = request_id.map(|id| self.redactor.redact(&id));
        let patience = self.endpoint.timeouts.idle;
        Ok(ResponseStream::new(bytes, decoder, patience, request_id)
            .with_redactor(self.redactor.clone()))
    }

    pub(crate) fn no_connection(&self, url: String, error: &reqwest::Error) -> ModelError {
        let problem = innermost_error(error).to_string();
        let says = |word: &str| problem.to_lowercase().contains(word);
        let error = if self.endpoint.is_local() && error.is_connect() && says("refused") {
            ModelError::NoServer { url, problem }
        } else if error.is_connect() && (says("lookup") || says("name or service") || says("dns")) {
            ModelError::UnknownHost { url, problem }
        } else {
            ModelError::Unreachable { url, problem }
        };
        error.redacted(&self.redactor)
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

    pub(crate) fn refusal(&self, response: reqwest::Response) -> BoxFuture<'_, ModelError> {
        Box::pin(async move {
            let status = response.status().as_u16();
            let retry_after = retry_after(&response);
            let should_retry =
                header(&response, "x-should-retry").and_then(|value| value.parse().ok());
            let location = header(&response, "location");
            let mut body = self.read_some(response).await;
            if let (300..400, Some(location)) = (status, location) {
                body = format!("the server redirects to {location}; name that address instead");
            }
            classify_refusal(&HttpRefusal { status, retry_after, should_retry, body: &body })
                .redacted(&self.redactor)
        })
    }

    /// A 200 that does not stream: an error in disguise, a web page, or a server that cannot.
    fn not_a_stream(&self, response: reqwest::Response) -> BoxFuture<'_, ModelError> {
        Box::pin(async move {
            let kind = header(&response, "content-type").unwrap_or_default();
            let body = self.read_some(response).await;
            if body.contains("\"error\"") {
                let refusal = HttpRefusal { status: 200, body: &body, ..HttpRefusal::default() };
                return classify_refusal(&refusal).redacted(&self.redactor);
            }
            let start: String = body.chars().take(200).collect();
            let message = format!(
                "the answer is no event stream but `{kind}`: is this the address of a model server? (OpenAI-compatible ones often end in /v1) It begins: {start}"
            );
            ModelError::InvalidRequest { status: 200, message }.redacted(&self.redactor)
        })
    }

    /// The beginning of a body, as far as it comes: nobody needs more of an error than this.
    pub(crate) async fn read_some(&self, mut response: reqwest::Response) -> String {
        let mut bytes = Vec::new();
        while bytes.len() < LARGEST_BODY {
            match tokio::time::timeout(self.endpoint.timeouts.idle, response.chunk()).await {
                Ok(Ok(Some(piece))) => bytes.extend_from_slice(&piece),
                Ok(Ok(None) | Err(_)) | Err(_) => break,
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// The most that is read of a body that is no stream: an error, a list of models.
const LARGEST_BODY: usize = 1024 * 1024;

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
        // A proxy for the outside cannot reach this machine's own servers.
        builder = builder.no_proxy();
    }
    builder.build().map_err(|error| innermost_error(&error).to_string())
}

fn is_event_stream(response: &reqwest::Response) -> bool {
    let encoded =
        header(response, "content-encoding").is_some_and(|encoding| encoding != "identity");
    let kind = header(response, "content-type").unwrap_or_default();
    !encoded && (kind.contains("event-stream") || !(kind.contains("json") || kind.contains("html")))
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
