//! The server's database: one set of SQL texts for SQLite and PostgreSQL.
//!
//! [`TeamStore`] holds the rules; a database only runs statements in transactions. Both databases therefore behave the
//! same, and one test suite runs on both.

mod backup;
mod change_key;
mod database;
mod error;
mod once;
mod people;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "postgres")]
mod postgres_tls;
mod proposals;
mod reading;
mod rows;
mod schema;
mod sql;
mod sqlite;
mod store;
#[cfg(test)]
mod store_tests;
#[cfg(test)]
#[cfg(feature = "postgres")]
#[expect(clippy::disallowed_methods, reason = "the tests act as another program")]
mod tls_tests;
mod write_batch;
mod write_queue;
#[cfg(test)]
mod write_queue_tests;
mod writing;

pub use change_key::ChangeKey;
pub use database::DatabaseAddress;
pub use error::StorageError;
pub use people::NewToken;
pub use sql::RepoChange;
pub use store::{RepositoryAccess, TeamStore};
pub use writing::{EntryChange, WriteOutcome, WriteRequest};
