//! Texts as vectors, where the person has a model for that: a seam, and what is kept behind it.
//!
//! Off unless set up, and then never in the way: a vector is used where it lies ready, and made by a command or
//! in the background. `vector` is one of them, `kept` those of a memory directory, `words` a file of word
//! vectors, `script` how a text is written, so that no model is used on a language it does not know.
//!
//! Invariant: vectors of two models never meet. Whatever a model gives is looked at before it is believed.

mod bytes;
mod fill;
mod kept;
mod script;
mod vector;
mod words;

use thiserror::Error;

pub(crate) use fill::Filler;
pub use fill::{FillError, Filled};
pub(crate) use kept::{Kept, Seen, VectorsFile};
pub use script::{Script, Scripts};
pub(crate) use vector::Ray;
pub use vector::Vector;
pub use words::{Prepared, WordFileError, WordVectors};

/// Which model made a vector: those of another can not be compared with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(pub(crate) [u8; 32]);

impl Fingerprint {
    /// Of whatever tells one model from another. Goes along with how a memory becomes the text that is given to it.
    pub fn of(parts: &[&str]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts.iter().chain(&[fill::TEXT_VERSION]) {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
        Self(*hasher.finalize().as_bytes())
    }
}

/// Where a model works, and so when it may be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// In this process, at once.
    Here,
    /// Behind a network: never while somebody's turn waits.
    Away,
}

/// Makes vectors of texts.
pub trait Embedder: Send + Sync {
    /// Which model it is.
    fn fingerprint(&self) -> Fingerprint;

    /// Where it works.
    fn reach(&self) -> Reach;

    /// What a place in its order counts, beside one in the order by words: 1 as much.
    fn weight(&self) -> f64;

    /// Whether it knows the language of a text; one that it does not know is not given to it.
    fn knows(&self, text: &str) -> bool;

    /// Vectors of what is looked for in. One for each text, in order; the caller checks that.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError>;

    /// The vector of what is looked for. Somebody waits for it.
    fn embed_question(&self, text: &str) -> Result<Vec<Vec<f32>>, EmbedError> {
        self.embed(&[text])
    }
}

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum EmbedError {
    /// The model could not be asked, or would not answer.
    #[error("{0}")]
    Failed(String),
    /// Not a vector for each text.
    #[error("the embedding model gave {got} vectors for {asked} texts")]
    Count {
        /// How many were asked for.
        asked: usize,
        /// How many came.
        got: usize,
    },
    /// Vectors of several lengths can not be of one model.
    #[error(
        "the embedding model gave a vector of {got} numbers where the others have {expected}; if it is another model than before, `dormouse memory embed --again` makes all vectors anew"
    )]
    Dimension {
        /// What the others have.
        expected: usize,
        /// What this one has.
        got: usize,
    },
    /// Nothing that points anywhere.
    #[error(
        "the embedding model gave a vector that is empty, all zero, or holds something that is no number"
    )]
    NoDirection,
}

/// Looks at what a model gave: a vector for each text, all of one kind.
pub(crate) fn checked(
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

#[cfg(test)]
#[path = "embed_tests.rs"]
mod tests;
