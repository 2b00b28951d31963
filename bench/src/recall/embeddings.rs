//! The model that makes vectors: a file of word vectors, or a server.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dormouse_model::{Credential, EmbeddingClient, Endpoint, Timeouts, WireFormat};
use dormouse_search::{EmbedError, Embedder, EmbedderLocation, ModelFingerprint, WordVectors};
use tempfile::TempDir;

/// A model, and what it needs as long as it is used.
pub(crate) struct VectorModel {
    pub(super) model: Arc<dyn Embedder>,
    _folder: Option<TempDir>,
}

impl VectorModel {
    /// Word vectors, made ready in a folder of their own.
    pub(crate) fn of_words(path: &Path) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let ready = WordVectors::prepare(path, folder.path())
            .and_then(|_| WordVectors::open(path, folder.path()));
        match ready {
            Ok(model) => Self { model: Arc::new(model), _folder: Some(folder) },
            Err(error) => crate::fail::fail(&error.to_string()),
        }
    }

    /// A server that speaks `/v1/embeddings`.
    pub(crate) fn of_server(url: &str) -> Self {
        let endpoint = open_endpoint(url, Timeouts::default());
        let model = ServerModel { endpoint, known: Mutex::default() };
        Self { model: Arc::new(model), _folder: None }
    }
}

/// A server of the OpenAI format that needs no key.
pub(crate) fn open_endpoint(url: &str, timeouts: Timeouts) -> Endpoint {
    Endpoint {
        wire: WireFormat::OpenAi,
        base_url: url.to_owned(),
        credential: Credential::None,
        version: String::new(),
        betas: Vec::new(),
        timeouts,
    }
}

/// A server, asked once for each text. It counts as local: here it is the quality that is measured, not the time.
struct ServerModel {
    endpoint: Endpoint,
    known: Mutex<HashMap<String, Vec<f32>>>,
}

const TIMEOUT: Duration = Duration::from_mins(2);
/// The weight that the program gives a server.
const WEIGHT: f64 = 0.5;

impl ServerModel {
    fn request(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let failed = |error: &dyn std::fmt::Display| EmbedError::Failed(error.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| failed(&error))?;
        let client = EmbeddingClient::new(self.endpoint.clone(), "embeddings");
        let answer = runtime.block_on(client.embed(&[text], TIMEOUT));
        let mut vectors = answer.map_err(|error| failed(&error))?;
        vectors.pop().ok_or(EmbedError::NoDirection)
    }
}

impl Embedder for ServerModel {
    fn fingerprint(&self) -> ModelFingerprint {
        ModelFingerprint::of(&["benchmark", &self.endpoint.base_url])
    }

    fn location(&self) -> EmbedderLocation {
        EmbedderLocation::Local
    }

    fn weight(&self) -> f64 {
        WEIGHT
    }

    fn supports(&self, _: &str) -> bool {
        true
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut vectors = Vec::new();
        for text in texts {
            let vector = match known.get(*text) {
                Some(vector) => vector.clone(),
                None => self.request(text)?,
            };
            known.insert((*text).to_owned(), vector.clone());
            vectors.push(vector);
        }
        Ok(vectors)
    }
}
