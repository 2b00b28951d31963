//! Why another agent could not be set up.

use std::path::PathBuf;

use dormouse_base::{FileError, JsonTextError, RelPathError};
use thiserror::Error;

/// Why an agent could not be set up.
#[derive(Debug, Error)]
pub enum SetupError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A file name that cannot be used.
    #[error(transparent)]
    Name(#[from] RelPathError),
    /// A file that is not text.
    #[error("{0} is not UTF-8 text; add the lines manually")]
    NotText(PathBuf),
    /// A file that is not JSON, even with comments.
    #[error("line {line} is not JSON; fix the file, or add the lines manually")]
    Json {
        /// Number of the line.
        line: usize,
    },
    /// Not TOML.
    #[error("line {line} is not TOML ({reason}); fix the file, or add the lines manually")]
    Toml {
        /// Number of the line.
        line: usize,
        /// The parser's message.
        reason: String,
    },
    /// The entry cannot be added without changing other bytes of the file.
    #[error("the entry cannot be added without changing other lines; add it manually")]
    OtherBytes,
    /// A value of another type is where the entry would go.
    #[error("`{0}` has a form that lines cannot be added to; add them manually")]
    Shape(String),
    /// An error in one of the agent's files.
    #[error("{file}: {error}")]
    In {
        /// The file.
        file: PathBuf,
        /// The error.
        error: Box<SetupError>,
    },
    /// The preview cannot be rendered.
    #[error("the preview cannot be rendered: {0}")]
    Preview(serde_json::Error),
    /// The record of the added lines cannot be written.
    #[error("the record of the added lines cannot be written: {0}")]
    Record(serde_json::Error),
}

impl From<JsonTextError> for SetupError {
    fn from(error: JsonTextError) -> Self {
        match error {
            JsonTextError::NotJson { line } | JsonTextError::TooDeep { line } => {
                Self::Json { line }
            }
            JsonTextError::NoContainer { .. } => Self::Shape("the top of the file".to_owned()),
        }
    }
}
