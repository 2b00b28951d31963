//! The tables, as forward-only migrations (T-18). A released migration is never edited: a new one follows it.

use super::database::Database;
use super::error::StorageError;
use super::sql::{SqlAccess, values};

/// One list of statements for each version.
pub(super) const MIGRATIONS: &[&[&str]] = &[FIRST];

const FIRST: &[&str] = &[
    "CREATE TABLE repositories (name TEXT PRIMARY KEY, epoch TEXT NOT NULL, version BIGINT NOT NULL, \
     entries BIGINT NOT NULL, review BIGINT NOT NULL, switches TEXT NOT NULL)",
    // The latest version of each entry. Without a checksum it is deleted.
    "CREATE TABLE entries (repo TEXT NOT NULL, name TEXT NOT NULL, version BIGINT NOT NULL, checksum TEXT, \
     PRIMARY KEY (repo, name))",
    "CREATE INDEX entries_by_version ON entries (repo, version)",
    // Every version. The content of a purged one is gone, its line stays.
    "CREATE TABLE history (repo TEXT NOT NULL, name TEXT NOT NULL, version BIGINT NOT NULL, checksum TEXT, \
     content TEXT, person TEXT NOT NULL, time BIGINT NOT NULL, PRIMARY KEY (repo, name, version))",
    "CREATE INDEX history_by_version ON history (repo, version)",
    "CREATE INDEX history_by_person ON history (person)",
    "CREATE TABLE requests (repo TEXT NOT NULL, person TEXT NOT NULL, request_key TEXT NOT NULL, \
     digest TEXT NOT NULL, response TEXT NOT NULL, time BIGINT NOT NULL, PRIMARY KEY (repo, person, request_key))",
    "CREATE INDEX requests_by_time ON requests (time)",
    "CREATE TABLE tokens (hash TEXT PRIMARY KEY, id TEXT NOT NULL UNIQUE, person TEXT NOT NULL, role TEXT NOT NULL, \
     repo TEXT, created BIGINT NOT NULL, revoked BIGINT)",
    "CREATE TABLE proposals (repo TEXT NOT NULL, id BIGINT NOT NULL, name TEXT NOT NULL, checksum TEXT, content TEXT, \
     person TEXT NOT NULL, time BIGINT NOT NULL, state TEXT NOT NULL, decided_by TEXT, decided BIGINT, \
     PRIMARY KEY (repo, id))",
    "CREATE INDEX proposals_by_state ON proposals (repo, state)",
];

/// Brings a database to the current schema.
pub(super) async fn migrate(database: &Database) -> Result<(), StorageError> {
    migrate_to(database, MIGRATIONS.len()).await
}

/// Brings a database to a version of the schema; only tests stop before the last.
pub(super) async fn migrate_to(database: &Database, last: usize) -> Result<(), StorageError> {
    let work = database.run(SqlAccess::Migration, move |db| {
        Box::pin(async move {
            db.query("CREATE TABLE IF NOT EXISTS schema_version (version BIGINT NOT NULL)", vec![])
                .await?;
            let rows = db.query("SELECT version FROM schema_version", vec![]).await?;
            let found = match rows.first() {
                Some(row) => row.integer(0)?,
                None => {
                    db.query("INSERT INTO schema_version (version) VALUES (0)", vec![]).await?;
                    0
                }
            };
            let known = i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX);
            if found > known {
                return Err(StorageError::Newer { found, known });
            }
            let done = usize::try_from(found).unwrap_or(0);
            for statement in MIGRATIONS.iter().take(last).skip(done).flat_map(|one| one.iter()) {
                db.query(statement, vec![]).await?;
            }
            let reached = i64::try_from(last.max(done)).unwrap_or(known);
            db.query("UPDATE schema_version SET version = $1", values![reached]).await?;
            Ok(())
        })
    });
    work.await
}
