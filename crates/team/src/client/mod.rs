//! The client of a team server: requests, and keeping a memory directory in sync.

mod http;
mod local_files;
mod membership;
mod report;
mod server_url;
mod state_files;
mod sync_error;
mod sync_run;
mod sync_state;
#[cfg(feature = "server")]
#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests act as other programs")]
mod sync_tests;

pub use http::{ClientError, FetchedChanges, NewsStream, TeamClient};
pub use membership::{Membership, MembershipFile};
pub use report::{HeldBack, PulledEntry, ReplacedEntry, SyncReport};
pub use server_url::{PlainHttp, ServerUrl, ServerUrlError};
pub use sync_error::SyncError;
pub use sync_run::TeamSync;
