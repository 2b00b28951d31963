//! The interface to embedding models.

use thiserror::Error;

use super::embedding_text::TEXT_VERSION;
use super::vector::Vector;

/// Identifies the model that made a vector; vectors of different models are not comparable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModelFingerprint(pub(crate) [u8; 32]);

impl ModelFingerprint {
    /// Hashes the parts that identify a model, together with the version of [`EmbeddingTexts`](crate::EmbeddingTexts).
    pub fn of(parts: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts.iter().chain(&[TEXT_VERSION]) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Self(*hasher.finalize().as_bytes())
    }
}

/// Where a model runs, and so when it may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EmbedderLocation {
    /// In this process, immediately.
    Local,
    /// Over the network: never while a turn waits.
    Remote,
}

/// Makes vectors of texts.
pub trait Embedder: Send + Sync {
    /// Identifies the model.
    fn fingerprint(&self) -> ModelFingerprint;

    /// Where the model runs.
    fn location(&self) -> EmbedderLocation;

    /// Weight of its ranking relative to the ranking by words; 1 is equal.
    fn weight(&self) -> f64;

    /// Whether it supports the language of a text; other texts are not given to it.
    fn supports(&self, text: &str) -> bool;

    /// Vectors of documents: one for each text, in order. The caller checks the result.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// The vector of a query; the user waits for it.
    fn embed_query(&self, text: &str) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed(&[text])
    }
}

/// Why a model returned no usable vectors.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EmbedError {
    /// The model could not be reached or refused.
    #[error("{0}")]
    Failed(String),
    /// Wrong number of vectors.
    #[error("the embedding model returned {got} vectors for {asked} texts")]
    Count {
        /// Number of texts.
        asked: usize,
        /// Number of vectors.
        got: usize,
    },
    /// Vectors of different lengths cannot come from one model.
    #[error(
        "the embedding model returned a vector of {got} numbers, not {expected}; if the model has changed, `dormouse memory embed --again` recreates all vectors"
    )]
    Dimension {
        /// Length of the other vectors.
        expected: usize,
        /// Length of this vector.
        got: usize,
    },
    /// A vector without a direction.
    #[error(
        "the embedding model returned a vector that is empty, all zero, or has an invalid number"
    )]
    NoDirection,
}

/// Checks that a model returned one vector of the right length for each text.
pub(crate) fn check_vectors(
    answer: Vec<Vec<f32>>,
    asked: usize,
    dimension: Option<usize>,
) -> Result<Vec<Vector>, EmbedError> {
    if answer.len() != asked {
        return Err(EmbedError::Count { asked, got: answer.len() });
    }
    let expected = dimension.or_else(|| answer.first().map(Vec::len)).unwrap_or(0);
    let vector = |values: Vec<f32>| match values.len() {
        got if got != expected => Err(EmbedError::Dimension { expected, got }),
        _ => Vector::new(&values).ok_or(EmbedError::NoDirection),
    };
    answer.into_iter().map(vector).collect()
}
