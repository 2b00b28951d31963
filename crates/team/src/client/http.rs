//! Requests to a team server. An answer is bounded; a lost answer is asked for again with the same key.

use std::time::Duration;

use dormouse_base::innermost_error;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Client, Method, RequestBuilder, Response, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use super::server_url::ServerUrl;
use crate::api::{
    ApiErrorBody, ChecksumsResponse, ErrorResponse, ProposalsResponse, PurgeRequest, PurgeResponse,
    RepositoryResponse, RestoreRequest, SWITCHED_OFF, SettingsRequest, SnapshotResponse, TeamEntry,
    TeamProposal, TokenCreated, TokenRequest, TokensResponse, UploadRequest, VersionsResponse,
    WriteResponse,
};
use crate::entry_name::EntryName;
use crate::limits::REQUEST_TIMEOUT;
use crate::person::PersonName;
use crate::repository_name::RepositoryName;
use crate::token::TeamToken;
use crate::version::{EntityTag, RepoVersion};

/// The longest answer: the snapshot of a large repository.
const LONGEST_ANSWER: usize = 256 * 1024 * 1024;
/// Attempts of a request whose answer was lost, and the pause between them.
const ATTEMPTS: usize = 3;
const PAUSE: Duration = Duration::from_millis(300);

/// Why a request failed.
#[derive(Debug, Error)]
pub enum ClientError {
    /// No answer.
    #[error("the team server {url} does not answer: {reason}")]
    Unreachable {
        /// The server.
        url: String,
        /// The reason.
        reason: String,
    },
    /// The server refused.
    #[error("{}", said(*status, body))]
    Refused {
        /// The status.
        status: u16,
        /// What it said.
        body: Box<ApiErrorBody>,
    },
    /// An answer of another program.
    #[error("{url} did not answer as a team server does ({what}); is the address right?")]
    Unreadable {
        /// The server.
        url: String,
        /// What was wrong.
        what: String,
    },
}

fn said(status: u16, body: &ApiErrorBody) -> String {
    let clean = |text: &str| {
        dormouse_base::printable(&text.chars().take(500).collect::<String>()).into_owned()
    };
    format!("the team server refused ({status}): {}; {}", clean(&body.message), clean(&body.hint))
}

impl ClientError {
    /// The word of a refusal.
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Refused { body, .. } => Some(&body.code),
            Self::Unreachable { .. } | Self::Unreadable { .. } => None,
        }
    }

    /// Whether trying again is useless until something changes (T-8).
    pub fn is_lasting(&self) -> bool {
        matches!(self.code(), Some("no_token" | "forbidden" | "too_many_entries"))
    }

    /// Whether another client was faster (T-5).
    pub(super) fn is_other_version(&self) -> bool {
        self.code() == Some("version_changed")
    }

    /// Whether this content, and not the server, is the reason.
    pub(super) fn is_about_content(&self) -> bool {
        matches!(self, Self::Refused { status: 413 | 422, body } if body.code != "too_many_entries")
    }
}

/// The answer to the usual request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchedChanges {
    /// What changed; none if nothing did.
    pub snapshot: Option<SnapshotResponse>,
    /// Layers that are off for everybody; none if the server did not say.
    pub switched_off: Option<Vec<String>>,
}

/// An answer that has arrived whole.
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Vec<u8>,
}

/// A server, a repository and a token.
#[derive(Debug, Clone)]
pub struct TeamClient {
    http: Client,
    url: ServerUrl,
    token: TeamToken,
    repo: RepositoryName,
}

