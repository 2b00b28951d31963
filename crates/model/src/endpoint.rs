//! A server and how to speak to it: address, key, patience.

use std::time::Duration;

use dormouse_base::{Deadlines, Secret};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use crate::error::ModelError;
use crate::wire_format::WireFormat;

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
    /// For what it says about its models: asking must not hold up the first request.
    pub info: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(5),
            first_byte: Duration::from_mins(10),
            idle: Duration::from_secs(90),
            info: Deadlines::default().model_info,
        }
    }
}

/// A server and how to speak to it.
#[derive(Debug, Clone)]
pub struct Endpoint {
    /// The format.
    pub wire: WireFormat,
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
        let host = self.host();
        host.starts_with("127.") || host.starts_with("localhost") || host.starts_with("[::1]")
    }

    fn host(&self) -> &str {
        let rest = self.base_url.split_once("://").map_or(self.base_url.as_str(), |(_, rest)| rest);
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        authority.rsplit_once('@').map_or(authority, |(_, host)| host)
    }

    /// The address without a name or password in it: for people and for files.
    pub fn shown_url(&self) -> String {
        match self.url_secret() {
            Some(secret) => self.base_url.replace(&format!("{}@", secret.expose()), ""),
            None => self.base_url.clone(),
        }
    }

    /// A name or password in the address, which must not be shown.
    pub(crate) fn url_secret(&self) -> Option<Secret> {
        let (_, rest) = self.base_url.split_once("://")?;
        let authority = rest.split(['/', '?', '#']).next()?;
        authority.rsplit_once('@').map(|(user, _)| Secret::new(user))
    }

    /// The address of a path below the base.
    pub(crate) fn url(&self, path: &str) -> String {
        let base = self.base_url.trim_end_matches('/');
        match self.wire {
            // Both with and without `/v1` are in use as a base.
            WireFormat::Anthropic => format!("{}/v1/{path}", base.trim_end_matches("/v1")),
            WireFormat::OpenAi => format!("{base}/{path}"),
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
        if self.wire == WireFormat::Anthropic {
            add(HeaderName::from_static("anthropic-version"), &self.version)?;
            if !self.betas.is_empty() {
                add(HeaderName::from_static("anthropic-beta"), &self.betas.join(","))?;
            }
        }
        Ok(headers)
    }
}
