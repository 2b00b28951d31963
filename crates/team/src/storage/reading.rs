//! Reading entries: all, those that changed, checksums, history (T-12).

use super::error::StorageError;
use super::rows::{entry, no_version, optional};
use super::sql::{SqlAccess, SqlConnection, SqlRow, values};
use super::store::TeamStore;
use crate::api::{ChecksumsResponse, EntryChecksum, SnapshotResponse, TeamEntry};
use crate::entry_name::EntryName;
use crate::repository_name::RepositoryName;
use crate::version::{EntityTag, RepoVersion};

impl TeamStore {
    /// All entries; or those that changed since a version, if it is of this history.
    pub async fn snapshot(
        &self,
        repo: &RepositoryName,
        since: Option<&EntityTag>,
    ) -> Result<SnapshotResponse, StorageError> {
        let (repo, since) = (repo.clone(), since.cloned());
        let work = self.database.run(SqlAccess::Snapshot, move |db| {
            Box::pin(async move {
                let etag = current(db, &repo).await?;
                let known = since.filter(|since| {
                    since.shares_history(&etag) && since.version() <= etag.version()
                });
                let after = known.as_ref().map_or(RepoVersion(0), EntityTag::version);
                let rows = db
                    .query(
                        "SELECT h.name, h.version, h.checksum, h.content, h.person, h.time FROM entries e \
                         JOIN history h ON h.repo = e.repo AND h.name = e.name AND h.version = e.version \
                         WHERE e.repo = $1 AND e.version > $2 ORDER BY e.name",
                        values![repo.as_str(), after],
                    )
                    .await?;
                let entries = rows.iter().map(entry).collect::<Result<_, _>>()?;
                Ok(SnapshotResponse { etag, complete: known.is_none(), entries })
            })
        });
        work.await
    }

    /// The checksums of all entries (T-5).
    pub async fn checksums(
        &self,
        repo: &RepositoryName,
    ) -> Result<ChecksumsResponse, StorageError> {
        let repo = repo.clone();
        let work = self.database.run(SqlAccess::Snapshot, move |db| {
            Box::pin(async move {
                let etag = current(db, &repo).await?;
                let sql = "SELECT name, checksum FROM entries WHERE repo = $1 ORDER BY name";
                let rows = db.query(sql, values![repo.as_str()]).await?;
                let checksum = |row: &SqlRow| {
                    Ok(EntryChecksum { name: row.parsed(0)?, checksum: optional(row, 1)? })
                };
                let entries = rows.iter().map(checksum).collect::<Result<_, StorageError>>()?;
                Ok(ChecksumsResponse { etag, entries })
            })
        });
        work.await
    }

    /// The versions of an entry, the newest first.
    pub async fn history(
        &self,
        repo: &RepositoryName,
        name: &EntryName,
    ) -> Result<Vec<TeamEntry>, StorageError> {
        let values = values![repo.as_str(), name.as_str()];
        let sql = "SELECT name, version, checksum, content, person, time FROM history \
                   WHERE repo = $1 AND name = $2 ORDER BY version DESC";
        let work =
            self.database.run(SqlAccess::Statement, move |db| Box::pin(db.query(sql, values)));
        work.await?.iter().map(entry).collect()
    }

    /// One version of an entry, or the latest.
    pub async fn version_of(
        &self,
        repo: &RepositoryName,
        name: &EntryName,
        version: Option<RepoVersion>,
    ) -> Result<Option<TeamEntry>, StorageError> {
        let most = version.map_or(i64::MAX, |version| i64::try_from(version.0).unwrap_or(i64::MAX));
        let values = values![repo.as_str(), name.as_str(), most];
        let sql = "SELECT name, version, checksum, content, person, time FROM history \
                   WHERE repo = $1 AND name = $2 AND version <= $3 ORDER BY version DESC LIMIT 1";
        let work =
            self.database.run(SqlAccess::Statement, move |db| Box::pin(db.query(sql, values)));
        let found = work.await?.first().map(entry).transpose()?;
        Ok(found.filter(|found| version.is_none_or(|version| found.version == version)))
    }

    /// The latest changes of a repository, the newest first, without contents.
    pub async fn log(
        &self,
        repo: &RepositoryName,
        limit: u32,
    ) -> Result<Vec<TeamEntry>, StorageError> {
        let values = values![repo.as_str(), i64::from(limit)];
        let sql = "SELECT name, version, checksum, CAST(NULL AS TEXT), person, time FROM history \
                   WHERE repo = $1 ORDER BY version DESC, name LIMIT $2";
        let work =
            self.database.run(SqlAccess::Statement, move |db| Box::pin(db.query(sql, values)));
        work.await?.iter().map(entry).collect()
    }
}

/// The version of a repository.
pub(super) async fn current(
    db: &mut dyn SqlConnection,
    repo: &RepositoryName,
) -> Result<EntityTag, StorageError> {
    let sql = "SELECT epoch, version FROM repositories WHERE name = $1";
    match db.query(sql, values![repo.as_str()]).await?.first() {
        Some(row) => Ok(EntityTag::new(&row.text(0)?, row.version(1)?)),
        None => Ok(no_version()),
    }
}
