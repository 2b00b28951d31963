//! Texts as vectors, where the user has configured an embedding model.
//!
//! Off by default, and never blocking a turn: existing vectors are used; missing ones are made by a command or in the
//! background. `embedder` is the interface to models, `vector` one quantized vector, `vector_file` the stored vectors of
//! a collection, `fill` makes missing ones, `word_vectors` is a model from a file of word vectors, `script` detects the
//! writing script, so that no model is used on a language it does not support.
//!
//! Invariant: vectors of two models are never compared. Every answer of a model is checked before it is used.

mod bytes;
mod embedder;
mod embedding_text;
mod fill;
mod script;
mod vector;
mod vector_file;
mod word_vectors;

pub(crate) use embedder::check_vectors;
pub use embedder::{EmbedError, Embedder, EmbedderLocation, ModelFingerprint};
pub use embedding_text::EmbeddingTexts;
pub use fill::{VectorCounts, VectorFillError, VectorFiller};
pub use script::WritingScripts;
pub use vector::Vector;
pub use vector_file::{FileStamp, VectorFile};
pub(crate) use vector_file::{SimilaritySpread, StoredVector, StoredVectors};
pub use word_vectors::{PreparedWordVectors, WordFileError, WordVectors};

#[cfg(test)]
#[path = "embed_tests.rs"]
mod tests;
