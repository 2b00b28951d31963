//! The two databases, and running a unit of work in either.

use futures_util::future::BoxFuture;
use tokio::sync::broadcast;

use super::error::StorageError;
use super::postgres::PostgresDatabase;
use super::sql::{RepoChange, SqlAccess, SqlConnection};
use super::sqlite::SqliteDatabase;

/// A database.
pub(super) enum Database {
    Sqlite(SqliteDatabase),
    Postgres(PostgresDatabase),
}

impl Database {
    /// Runs a unit of work.
    pub(super) async fn run<T, W>(&self, access: SqlAccess, work: W) -> Result<T, StorageError>
    where
        T: Send + 'static,
        W: for<'c> FnOnce(&'c mut dyn SqlConnection) -> BoxFuture<'c, Result<T, StorageError>>
            + Send
            + 'static,
    {
        match self {
            Self::Sqlite(sqlite) => sqlite.run(access, work).await,
            Self::Postgres(postgres) => postgres.run(access, work).await,
        }
    }

    /// News of new versions, from all servers of this database.
    pub(super) fn changes(&self) -> broadcast::Receiver<RepoChange> {
        match self {
            Self::Sqlite(sqlite) => sqlite.changes(),
            Self::Postgres(postgres) => postgres.changes(),
        }
    }
}
