//! Proposals and their review (T-16).

use jiff::Timestamp;

use super::change_key::ChangeKey;
use super::error::StorageError;
use super::rows::optional;
use super::rows::time;
use super::sql::{SqlAccess, SqlConnection, SqlRow, values};
use super::store::TeamStore;
use super::write_batch::write_one;
use super::writing::{EntryChange, WriteRequest};
use crate::api::{ReviewState, TeamProposal};
use crate::person::PersonName;
use crate::repository_name::RepositoryName;

impl TeamStore {
    /// The open proposals of a repository, the oldest first.
    pub async fn proposals(
        &self,
        repo: &RepositoryName,
    ) -> Result<Vec<TeamProposal>, StorageError> {
        let values = values![repo.as_str(), ReviewState::Open.as_str()];
        let sql = "SELECT id, name, checksum, content, person, time, state, decided_by FROM proposals \
                   WHERE repo = $1 AND state = $2 ORDER BY id";
        let work =
            self.database.run(SqlAccess::Statement, move |db| Box::pin(db.query(sql, values)));
        work.await?.iter().map(proposal).collect()
    }

    /// Accepts or rejects an open proposal. The author of an accepted change is who proposed it. None if there is no
    /// such open proposal. The answer has no content.
    pub async fn decide(
        &self,
        repo: &RepositoryName,
        id: u64,
        state: ReviewState,
        by: &PersonName,
        (now, key): (Timestamp, Option<ChangeKey>),
    ) -> Result<Option<TeamProposal>, StorageError> {
        let (repo, by) = (repo.clone(), by.clone());
        let work = self.once(key, move |db| {
            Box::pin(async move {
                let Some(mut found) = close(db, &repo, id, state, (&by, now)).await? else {
                    return Ok(None);
                };
                if state == ReviewState::Accepted {
                    let name = found.name.clone();
                    let change = match found.content.clone() {
                        Some(content) => EntryChange::Put { name, content },
                        None => EntryChange::Delete { name },
                    };
                    write_one(db, change_by(&repo, &found.author, change, now)).await?;
                }
                found.state = state;
                // The answer is kept for a repeated request, and a purge must not leave a text behind there.
                found.content = None;
                found.decided_by = Some(by);
                Ok(Some(found))
            })
        });
        work.await
    }
}

/// Marks an open proposal as decided; none if there is none.
async fn close(
    db: &mut dyn SqlConnection,
    repo: &RepositoryName,
    id: u64,
    state: ReviewState,
    (by, now): (&PersonName, Timestamp),
) -> Result<Option<TeamProposal>, StorageError> {
    let id = i64::try_from(id).unwrap_or(i64::MAX);
    let rows = db
        .query(
            "UPDATE proposals SET state = $1, decided_by = $2, decided = $3 \
             WHERE repo = $4 AND id = $5 AND state = $6 \
             RETURNING id, name, checksum, content, person, time, state, decided_by",
            values![
                state.as_str(),
                by.as_str(),
                now.as_millisecond(),
                repo.as_str(),
                id,
                ReviewState::Open.as_str(),
            ],
        )
        .await?;
    rows.first().map(proposal).transpose()
}

/// A change by somebody, without precondition and limit.
pub(super) fn change_by(
    repo: &RepositoryName,
    person: &PersonName,
    change: EntryChange,
    now: Timestamp,
) -> WriteRequest {
    WriteRequest {
        repo: repo.clone(),
        person: person.clone(),
        as_proposals: false,
        if_match: None,
        key: None,
        changes: vec![change],
        now,
        most_entries: usize::MAX,
    }
}

fn proposal(row: &SqlRow) -> Result<TeamProposal, StorageError> {
    let state = ReviewState::from_word(&row.text(6)?).ok_or(StorageError::Row { column: 6 })?;
    Ok(TeamProposal {
        id: u64::try_from(row.integer(0)?).map_err(|_| StorageError::Row { column: 0 })?,
        name: row.parsed(1)?,
        checksum: optional(row, 2)?,
        content: row.optional_text(3)?,
        author: row.parsed(4)?,
        time: time(row, 5)?,
        state,
        decided_by: optional(row, 7)?,
    })
}