impl TeamClient {
    /// A client. It connects with the first request.
    pub fn new(
        url: ServerUrl,
        token: TeamToken,
        repo: RepositoryName,
    ) -> Result<Self, ClientError> {
        // An error only says that somebody installed one before.
        let _already = rustls::crypto::ring::default_provider().install_default();
        let mut builder = Client::builder()
            .connect_timeout(REQUEST_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .tcp_nodelay(true)
            .user_agent(concat!("dormouse/", env!("CARGO_PKG_VERSION")));
        if url.is_plain() {
            // Loading the system's certificates takes milliseconds, and fails where there are none. A proxy for the
            // outside cannot reach this machine or network.
            builder = builder.tls_certs_only([]).no_proxy();
        }
        let http = builder.build().map_err(|error| unreachable(&url, &error))?;
        Ok(Self { http, url, token, repo })
    }

    /// The repository.
    pub fn repository(&self) -> &RepositoryName {
        &self.repo
    }

    /// The server.
    pub fn server(&self) -> &ServerUrl {
        &self.url
    }

    /// The repository, as the token's holder may use it.
    pub async fn about(&self) -> Result<RepositoryResponse, ClientError> {
        self.read(&self.in_repo("")).await
    }

    /// What changed since a version, or everything.
    pub async fn snapshot(&self, known: Option<&EntityTag>) -> Result<FetchedChanges, ClientError> {
        let known = known.map(ToString::to_string);
        let answer = self.answer(|| match &known {
            Some(etag) => {
                let path = format!("{}?since={}", self.in_repo("/memory"), encoded(etag));
                self.request(Method::GET, &path).header("if-none-match", etag)
            }
            None => self.request(Method::GET, &self.in_repo("/memory")),
        });
        let answer = answer.await?;
        let switched_off = answer.headers.get(SWITCHED_OFF).and_then(|off| off.to_str().ok());
        let switched_off =
            switched_off.map(|off| off.split_whitespace().map(str::to_owned).collect());
        let snapshot = match answer.status {
            StatusCode::NOT_MODIFIED => None,
            _ => Some(self.parsed(&answer.body)?),
        };
        Ok(FetchedChanges { snapshot, switched_off })
    }

    /// The checksums of all entries.
    pub async fn checksums(&self) -> Result<ChecksumsResponse, ClientError> {
        self.read(&self.in_repo("/memory/checksums")).await
    }

    /// The latest version of an entry.
    pub async fn entry(&self, name: &EntryName) -> Result<TeamEntry, ClientError> {
        self.read(&self.of_entry(name, "")).await
    }

    /// All versions of an entry, the newest first.
    pub async fn history(&self, name: &EntryName) -> Result<VersionsResponse, ClientError> {
        self.read(&self.of_entry(name, "/history")).await
    }

    /// The latest changes.
    pub async fn log(&self, limit: u32) -> Result<VersionsResponse, ClientError> {
        self.read(&format!("{}?limit={limit}", self.in_repo("/log"))).await
    }

    /// Adds or replaces entries.
    pub async fn upload(
        &self,
        known: &EntityTag,
        upload: &UploadRequest,
    ) -> Result<WriteResponse, ClientError> {
        let mut headers = HeaderMap::new();
        if let Ok(etag) = HeaderValue::from_str(&known.to_string()) {
            headers.insert("if-match", etag);
        }
        self.change(Method::POST, &self.in_repo("/memory"), headers, upload).await
    }

    /// Deletes an entry for all.
    pub async fn delete(&self, name: &EntryName) -> Result<WriteResponse, ClientError> {
        self.change(Method::DELETE, &self.of_entry(name, ""), HeaderMap::new(), &()).await
    }

    /// Makes an earlier content the latest.
    pub async fn restore(
        &self,
        name: &EntryName,
        version: RepoVersion,
    ) -> Result<WriteResponse, ClientError> {
        let path = self.of_entry(name, "/restore");
        self.change(Method::POST, &path, HeaderMap::new(), &RestoreRequest { version }).await
    }

    /// The open proposals that the token's holder may see.
    pub async fn proposals(&self) -> Result<ProposalsResponse, ClientError> {
        self.read(&self.in_repo("/proposals")).await
    }

    /// Accepts or rejects a proposal: `accept` or `reject`.
    pub async fn decide(&self, id: u64, decision: &str) -> Result<TeamProposal, ClientError> {
        let path = self.in_repo(&format!("/proposals/{id}/{decision}"));
        self.change(Method::POST, &path, HeaderMap::new(), &()).await
    }

    /// Sets review and the layers that are off for everybody.
    pub async fn set(&self, settings: &SettingsRequest) -> Result<(), ClientError> {
        let path = self.in_repo("/settings");
        let _done: serde_json::Value =
            self.change(Method::PUT, &path, HeaderMap::new(), settings).await?;
        Ok(())
    }

    /// All tokens.
    pub async fn tokens(&self) -> Result<TokensResponse, ClientError> {
        self.read("/v1/tokens").await
    }

    /// Makes a token. After a lost answer the server puts another one in its place, so that nobody else has one.
    pub async fn create_token(&self, request: &TokenRequest) -> Result<TokenCreated, ClientError> {
        self.change(Method::POST, "/v1/tokens", HeaderMap::new(), request).await
    }

    /// Revokes a token.
    pub async fn revoke_token(&self, id: &str) -> Result<(), ClientError> {
        let path = format!("/v1/tokens/{}", encoded(id));
        let _done: serde_json::Value =
            self.change(Method::DELETE, &path, HeaderMap::new(), &()).await?;
        Ok(())
    }

    /// Removes a person's tokens and, if wanted, what they wrote.
    pub async fn purge(
        &self,
        person: &PersonName,
        entries: bool,
    ) -> Result<PurgeResponse, ClientError> {
        let path = format!("/v1/people/{}/purge", encoded(person.as_str()));
        self.change(Method::POST, &path, HeaderMap::new(), &PurgeRequest { entries }).await
    }

    /// News of new versions (T-15).
    pub async fn news(&self, known: Option<&EntityTag>) -> Result<NewsStream, ClientError> {
        let path = format!("{}{}", self.url, self.in_repo("/events"));
        let mut request = self.http.get(path).bearer_auth(self.token.expose());
        if let Some(etag) = known {
            request = request.header("last-event-id", etag.to_string());
        }
        let response = self.send(request).await?;
        Ok(NewsStream { response, line: Vec::new() })
    }

    fn in_repo(&self, rest: &str) -> String {
        format!("/v1/repos/{}{rest}", encoded(self.repo.as_str()))
    }

    fn of_entry(&self, name: &EntryName, rest: &str) -> String {
        self.in_repo(&format!("/memory/entries/{}{rest}", encoded(name.as_str())))
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        request.timeout(REQUEST_TIMEOUT).bearer_auth(self.token.expose())
    }

    async fn read<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.parsed(&self.answer(|| self.request(Method::GET, path)).await?.body)
    }

