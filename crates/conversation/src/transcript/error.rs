//! Why a transcript cannot be opened or written.

use dormouse_base::{AppendError, FileError, LockError, SessionId};
use thiserror::Error;

/// Why a transcript cannot be opened or written.
#[derive(Debug, Error)]
pub enum TranscriptError {
    /// Another process writes to it.
    #[error("session {session} is open elsewhere: {source}")]
    InUse {
        /// The session.
        session: SessionId,
        /// The lock holder.
        source: LockError,
    },
    /// The session has no transcript.
    #[error("no session {0} in this project; `dormouse sessions` lists the sessions")]
    Missing(SessionId),
    /// A write failed; the file is unchanged.
    #[error("the transcript could not be written: {0}")]
    Append(#[from] AppendError),
    /// A file operation failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line cannot be serialized.
    #[error("a transcript line could not be encoded: {0}")]
    Encode(#[from] serde_json::Error),
}
