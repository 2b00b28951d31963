//! Changes that are made once: a request that is sent again gets the first one's answer (T-17).

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::StorageError;
use super::sql::{SqlAccess, SqlConnection, values};
use super::store::TeamStore;
use crate::checksum::Checksum;
use crate::person::PersonName;
use crate::repository_name::RepositoryName;

/// How long a repeated request gets its first answer.
const REQUESTS_KEPT_MS: i64 = 7 * 24 * 3_600 * 1_000;

/// Names a change: two requests with the same key, by the same person, are one change.
#[derive(Debug, Clone)]
pub struct ChangeKey {
    /// The repository, or nothing for changes of the server.
    scope: String,
    person: PersonName,
    key: String,
    /// What is asked for, to recognize a key that is used for another request.
    digest: String,
    now: Timestamp,
}

impl ChangeKey {
    /// The key of a change; `asked` is all that the request asks for, as a text.
    pub fn new(
        repo: Option<&RepositoryName>,
        person: &PersonName,
        key: &str,
        asked: &str,
        now: Timestamp,
    ) -> Self {
        Self {
            scope: repo.map_or_else(String::new, |repo| repo.as_str().to_owned()),
            person: person.clone(),
            key: key.to_owned(),
            digest: Checksum::of(asked.as_bytes()).into(),
            now,
        }
    }
}

/// What is known of a key.
pub(super) enum Claim {
    /// It is new, and now this transaction's.
    First,
    /// The answer to the request that had it first.
    Answered(String),
}

/// Takes a key for this transaction. Another transaction that has it is waited for.
pub(super) async fn claim(
    db: &mut dyn SqlConnection,
    key: &ChangeKey,
) -> Result<Claim, StorageError> {
    let now = key.now.as_millisecond();
    db.query("DELETE FROM requests WHERE time < $1", values![now - REQUESTS_KEPT_MS]).await?;
    let taken = db
        .query(
            "INSERT INTO requests (repo, person, request_key, digest, response, time) \
             VALUES ($1, $2, $3, $4, '', $5) ON CONFLICT (repo, person, request_key) DO NOTHING \
             RETURNING digest",
            values![
                key.scope.as_str(),
                key.person.as_str(),
                key.key.as_str(),
                key.digest.as_str(),
                now
            ],
        )
        .await?;
    if !taken.is_empty() {
        return Ok(Claim::First);
    }
    let rows = db
        .query(
            "SELECT digest, response FROM requests WHERE repo = $1 AND person = $2 AND request_key = $3",
            values![key.scope.as_str(), key.person.as_str(), key.key.as_str()],
        )
        .await?;
    let row = rows.first().ok_or(StorageError::Row { column: 0 })?;
    if row.text(0)? != key.digest {
        return Err(StorageError::KeyReused);
    }
    Ok(Claim::Answered(row.text(1)?))
}

/// Keeps the answer for a request that is sent again.
pub(super) async fn keep_answer(
    db: &mut dyn SqlConnection,
    key: &ChangeKey,
    answer: String,
) -> Result<(), StorageError> {
    db.query(
        "UPDATE requests SET response = $1 WHERE repo = $2 AND person = $3 AND request_key = $4",
        values![answer, key.scope.as_str(), key.person.as_str(), key.key.as_str()],
    )
    .await?;
    Ok(())
}

/// An answer as it is kept. A struct of texts and numbers always serializes.
pub(super) fn kept(answer: &impl Serialize) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}

pub(super) fn read_kept<T: DeserializeOwned>(answer: &str) -> Result<T, StorageError> {
    serde_json::from_str(answer).map_err(|_| StorageError::Row { column: 1 })
}

impl TeamStore {
    /// Makes a change, unless a request with this key has made it. Without a key it is just made.
    pub(super) async fn once<T, W>(
        &self,
        key: Option<ChangeKey>,
        work: W,
    ) -> Result<T, StorageError>
    where
        T: Serialize + DeserializeOwned + Send + 'static,
        W: for<'c> FnOnce(&'c mut dyn SqlConnection) -> BoxFuture<'c, Result<T, StorageError>>
            + Send
            + 'static,
    {
        let work = self.database.run(SqlAccess::Write, move |db| {
            Box::pin(async move {
                let Some(key) = key else { return work(db).await };
                match claim(db, &key).await? {
                    Claim::Answered(answer) => read_kept(&answer),
                    Claim::First => {
                        let done = work(db).await?;
                        keep_answer(db, &key, kept(&done)).await?;
                        Ok(done)
                    }
                }
            })
        });
        work.await
    }
}
