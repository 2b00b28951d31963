//! Which server to talk to, from the settings and the environment: the names people already have.

use std::time::Duration;

use dormouse_base::{Environment, ProviderKind, ProviderSettings, Secret, names};
use thiserror::Error;

use crate::body::{CacheTtl, Dialect, MaxTokensField, Wire};
use crate::client::HttpModel;
use crate::endpoint::{Credential, Endpoint, Timeouts};
use crate::retry::RetryPolicy;

const ANTHROPIC_URL: &str = "https://api.anthropic.com";
const OPENAI_URL: &str = "https://api.openai.com/v1";
const ANTHROPIC_VERSION: &str = "2023-06-01";
const ANTHROPIC_MODEL: &str = "claude-opus-5-5";
const OPENAI_MODEL: &str = "gpt-5";

/// A provider, chosen.
#[derive(Debug, Clone)]
pub struct Provider {
    /// The server.
    pub endpoint: Endpoint,
    /// How requests are written for it.
    pub dialect: Dialect,
    /// The model where the person names none; none for a server whose models we do not know.
    pub default_model: Option<&'static str>,
    /// The variable that holds the key, for messages.
    pub key_variable: String,
}

/// Why there is none.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ProviderError {
    /// No key, no server: a first run.
    #[error("no model is set up")]
    NotConfigured,
    /// A server that needs a key, and none there.
    #[error("no key for {url}: the variable {variable} is not set")]
    NoKey {
        /// The server.
        url: String,
        /// The variable to set.
        variable: String,
    },
    /// A key with a line end, a space or an accent in it.
    #[error("the key from {variable} has characters that no key has (a space, a line end?)")]
    BadKey {
        /// Where it came from.
        variable: String,
    },
    /// A value that can not be used.
    #[error("`{key}` is `{value}`; {expected}")]
    BadValue {
        /// The setting.
        key: &'static str,
        /// What it is.
        value: String,
        /// What it may be.
        expected: &'static str,
    },
}

/// Chooses a provider. `key` is what the settings' `keyCommand` printed, if there is one.
pub fn choose_provider(
    settings: &ProviderSettings,
    environment: &Environment,
    key: Option<Secret>,
) -> Result<Provider, ProviderError> {
    let kind =
        settings.kind.or_else(|| kind_from(environment)).ok_or(ProviderError::NotConfigured)?;
    let (url_variable, key_variable, official) = match kind {
        ProviderKind::Anthropic => {
            (names::ANTHROPIC_BASE_URL, names::ANTHROPIC_API_KEY, ANTHROPIC_URL)
        }
        ProviderKind::Openai => (names::OPENAI_BASE_URL, names::OPENAI_API_KEY, OPENAI_URL),
    };
    let base_url = settings
        .base_url
        .as_deref()
        .or_else(|| environment.get(url_variable))
        .unwrap_or(official)
        .to_owned();
    if !base_url.starts_with("http://") && !base_url.starts_with("https://") {
        let key = if settings.base_url.is_some() { "provider.baseUrl" } else { url_variable };
        let expected = "it begins with http:// or https://";
        return Err(ProviderError::BadValue { key, value: base_url, expected });
    }
    let key_variable = settings.key_env.clone().unwrap_or_else(|| key_variable.to_owned());
    let credential = credential(kind, key, &key_variable, environment);
    let is_official = base_url.trim_end_matches('/') == official;
    if let Credential::ApiKey(key) | Credential::Bearer(key) = &credential
        && !key.expose().chars().all(|c| c.is_ascii_graphic())
    {
        return Err(ProviderError::BadKey { variable: key_variable });
    }
    let wants_key = is_official || settings.key_env.is_some();
    if wants_key && matches!(credential, Credential::None) {
        return Err(ProviderError::NoKey { url: base_url, variable: key_variable });
    }
    let wire = match kind {
        ProviderKind::Anthropic => Wire::Anthropic,
        ProviderKind::Openai => Wire::OpenAi,
    };
    let dialect = Dialect {
        wire,
        ttl: ttl(settings, is_official)?,
        // Local servers know the old name only.
        max_tokens_field: if is_official && wire == Wire::OpenAi {
            MaxTokensField::MaxCompletionTokens
        } else {
            MaxTokensField::MaxTokens
        },
    };
    let default_model = match wire {
        _ if !is_official => None,
        Wire::Anthropic => Some(ANTHROPIC_MODEL),
        Wire::OpenAi => Some(OPENAI_MODEL),
    };
    let endpoint = Endpoint {
        wire,
        base_url,
        credential,
        version: settings.version.clone().unwrap_or_else(|| ANTHROPIC_VERSION.to_owned()),
        betas: settings.betas.clone(),
        timeouts: timeouts(environment)?,
    };
    Ok(Provider { endpoint, dialect, default_model, key_variable })
}

