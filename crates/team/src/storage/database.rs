//! The two databases, and running a unit of work in either.

use std::path::PathBuf;
use std::str::FromStr;

use dormouse_base::Secret;
use futures_util::future::BoxFuture;
use tokio::sync::broadcast;

use super::error::StorageError;
#[cfg(feature = "postgres")]
use super::postgres::PostgresDatabase;
use super::sql::{RepoChange, SqlAccess, SqlConnection};
use super::sqlite::SqliteDatabase;

/// Where a server's database is.
#[derive(Debug, Clone)]
pub enum DatabaseAddress {
    /// A file.
    File(PathBuf),
    /// A PostgreSQL database: `postgres://…`. The address may contain a password and does not print.
    Postgres(Secret),
}

impl FromStr for DatabaseAddress {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_postgres = text.starts_with("postgres://") || text.starts_with("postgresql://");
        Ok(if is_postgres { Self::Postgres(Secret::new(text)) } else { Self::File(text.into()) })
    }
}

/// A database.
pub(super) enum Database {
    Sqlite(SqliteDatabase),
    #[cfg(feature = "postgres")]
    Postgres(PostgresDatabase),
}

impl Database {
    /// Opens it. A program may be built without the client for PostgreSQL.
    #[cfg_attr(
        not(feature = "postgres"),
        expect(clippy::unused_async, reason = "only PostgreSQL is connected to")
    )]
    pub(super) async fn open(address: &DatabaseAddress) -> Result<Self, StorageError> {
        match address {
            DatabaseAddress::File(path) => Ok(Self::Sqlite(SqliteDatabase::open(path)?)),
            #[cfg(feature = "postgres")]
            DatabaseAddress::Postgres(address) => {
                Ok(Self::Postgres(PostgresDatabase::open(address).await?))
            }
            #[cfg(not(feature = "postgres"))]
            DatabaseAddress::Postgres(_) => Err(StorageError::NoPostgres),
        }
    }

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
            #[cfg(feature = "postgres")]
            Self::Postgres(postgres) => postgres.run(access, work).await,
        }
    }

    /// News of new versions, from all servers of this database.
    pub(super) fn changes(&self) -> broadcast::Receiver<RepoChange> {
        match self {
            Self::Sqlite(sqlite) => sqlite.changes(),
            #[cfg(feature = "postgres")]
            Self::Postgres(postgres) => postgres.changes(),
        }
    }
}
