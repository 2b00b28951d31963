//! Team memory: memories that everybody with a token for a repository shares through a server of their own (T-1).
//!
//! Owns the sync of a directory with a server. Names, checksums and versions are types that cannot hold a wrong value.
//! Deliberately absent: the terminal, the model, what is shown to users.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod api;
mod checksum;
mod client;
mod entry_name;
mod limits;
mod person;
mod repository_name;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "server")]
mod storage;
mod sync;
mod token;
mod version;

pub use checksum::{Checksum, ChecksumError};
pub use client::{
    ClientError, FetchedChanges, HeldBack, Membership, MembershipFile, NewsStream, PlainHttp,
    PulledEntry, ReplacedEntry, ServerUrl, ServerUrlError, SyncError, SyncReport, TeamClient,
    TeamSync,
};
pub use entry_name::{EntryName, EntryNameError};
pub use limits::{
    CONFLICT_RETRIES, LONGEST_BODY, LONGEST_ENTRY, LONGEST_UPLOAD, MOST_ENTRIES, REQUEST_TIMEOUT,
};
pub use person::{PersonName, PersonNameError, TeamRole};
pub use repository_name::{RepositoryName, RepositoryNameError};
#[cfg(feature = "server")]
pub use server::{LogSink, RequestLog, ServerError, ServerOptions, TeamServer, TlsFiles};
#[cfg(feature = "server")]
pub use storage::{
    ChangeKey, DatabaseAddress, EntryChange, NewToken, RepoChange, RepositoryAccess, StorageError,
    TeamStore, WriteOutcome, WriteRequest,
};
pub use sync::{PullReason, PushReason, RemoveReason, SyncAction, SyncStates, plan, uploads};
pub use token::{TeamToken, TeamTokenError, TokenHash};
pub use version::{EntityTag, EntityTagError, RepoVersion};