/// A server that was named beats a key that merely lies around: somebody who names one of their own
/// may not want their code to go anywhere else. Two of a kind: Anthropic.
fn kind_from(environment: &Environment) -> Option<ProviderKind> {
    let order = [
        (names::ANTHROPIC_BASE_URL, ProviderKind::Anthropic),
        (names::OPENAI_BASE_URL, ProviderKind::Openai),
        (names::ANTHROPIC_API_KEY, ProviderKind::Anthropic),
        (names::ANTHROPIC_AUTH_TOKEN, ProviderKind::Anthropic),
        (names::OPENAI_API_KEY, ProviderKind::Openai),
    ];
    order.into_iter().find(|(name, _)| environment.get(name).is_some()).map(|(_, kind)| kind)
}

/// A server takes a key or a token, never both.
fn credential(
    kind: ProviderKind,
    key: Option<Secret>,
    variable: &str,
    environment: &Environment,
) -> Credential {
    let key = key.or_else(|| environment.get(variable).map(Secret::new));
    match (kind, key) {
        (ProviderKind::Anthropic, Some(key)) => Credential::ApiKey(key),
        (ProviderKind::Openai, Some(key)) => Credential::Bearer(key),
        (ProviderKind::Anthropic, None) => match environment.get(names::ANTHROPIC_AUTH_TOKEN) {
            Some(token) => Credential::Bearer(Secret::new(token)),
            None => Credential::None,
        },
        (ProviderKind::Openai, None) => Credential::None,
    }
}

/// An hour where the server is known to offer it; a gateway may not know the word.
fn ttl(settings: &ProviderSettings, is_official: bool) -> Result<CacheTtl, ProviderError> {
    match settings.cache_ttl.as_deref() {
        Some("1h") => Ok(CacheTtl::OneHour),
        None if is_official => Ok(CacheTtl::OneHour),
        Some("5m") | None => Ok(CacheTtl::FiveMinutes),
        Some(other) => Err(ProviderError::BadValue {
            key: "provider.cacheTtl",
            value: other.to_owned(),
            expected: "it is `5m` or `1h`",
        }),
    }
}

fn timeouts(environment: &Environment) -> Result<Timeouts, ProviderError> {
    Ok(match milliseconds(environment, names::IDLE_TIMEOUT_MS)? {
        // Set by hand, it holds for the first byte as well.
        Some(idle) => Timeouts { idle, first_byte: idle, ..Timeouts::default() },
        None => Timeouts::default(),
    })
}

/// How failed requests are tried again, as the environment says.
pub fn retry_policy(environment: &Environment) -> Result<RetryPolicy, ProviderError> {
    let base = milliseconds(environment, names::RETRY_BASE_MS)?;
    Ok(base
        .map_or_else(RetryPolicy::default, |base| RetryPolicy { base, ..RetryPolicy::default() }))
}

fn milliseconds(
    environment: &Environment,
    name: &'static str,
) -> Result<Option<Duration>, ProviderError> {
    let Some(text) = environment.get(name) else { return Ok(None) };
    let expected = "it is a number of milliseconds";
    match text.parse() {
        Ok(milliseconds) => Ok(Some(Duration::from_millis(milliseconds))),
        Err(_) => Err(ProviderError::BadValue { key: name, value: text.to_owned(), expected }),
    }
}

/// The servers that people run on their own machine, at their usual ports.
const LOCAL: &[(&str, &str)] = &[
    ("Ollama", "http://127.0.0.1:11434/v1"),
    ("llama.cpp", "http://127.0.0.1:8080/v1"),
    ("LM Studio", "http://127.0.0.1:1234/v1"),
    ("vLLM", "http://127.0.0.1:8000/v1"),
];

/// A model server found on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalServer {
    /// What usually listens there.
    pub name: &'static str,
    /// Where.
    pub base_url: &'static str,
    /// The first model it lists.
    pub model: String,
}

