//! Tokens, a repository's settings, and removing a person (T-10, T-13, T-18).

use jiff::Timestamp;

use super::change_key::{ChangeKey, Claim, claim};
use super::error::StorageError;
use super::proposals::change_by;
use super::rows::optional;
use super::rows::{role, time};
use super::sql::{SqlAccess, SqlConnection, SqlRow, values};
use super::store::TeamStore;
use super::write_batch::{new_epoch, write_one};
use super::writing::EntryChange;
use crate::api::{PurgeResponse, SettingsRequest, TokenInfo};
use crate::person::{PersonName, TeamRole};
use crate::repository_name::RepositoryName;
use crate::token::TokenHash;

/// A token to be stored: only its hash.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// The hash.
    pub hash: TokenHash,
    /// Its holder.
    pub person: PersonName,
    /// What it allows.
    pub role: TeamRole,
    /// The only repository that it is for.
    pub repository: Option<RepositoryName>,
}

impl TeamStore {
    /// Stores a token. Only its hash is known here, so a request that is sent again cannot get the first token: it gets
    /// another one in its place. There is one valid token for a key, and the caller has it.
    pub async fn add_token(
        &self,
        token: NewToken,
        now: Timestamp,
        key: Option<ChangeKey>,
    ) -> Result<(), StorageError> {
        let work = self.database.run(SqlAccess::Write, move |db| {
            Box::pin(async move {
                let claimed = match &key {
                    Some(key) => claim(db, key).await?,
                    None => Claim::First,
                };
                match claimed {
                    Claim::First => insert_token(db, &token, now).await?,
                    Claim::Answered(id) => {
                        if !replace_token(db, &id, &token).await? {
                            return Err(StorageError::KeyReused);
                        }
                    }
                }
                if let Some(key) = &key {
                    db.query_all(vec![key.keep(token.hash.id())]).await?;
                }
                Ok(())
            })
        });
        work.await
    }

    /// All tokens, the oldest first, revoked ones included.
    pub async fn tokens(&self) -> Result<Vec<TokenInfo>, StorageError> {
        let sql =
            "SELECT id, person, role, repo, created, revoked FROM tokens ORDER BY created, id";
        let work =
            self.database.run(SqlAccess::Statement, move |db| Box::pin(db.query(sql, vec![])));
        work.await?.iter().map(token).collect()
    }

    /// Revokes a token; false if there is no valid one with this id.
    pub async fn revoke_token(
        &self,
        id: &str,
        now: Timestamp,
        key: Option<ChangeKey>,
    ) -> Result<bool, StorageError> {
        let values = values![now.as_millisecond(), id];
        let work = self.once(key, move |db| {
            let sql =
                "UPDATE tokens SET revoked = $1 WHERE id = $2 AND revoked IS NULL RETURNING id";
            Box::pin(async move { Ok(!db.query(sql, values).await?.is_empty()) })
        });
        work.await
    }

    /// Changes whether a repository is under review, and the layers that are off for everybody.
    pub async fn set_repository(
        &self,
        repo: &RepositoryName,
        settings: &SettingsRequest,
        key: Option<ChangeKey>,
    ) -> Result<(), StorageError> {
        let repo = repo.clone();
        let review = settings.review.map(i64::from);
        let switches = settings.switched_off.as_ref().map(|off| off.join(" "));
        let work = self.once(key, move |db| {
            Box::pin(async move {
                db.query(
                    "INSERT INTO repositories (name, epoch, version, entries, review, switches) \
                     VALUES ($1, $2, 0, 0, 0, '') ON CONFLICT (name) DO NOTHING",
                    values![repo.as_str(), new_epoch()],
                )
                .await?;
                db.query(
                    "UPDATE repositories SET review = COALESCE($1, review), switches = COALESCE($2, switches) \
                     WHERE name = $3",
                    values![review, switches, repo.as_str()],
                )
                .await?;
                Ok(())
            })
        });
        work.await
    }

    /// Revokes all tokens of a person; and, if wanted, removes the contents that they wrote. Entries whose latest
    /// version is theirs are deleted for all.
    pub async fn purge(
        &self,
        person: &PersonName,
        contents: bool,
        now: Timestamp,
        key: Option<ChangeKey>,
    ) -> Result<PurgeResponse, StorageError> {
        let person = person.clone();
        let work = self.once(key, move |db| {
            Box::pin(async move {
                let tokens = db
                    .query(
                        "UPDATE tokens SET revoked = $1 WHERE person = $2 AND revoked IS NULL RETURNING id",
                        values![now.as_millisecond(), person.as_str()],
                    )
                    .await?;
                let versions = if contents { purge_contents(db, &person, now).await? } else { 0 };
                Ok(PurgeResponse { tokens: tokens.len() as u64, versions })
            })
        });
        work.await
    }
}

async fn insert_token(
    db: &mut dyn SqlConnection,
    token: &NewToken,
    now: Timestamp,
) -> Result<(), StorageError> {
    db.query(
        "INSERT INTO tokens (hash, id, person, role, repo, created) VALUES ($1, $2, $3, $4, $5, $6)",
        values![
            token.hash.as_str(),
            token.hash.id(),
            token.person.as_str(),
            token.role.as_str(),
            token.repository.clone().map(String::from),
            now.as_millisecond(),
        ],
    )
    .await?;
    Ok(())
}

/// Puts a token in the place of one that nobody received; false if that one was revoked.
async fn replace_token(
    db: &mut dyn SqlConnection,
    earlier: &str,
    token: &NewToken,
) -> Result<bool, StorageError> {
    let rows = db
        .query(
            "UPDATE tokens SET hash = $1, id = $2 WHERE id = $3 AND revoked IS NULL RETURNING id",
            values![token.hash.as_str(), token.hash.id(), earlier],
        )
        .await?;
    Ok(!rows.is_empty())
}

async fn purge_contents(
    db: &mut dyn SqlConnection,
    person: &PersonName,
    now: Timestamp,
) -> Result<u64, StorageError> {
    let current = db
        .query(
            "SELECT e.repo, e.name FROM entries e \
             JOIN history h ON h.repo = e.repo AND h.name = e.name AND h.version = e.version \
             WHERE h.person = $1 AND e.checksum IS NOT NULL ORDER BY e.repo, e.name",
            values![person.as_str()],
        )
        .await?;
    for row in current {
        let change = EntryChange::Delete { name: row.parsed(1)? };
        write_one(db, change_by(&row.parsed(0)?, person, change, now)).await?;
    }
    let emptied = db
        .query(
            "UPDATE history SET content = NULL WHERE person = $1 AND content IS NOT NULL RETURNING name",
            values![person.as_str()],
        )
        .await?;
    db.query("DELETE FROM proposals WHERE person = $1", values![person.as_str()]).await?;
    Ok(emptied.len() as u64)
}

fn token(row: &SqlRow) -> Result<TokenInfo, StorageError> {
    let is_revoked = !matches!(row.0.get(5), Some(super::sql::SqlValue::Null));
    Ok(TokenInfo {
        id: row.text(0)?,
        person: row.parsed(1)?,
        role: role(row, 2)?,
        repository: optional(row, 3)?,
        created: time(row, 4)?,
        revoked: if is_revoked { Some(time(row, 5)?) } else { None },
    })
}
