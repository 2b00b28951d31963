//! What can go wrong in the database.

#[cfg(feature = "postgres")]
use dormouse_base::innermost_error;
use thiserror::Error;

/// An error of the database. None contains a token or a memory's text.
#[derive(Debug, Error)]
pub enum StorageError {
    /// SQLite.
    #[error("the database file failed: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL.
    #[cfg(feature = "postgres")]
    #[error("the database failed: {}", innermost_error(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// No connection to PostgreSQL.
    #[cfg(feature = "postgres")]
    #[error("the database cannot be reached: {}", innermost_error(.0))]
    Connection(#[from] deadpool_postgres::PoolError),
    /// An address of PostgreSQL, for a program without its client.
    #[error(
        "this build of dormouse has no client for PostgreSQL; use a released build, or build it with \
         `cargo build --release --features postgres`"
    )]
    NoPostgres,
    /// Certificates for the connection to PostgreSQL.
    #[cfg(feature = "postgres")]
    #[error("the certificates for the database cannot be used: {reason}")]
    Certificate {
        /// The file and what is wrong.
        reason: String,
    },
    /// A row that this version did not write.
    #[error(
        "the database holds a row that this version cannot read (column {column}); was it changed by hand?"
    )]
    Row {
        /// Position of the column.
        column: usize,
    },
    /// A schema of a newer version.
    #[error(
        "the database was written by a newer version of dormouse (schema {found}, this one knows {known}); update dormouse"
    )]
    Newer {
        /// In the database.
        found: i64,
        /// In this program.
        known: i64,
    },
    /// A backup into a database that has content.
    #[error("the database is not empty; restore a backup into a new one")]
    NotEmpty,
    /// A line of a backup that cannot be read.
    #[error("line {line} of the backup cannot be read; is it complete?")]
    Backup {
        /// Number of the line.
        line: usize,
    },
    /// A repository with too many entries; the transaction did not happen.
    #[error("the repository has too many entries")]
    TooManyEntries,
    /// An entry changed since the version that the client knows; the transaction did not happen.
    #[error("the entry has changed since")]
    OtherVersion(crate::version::EntityTag),
    /// The key of a change was used for another one; the transaction did not happen.
    #[error("the idempotency key was used for another request")]
    KeyReused,
    /// The server is stopping.
    #[error("the server is stopping")]
    Stopping,
}
