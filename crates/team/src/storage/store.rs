//! The store of a team server: opening it, and what a token may do.

use std::sync::Arc;

use tokio::sync::broadcast;

use super::database::{Database, DatabaseAddress};
use super::error::StorageError;
use super::rows::{no_version, role};
use super::schema;
use super::sql::{RepoChange, SqlAccess, SqlRow, values};
use super::write_queue::WriteQueue;
use super::writing::{WriteOutcome, WriteRequest};
use crate::person::{PersonName, TeamRole};
use crate::repository_name::RepositoryName;
use crate::token::TokenHash;
use crate::version::EntityTag;

/// What a token may do with a repository, and the repository's version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryAccess {
    /// The token's holder.
    pub person: PersonName,
    /// What it allows.
    pub role: TeamRole,
    /// The only repository that the token is for.
    pub only: Option<RepositoryName>,
    /// The current version.
    pub etag: EntityTag,
    /// Whether changes by writers wait for an admin.
    pub review: bool,
    /// Layers that are off for everybody.
    pub switched_off: Vec<String>,
}

/// The memories of all repositories, with their history, tokens and proposals.
///
/// Invariant: a change is accepted once its transaction is durable; then it is in the history, with the author of the
/// token that it was sent with.
pub struct TeamStore {
    pub(super) database: Arc<Database>,
    pub(super) writes: WriteQueue,
}

impl TeamStore {
    /// Opens a database and brings its tables up to date.
    pub async fn open(address: &DatabaseAddress) -> Result<Self, StorageError> {
        let database = Database::open(address).await?;
        schema::migrate(&database).await?;
        Ok(Self { database: Arc::new(database), writes: WriteQueue::default() })
    }

    /// News of new versions (T-15).
    pub fn changes(&self) -> broadcast::Receiver<RepoChange> {
        self.database.changes()
    }

    /// Whether the database answers.
    pub async fn check(&self) -> Result<(), StorageError> {
        let work = self.database.run(SqlAccess::Statement, |db| {
            Box::pin(async { db.query("SELECT version FROM schema_version", vec![]).await })
        });
        work.await.map(|_| ())
    }

    /// What a token may do with a repository: one statement on two indexed rows, which is all that an unchanged
    /// repository costs (T-19). None for unknown and revoked tokens.
    pub async fn access(
        &self,
        token: &TokenHash,
        repo: Option<&RepositoryName>,
    ) -> Result<Option<RepositoryAccess>, StorageError> {
        let values = values![repo.map_or("", RepositoryName::as_str), token.as_str()];
        let work = self.database.run(SqlAccess::Statement, move |db| {
            Box::pin(db.query(
                "SELECT t.person, t.role, t.repo, r.epoch, r.version, r.review, r.switches FROM tokens t \
                 LEFT JOIN repositories r ON r.name = $1 WHERE t.hash = $2 AND t.revoked IS NULL",
                values,
            ))
        });
        work.await?.first().map(repository_access).transpose()
    }

    /// Changes entries.
    pub async fn write(&self, request: WriteRequest) -> Result<WriteOutcome, StorageError> {
        match self.writes.write(&self.database, request).await {
            Err(StorageError::TooManyEntries) => Ok(WriteOutcome::TooManyEntries),
            Err(StorageError::OtherVersion(now)) => Ok(WriteOutcome::OtherVersion(now)),
            other => other.map(WriteOutcome::Done),
        }
    }
}

fn repository_access(row: &SqlRow) -> Result<RepositoryAccess, StorageError> {
    let known = match row.optional_text(3)? {
        Some(epoch) => Some((EntityTag::new(&epoch, row.version(4)?), row.integer(5)? != 0)),
        None => None,
    };
    let switches = row.optional_text(6)?.unwrap_or_default();
    let only = match row.optional_text(2)? {
        Some(_) => Some(row.parsed(2)?),
        None => None,
    };
    let (etag, review) = known.unwrap_or_else(|| (no_version(), false));
    Ok(RepositoryAccess {
        person: row.parsed(0)?,
        role: role(row, 1)?,
        only,
        etag,
        review,
        switched_off: switches.split_whitespace().map(str::to_owned).collect(),
    })
}
