//! The embedding model from the settings, if the user has configured one. Without one, no file is opened and no
//! server is contacted.

use dormouse_search::{
    EmbedError, Embedder, EmbedderLocation, ModelFingerprint, WordFileError, WordVectors,
    WritingScripts,
};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{EmbeddingSettings, HomeError, Secret, Settings, names};
use dormouse_model::{Credential, EmbeddingClient, Endpoint, ModelError, Timeouts, WireFormat};
use thiserror::Error;

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::print;
use crate::wiring::world::World;

/// Timeout for the vector of a query, for which the user waits; after it, words alone decide.
const QUERY_TIMEOUT: Duration = Duration::from_secs(2);
/// Timeout for the vectors of memories, which are computed in the background.
const TIMEOUT: Duration = Duration::from_mins(1);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);
/// Default weight of a rank by vectors: with an unknown model, words count more.
const DEFAULT_WEIGHT: f64 = 0.5;
const MAX_WEIGHT: f64 = 4.0;

/// Why the configured model cannot be used.
#[derive(Debug, Error)]
pub(crate) enum EmbedderError {
    #[error("the settings name `embeddings.{named}` but not `embeddings.{missing}`")]
    Incomplete { named: &'static str, missing: &'static str },
    #[error("`embeddings.baseUrl` is `{0}`; it must start with http:// or https://")]
    Address(String),
    #[error("`embeddings.weight` is {0}; it is a number from 0 to {MAX_WEIGHT}")]
    Weight(f64),
    #[error("no key for the embeddings server: the variable {0} is not set")]
    NoKey(String),
    #[error(transparent)]
    Words(#[from] WordFileError),
    #[error(transparent)]
    Home(#[from] HomeError),
}

impl EmbedderError {
    /// Whether `dormouse memory embed` has to be run, rather than a setting corrected.
    pub(crate) fn is_not_prepared(&self) -> bool {
        matches!(self, Self::Words(WordFileError::NotPrepared(_)))
    }
}

/// The model that the settings name.
pub(crate) enum ConfiguredEmbedder {
    File(PathBuf),
    Server { url: String, model: String },
}

/// The model that the settings name, if any.
pub(crate) fn configured(
    settings: &Settings,
    world: &World,
) -> Result<Option<ConfiguredEmbedder>, EmbedderError> {
    let set = &settings.embeddings;
    if let Some(file) = &set.file {
        let home = world.environment.path(names::USER_HOME).unwrap_or_default();
        let file = match file.strip_prefix("~") {
            Ok(below) => home.join(below),
            Err(_) => file.clone(),
        };
        return Ok(Some(ConfiguredEmbedder::File(file)));
    }
    match (&set.base_url, &set.model) {
        (None, None) => Ok(None),
        (Some(url), Some(model)) => {
            Ok(Some(ConfiguredEmbedder::Server { url: url.clone(), model: model.clone() }))
        }
        (Some(_), None) => Err(EmbedderError::Incomplete { named: "baseUrl", missing: "model" }),
        (None, Some(_)) => Err(EmbedderError::Incomplete { named: "model", missing: "baseUrl" }),
    }
}

/// Opens the configured model; none if none is configured.
pub(crate) fn embedder(
    settings: &Settings,
    world: &World,
) -> Result<Option<Arc<dyn Embedder>>, EmbedderError> {
    let Some(configured) = configured(settings, world)? else { return Ok(None) };
    let weight = settings.embeddings.weight;
    if let Some(weight) = weight.filter(|weight| !(0.0..=MAX_WEIGHT).contains(weight)) {
        return Err(EmbedderError::Weight(weight));
    }
    Ok(Some(match configured {
        ConfiguredEmbedder::File(path) => {
            let home = world.home()?;
            let words = WordVectors::open(&path, &home.join("cache"))?;
            match weight {
                Some(weight) => Arc::new(words.with_weight(weight)),
                None => Arc::new(words),
            }
        }
        ConfiguredEmbedder::Server { url, model } => {
            Arc::new(ServerEmbedder::new(&url, &model, &settings.embeddings, world)?)
        }
    }))
}

/// Like [`embedder`], but an error is only reported: memories are ranked by words alone.
pub(crate) fn embedder_or_note(settings: &Settings, world: &World) -> Option<Arc<dyn Embedder>> {
    embedder(settings, world).unwrap_or_else(|error| {
        print::note(&msg!("embeddings-unavailable", reason = error.to_string()));
        None
    })
}

/// A model on a server.
struct ServerEmbedder {
    endpoint: Endpoint,
    model: String,
    scripts: WritingScripts,
    weight: f64,
}

impl ServerEmbedder {
    fn new(
        url: &str,
        model: &str,
        set: &EmbeddingSettings,
        world: &World,
    ) -> Result<Self, EmbedderError> {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(EmbedderError::Address(url.to_owned()));
        }
        let credential = match &set.key_env {
            None => Credential::None,
            Some(name) => match world.environment.get(name) {
                Some(key) => Credential::Bearer(Secret::new(key)),
                None => return Err(EmbedderError::NoKey(name.clone())),
            },
        };
        let endpoint = Endpoint {
            wire: WireFormat::OpenAi,
            base_url: url.to_owned(),
            credential,
            version: String::new(),
            betas: Vec::new(),
            timeouts: Timeouts { connect: CONNECT_TIMEOUT, ..Timeouts::default() },
        };
        let scripts = WritingScripts::of(&set.scripts);
        let weight = set.weight.unwrap_or(DEFAULT_WEIGHT);
        Ok(Self { endpoint, model: model.to_owned(), scripts, weight })
    }

    /// Sends the request on a separate thread, because the caller may be on a runtime's thread, which must not block.
    fn request(&self, texts: &[&str], timeout: Duration) -> Result<Vec<Vec<f32>>, EmbedError> {
        let send = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| EmbedError::Failed(error.to_string()))?;
            let server = EmbeddingClient::new(self.endpoint.clone(), &self.model);
            let response = runtime.block_on(server.embed(texts, timeout));
            // A pending DNS lookup must not delay the caller.
            runtime.shutdown_background();
            response.map_err(|error| EmbedError::Failed(self.describe(&error)))
        };
        std::thread::scope(|scope| {
            let panicked = |_| Err(EmbedError::Failed("the request for vectors failed".to_owned()));
            scope.spawn(send).join().unwrap_or_else(panicked)
        })
    }

    fn describe(&self, error: &ModelError) -> String {
        format!("the embeddings server at {}: {error}", self.endpoint.shown_url())
    }
}

impl Embedder for ServerEmbedder {
    fn fingerprint(&self) -> ModelFingerprint {
        ModelFingerprint::of(&["server", &self.endpoint.shown_url(), &self.model])
    }

    fn location(&self) -> EmbedderLocation {
        EmbedderLocation::Remote
    }

    fn weight(&self) -> f64 {
        self.weight
    }

    fn supports(&self, text: &str) -> bool {
        self.scripts.cover(text)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.request(texts, TIMEOUT)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.request(&[text], QUERY_TIMEOUT)
    }
}

impl From<EmbedderError> for Failure {
    fn from(error: EmbedderError) -> Self {
        Self::usage(error).hint(msg!("embeddings-hint"))
    }
}
