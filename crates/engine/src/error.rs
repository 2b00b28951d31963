//! What can go wrong in the engine itself. What a model server does wrong is no error here: it ends a
//! turn, and the conversation goes on.

use dormouse_base::FileError;
use dormouse_checkpoint::CheckpointError;
use dormouse_conversation::MessageHistoryError;
use dormouse_conversation::transcript::TranscriptError;
use thiserror::Error;

/// A conversation that can not be opened or written down.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The transcript.
    #[error(transparent)]
    Transcript(#[from] TranscriptError),
    /// A folder.
    #[error(transparent)]
    File(#[from] FileError),
    /// A checkpoint.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// Nobody may write while files are restored.
    #[error("{0} still runs and may write; end it, then rewind")]
    StillWriting(&'static str),
    /// A message that would break the pairing of calls and results: a bug of ours, caught before it
    /// reached a server.
    #[error("the conversation would have become invalid: {0}; this is a bug, please report it")]
    History(#[from] MessageHistoryError),
}
