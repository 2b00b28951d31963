//! Why a page cannot be shown or a change was not made.

use dormouse_base::FileError;
use dormouse_checkpoint::CheckpointError;
use dormouse_memory::{ChangeError, LookupError, MemoryFileError};
use dormouse_team::ClientError;
use thiserror::Error;

/// Why a page cannot be shown or a change was not made.
#[derive(Debug, Error)]
pub enum ViewerError {
    /// A change was refused, or memory cannot be read.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// A memory was not found.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// A file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A path that cannot be a memory's.
    #[error(transparent)]
    Name(#[from] MemoryFileError),
    /// The checkpoints of a session cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// A session cannot be profiled.
    #[error("{0}")]
    Profile(String),
    /// The team's server did not do it.
    #[error(transparent)]
    Team(#[from] ClientError),
    /// No such page, session or store.
    #[error("there is no page at this address")]
    NotFound,
    /// The viewer was started with `--read-only`.
    #[error("the viewer was started with --read-only")]
    ReadOnly,
    /// The form does not carry the token of its page.
    #[error("the page is from another run of the viewer; reload it and try again")]
    OldForm,
    /// The port cannot be listened on.
    #[error("cannot listen on port {port}: {source}; choose another with --port")]
    Listen {
        /// The port.
        port: u16,
        /// The reason.
        source: std::io::Error,
    },
    /// The work on a page was cut off.
    #[error(
        "the page was not finished: the program failed; the terminal of `dormouse ui` says where"
    )]
    CutOff,
}
