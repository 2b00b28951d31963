//! An embedding model from a file of word vectors.

mod model;
mod prepare;
mod source;
mod table;

pub use model::WordVectors;
pub use prepare::PreparedWordVectors;
pub use source::WordFileError;
