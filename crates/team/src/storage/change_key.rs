//! The key of a change, and the answer that is kept for it (T-17).

use jiff::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::StorageError;
use super::sql::{SqlConnection, Statement, values};
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

    /// Whether two keys name one request.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        (&self.scope, &self.person, &self.key) == (&other.scope, &other.person, &other.key)
    }

    /// Whether two requests with this key ask for the same.
    pub(super) fn asks_the_same(&self, other: &Self) -> bool {
        self.digest == other.digest
    }

    /// The key as another request used it.
    pub(super) fn with_digest(self, digest: String) -> Self {
        Self { digest, ..self }
    }

    /// Asks for the digest and the answer of the request that had the key first.
    pub(super) fn find(&self) -> Statement {
        Statement::new(
            "SELECT digest, response FROM requests WHERE repo = $1 AND person = $2 AND request_key = $3",
            values![self.scope.as_str(), self.person.as_str(), self.key.as_str()],
        )
    }

    /// Keeps the answer for a request that is sent again.
    pub(super) fn keep(&self, answer: String) -> Statement {
        Statement::new(
            "INSERT INTO requests (repo, person, request_key, digest, response, time) \
             VALUES ($1, $2, $3, $4, $5, $6) \
             ON CONFLICT (repo, person, request_key) DO UPDATE SET response = excluded.response",
            values![
                self.scope.as_str(),
                self.person.as_str(),
                self.key.as_str(),
                self.digest.as_str(),
                answer,
                self.now.as_millisecond()
            ],
        )
    }

    /// Removes the answers that are no longer kept.
    pub(super) fn forget_old(now: Timestamp) -> Statement {
        let before = now.as_millisecond() - REQUESTS_KEPT_MS;
        Statement::new("DELETE FROM requests WHERE time < $1", values![before])
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
    let forget = ChangeKey::forget_old(key.now);
    db.query(forget.sql, forget.values).await?;
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
    let find = key.find();
    let rows = db.query(find.sql, find.values).await?;
    let row = rows.first().ok_or(StorageError::Row { column: 0 })?;
    if row.text(0)? != key.digest {
        return Err(StorageError::KeyReused);
    }
    Ok(Claim::Answered(row.text(1)?))
}

/// An answer as it is kept. A struct of texts and numbers always serializes.
pub(super) fn kept(answer: &impl Serialize) -> String {
    serde_json::to_string(answer).unwrap_or_default()
}

pub(super) fn read_kept<T: DeserializeOwned>(answer: &str) -> Result<T, StorageError> {
    serde_json::from_str(answer).map_err(|_| StorageError::Row { column: 1 })
}