/// Looks for model servers on this machine.
pub async fn find_local_servers() -> Vec<LocalServer> {
    let looks = LOCAL.iter().map(|(name, base_url)| async move {
        let endpoint = Endpoint {
            wire: Wire::OpenAi,
            base_url: (*base_url).to_owned(),
            credential: Credential::None,
            version: String::new(),
            betas: Vec::new(),
            timeouts: Timeouts { connect: Duration::from_millis(300), ..Timeouts::default() },
        };
        let models = HttpModel::new(endpoint).models().await.ok()?;
        let model = models.into_iter().next()?.id;
        Some(LocalServer { name, base_url, model })
    });
    futures_util::future::join_all(looks).await.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(
        pairs: &[(&str, &str)],
        settings: &ProviderSettings,
    ) -> Result<Provider, ProviderError> {
        choose_provider(settings, &Environment::from_pairs(pairs.iter().copied()), None)
    }

    #[test]
    fn a_key_is_enough() {
        let provider =
            choose(&[("ANTHROPIC_API_KEY", "k1")], &ProviderSettings::default()).unwrap();
        assert_eq!(provider.endpoint.base_url, ANTHROPIC_URL);
        assert!(matches!(provider.endpoint.credential, Credential::ApiKey(_)));
        assert_eq!(
            (provider.dialect.ttl, provider.default_model),
            (CacheTtl::OneHour, Some(ANTHROPIC_MODEL))
        );
        let provider = choose(&[("OPENAI_API_KEY", "k2")], &ProviderSettings::default()).unwrap();
        assert_eq!(provider.endpoint.base_url, OPENAI_URL);
        assert_eq!(provider.dialect.max_tokens_field, MaxTokensField::MaxCompletionTokens);
        let both = [("OPENAI_API_KEY", "k2"), ("ANTHROPIC_API_KEY", "k1")];
        assert_eq!(
            choose(&both, &ProviderSettings::default()).unwrap().endpoint.wire,
            Wire::Anthropic
        );
    }

    #[test]
    fn a_server_that_was_named_beats_a_key() {
        let pairs = [("ANTHROPIC_API_KEY", "k"), ("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1")];
        let provider = choose(&pairs, &ProviderSettings::default()).unwrap();
        assert_eq!(provider.endpoint.base_url, "http://127.0.0.1:8080/v1");
        assert!(matches!(provider.endpoint.credential, Credential::None));
    }

    #[test]
    fn a_key_that_is_none_is_not_sent() {
        let error =
            choose(&[("ANTHROPIC_API_KEY", "one\ntwo")], &ProviderSettings::default()).unwrap_err();
        assert_eq!(error, ProviderError::BadKey { variable: "ANTHROPIC_API_KEY".into() });
    }

    #[test]
    fn a_server_of_ones_own_needs_no_key() {
        let provider = choose(
            &[("OPENAI_BASE_URL", "http://127.0.0.1:8080/v1")],
            &ProviderSettings::default(),
        )
        .unwrap();
        assert!(matches!(provider.endpoint.credential, Credential::None));
        assert_eq!((provider.default_model, provider.dialect.ttl), (None, CacheTtl::FiveMinutes));
        assert!(provider.endpoint.is_local());
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(
            choose(&[], &ProviderSettings::default()).unwrap_err(),
            ProviderError::NotConfigured
        );
        let settings = ProviderSettings {
            kind: Some(ProviderKind::Anthropic),
            key_env: Some("MY_KEY".into()),
            ..ProviderSettings::default()
        };
        let error = choose(&[], &settings).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no key for https://api.anthropic.com: the variable MY_KEY is not set"
        );
        let settings = ProviderSettings { base_url: Some("localhost:1".into()), ..settings };
        assert!(matches!(
            choose(&[("MY_KEY", "k")], &settings),
            Err(ProviderError::BadValue { .. })
        ));
        let settings =
            ProviderSettings { base_url: None, cache_ttl: Some("2h".into()), ..settings };
        assert!(
            choose(&[("MY_KEY", "k")], &settings).unwrap_err().to_string().contains("`5m` or `1h`")
        );
    }

    #[test]
    fn a_token_for_a_gateway() {
        let pairs =
            [("ANTHROPIC_AUTH_TOKEN", "t"), ("ANTHROPIC_BASE_URL", "https://gateway.example")];
        let provider = choose(&pairs, &ProviderSettings::default()).unwrap();
        assert!(matches!(provider.endpoint.credential, Credential::Bearer(_)));
        assert_eq!(provider.endpoint.url("messages"), "https://gateway.example/v1/messages");
    }
}
