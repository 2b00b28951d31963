//! From settings to a model that makes vectors, if the person has set one up. Where none is, nothing is
//! opened, read or asked.

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

use crate::wiring::exit::Failure;
use crate::wiring::print;
use crate::wiring::world::World;

/// Somebody waits for the vector of a question; then words have to do.
const QUESTION_PATIENCE: Duration = Duration::from_secs(2);
/// Nobody waits for those of memories, but a server that says nothing is not to be waited for either.
const PATIENCE: Duration = Duration::from_mins(1);
const CONNECT: Duration = Duration::from_secs(2);
/// What a place by vectors counts where the person does not say: with a model that nobody here knows, words lead.
const WEIGHT: f64 = 0.5;
const MOST_WEIGHT: f64 = 4.0;

/// Why the model that was set up can not be used.
#[derive(Debug, Error)]
pub(crate) enum NoEmbedder {
    /// Half a server.
    #[error("the settings name `embeddings.{named}` but not `embeddings.{missing}`")]
    Half { named: &'static str, missing: &'static str },
    #[error("`embeddings.baseUrl` is `{0}`; it must start with http:// or https://")]
    Address(String),
    #[error("`embeddings.weight` is {0}; it is a number from 0 to {MOST_WEIGHT}")]
    Weight(f64),
    #[error("no key for the embeddings server: the variable {0} is not set")]
    NoKey(String),
    #[error(transparent)]
    Words(#[from] WordFileError),
    #[error(transparent)]
    Home(#[from] HomeError),
}

impl NoEmbedder {
    /// Whether making the vectors, rather than mending a setting, is what is to be done.
    pub(crate) fn is_not_prepared(&self) -> bool {
        matches!(self, Self::Words(WordFileError::NotPrepared(_)))
    }
}

/// What the settings name.
pub(crate) enum Named {
    File(PathBuf),
    Server { url: String, model: String },
}

/// What was set up, if anything.
pub(crate) fn named(settings: &Settings, world: &World) -> Result<Option<Named>, NoEmbedder> {
    let set = &settings.embeddings;
    if let Some(file) = &set.file {
        let home = world.environment.path(names::USER_HOME).unwrap_or_default();
        let file = match file.strip_prefix("~") {
            Ok(below) => home.join(below),
            Err(_) => file.clone(),
        };
        return Ok(Some(Named::File(file)));
    }
    match (&set.base_url, &set.model) {
        (None, None) => Ok(None),
        (Some(url), Some(model)) => {
            Ok(Some(Named::Server { url: url.clone(), model: model.clone() }))
        }
        (Some(_), None) => Err(NoEmbedder::Half { named: "baseUrl", missing: "model" }),
        (None, Some(_)) => Err(NoEmbedder::Half { named: "model", missing: "baseUrl" }),
    }
}

/// The model that was set up, ready; none if none was.
pub(crate) fn embedder(
    settings: &Settings,
    world: &World,
) -> Result<Option<Arc<dyn Embedder>>, NoEmbedder> {
    let Some(named) = named(settings, world)? else { return Ok(None) };
    let weight = settings.embeddings.weight;
    if let Some(weight) = weight.filter(|weight| !(0.0..=MOST_WEIGHT).contains(weight)) {
        return Err(NoEmbedder::Weight(weight));
    }
    Ok(Some(match named {
        Named::File(path) => {
            let home = world.home()?;
            let words = WordVectors::open(&path, &home.join("cache"))?;
            match weight {
                Some(weight) => Arc::new(words.with_weight(weight)),
                None => Arc::new(words),
            }
        }
        Named::Server { url, model } => {
            Arc::new(Served::new(&url, &model, &settings.embeddings, world)?)
        }
    }))
}

/// The same where vectors are welcome and not needed: what keeps them away is said.
pub(crate) fn welcome(settings: &Settings, world: &World) -> Option<Arc<dyn Embedder>> {
    embedder(settings, world).unwrap_or_else(|why| {
        print::note(&format!("note: memories are ranked by words alone: {why}"));
        None
    })
}

/// A model behind HTTP.
struct Served {
    endpoint: Endpoint,
    model: String,
    scripts: WritingScripts,
    weight: f64,
}

impl Served {
    fn new(
        url: &str,
        model: &str,
        set: &EmbeddingSettings,
        world: &World,
    ) -> Result<Self, NoEmbedder> {
        if !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(NoEmbedder::Address(url.to_owned()));
        }
        let credential = match &set.key_env {
            None => Credential::None,
            Some(name) => match world.environment.get(name) {
                Some(key) => Credential::Bearer(Secret::new(key)),
                None => return Err(NoEmbedder::NoKey(name.clone())),
            },
        };
        let endpoint = Endpoint {
            wire: WireFormat::OpenAi,
            base_url: url.to_owned(),
            credential,
            version: String::new(),
            betas: Vec::new(),
            timeouts: Timeouts { connect: CONNECT, ..Timeouts::default() },
        };
        let scripts = WritingScripts::of(&set.scripts);
        let weight = set.weight.unwrap_or(WEIGHT);
        Ok(Self { endpoint, model: model.to_owned(), scripts, weight })
    }

    /// Asks on a thread of its own: whoever calls may be on one that must not wait inside a runtime.
    fn ask(&self, texts: &[&str], patience: Duration) -> Result<Vec<Vec<f32>>, EmbedError> {
        let asking = || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| EmbedError::Failed(error.to_string()))?;
            let server = EmbeddingClient::new(self.endpoint.clone(), &self.model);
            let answer = runtime.block_on(server.embed(texts, patience));
            // A name that is still being looked up must not keep anybody.
            runtime.shutdown_background();
            answer.map_err(|error| EmbedError::Failed(self.said(&error)))
        };
        std::thread::scope(|scope| {
            let broke = |_| Err(EmbedError::Failed("asking for vectors broke off".to_owned()));
            scope.spawn(asking).join().unwrap_or_else(broke)
        })
    }

    fn said(&self, error: &ModelError) -> String {
        format!("the embeddings server at {}: {error}", self.endpoint.shown_url())
    }
}

impl Embedder for Served {
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
        self.ask(texts, PATIENCE)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.ask(&[text], QUESTION_PATIENCE)
    }
}

impl From<NoEmbedder> for Failure {
    fn from(error: NoEmbedder) -> Self {
        Self::usage(error).hint("docs/memory.md says how a model for vectors is set up")
    }
}
