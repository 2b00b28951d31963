//! The text file of word vectors, and why it cannot be used.

use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use dormouse_base::FileError;
use thiserror::Error;

/// Why a file of word vectors cannot be used.
#[derive(Debug, Error)]
pub enum WordFileError {
    /// The file could not be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// The file was not prepared or has changed since.
    #[error(
        "the word vectors in {} are not prepared or have changed since; run `dormouse memory embed`", .0.display()
    )]
    NotPrepared(PathBuf),
    /// Invalid line.
    #[error("{}, line {line}: {problem}; expected a word and its numbers, separated by spaces", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: usize,
        /// What is wrong.
        problem: String,
    },
}

/// Size and modification time of the text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WordFileStamp {
    pub(super) size: u64,
    /// In nanoseconds since 1970.
    pub(super) modified: u64,
}

impl WordFileStamp {
    pub(super) fn of(path: &Path) -> Result<Self, FileError> {
        let unreadable =
            |error| FileError::new(dormouse_base::FileAction::Read, path.to_owned(), error);
        let about = std::fs::metadata(path).map_err(unreadable)?;
        let since = about.modified().map_err(unreadable)?.duration_since(UNIX_EPOCH);
        let modified = since.map_or(0, |since| u64::try_from(since.as_nanos()).unwrap_or(0));
        Ok(Self { size: about.len(), modified })
    }
}
