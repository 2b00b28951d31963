//! Why a sync fails.

use dormouse_base::FileError;
use dormouse_memory::ChangeError;
use thiserror::Error;

use super::http::ClientError;

/// Why a sync failed. What was done before stays, and the next one continues.
#[derive(Debug, Error)]
pub enum SyncError {
    /// The server.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The memory directory.
    #[error(transparent)]
    Memory(#[from] ChangeError),
    /// The state folder.
    #[error(transparent)]
    File(#[from] FileError),
    /// Another process syncs the same directory.
    #[error(
        "another process is syncing this project's team memory; try again when it has finished"
    )]
    Busy,
}