    /// Sends a change. After a lost answer it is sent again with the same key, which changes nothing twice.
    async fn change<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: &impl Serialize,
    ) -> Result<T, ClientError> {
        let key = uuid::Uuid::new_v4().to_string();
        let body = json(body);
        let answer = self.answer(|| {
            let request = self.request(method.clone(), path).headers(headers.clone());
            request.header("idempotency-key", &key).body(body.clone())
        });
        self.parsed(&answer.await?.body)
    }

    /// The whole answer to a request; where it was lost, it is asked for again, a few times.
    async fn answer(&self, request: impl Fn() -> RequestBuilder) -> Result<Answer, ClientError> {
        let mut attempt = 1;
        loop {
            match self.answer_once(request()).await {
                Err(ClientError::Unreachable { .. }) if attempt < ATTEMPTS => {
                    attempt += 1;
                    tokio::time::sleep(PAUSE).await;
                }
                answer => return answer,
            }
        }
    }

    async fn answer_once(&self, request: RequestBuilder) -> Result<Answer, ClientError> {
        let response = self.send(request).await?;
        let (status, headers) = (response.status(), response.headers().clone());
        Ok(Answer { status, headers, body: self.bytes(response).await? })
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, ClientError> {
        let response = request.send().await.map_err(|error| unreachable(&self.url, &error))?;
        let status = response.status();
        if status.is_success() || status == StatusCode::NOT_MODIFIED {
            return Ok(response);
        }
        let bytes = self.bytes(response).await?;
        match serde_json::from_slice::<ErrorResponse>(&bytes) {
            Ok(refusal) => {
                Err(ClientError::Refused { status: status.as_u16(), body: Box::new(refusal.error) })
            }
            Err(_) => {
                Err(ClientError::Unreadable { url: self.url.to_string(), what: status.to_string() })
            }
        }
    }

    fn parsed<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, ClientError> {
        serde_json::from_slice(body).map_err(|error| ClientError::Unreadable {
            url: self.url.to_string(),
            what: error.to_string(),
        })
    }

    async fn bytes(&self, mut response: Response) -> Result<Vec<u8>, ClientError> {
        let mut bytes = Vec::new();
        while let Some(piece) =
            response.chunk().await.map_err(|error| unreachable(&self.url, &error))?
        {
            bytes.extend_from_slice(&piece);
            if bytes.len() > LONGEST_ANSWER {
                let what = format!("more than {LONGEST_ANSWER} bytes");
                return Err(ClientError::Unreadable { url: self.url.to_string(), what });
            }
        }
        Ok(bytes)
    }
}

/// A stream of news: each is the tag of a new version.
pub struct NewsStream {
    response: Response,
    line: Vec<u8>,
}

/// The longest line of a stream; ours have a hundred bytes.
const LONGEST_LINE: usize = 64 * 1024;

impl NewsStream {
    /// Waits for the next version; none when the stream has ended.
    pub async fn next(&mut self) -> Option<EntityTag> {
        loop {
            while let Some(end) = self.line.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.line.drain(..=end).collect();
                let line = String::from_utf8_lossy(&line);
                let data = line.trim_end().strip_prefix("data:");
                if let Some(etag) = data.and_then(|data| EntityTag::parse(data).ok()) {
                    return Some(etag);
                }
            }
            let piece = self.response.chunk().await.ok().flatten()?;
            self.line.extend_from_slice(&piece);
            if self.line.len() > LONGEST_LINE {
                return None;
            }
        }
    }
}

/// A struct of texts always serializes.
fn json(body: &impl Serialize) -> String {
    serde_json::to_string(body).unwrap_or_default()
}

/// A segment of a path.
fn encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut encoded, byte| {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
        encoded
    })
}

fn unreachable(url: &ServerUrl, error: &reqwest::Error) -> ClientError {
    let reason = if error.is_timeout() {
        "timed out".to_owned()
    } else {
        innermost_error(error).to_string()
    };
    ClientError::Unreachable { url: url.to_string(), reason }
}
