//! Changing entries: precondition, limits, review, history and repeated requests, in one transaction.

use jiff::Timestamp;

use super::error::StorageError;
use super::once::{ChangeKey, Claim, claim, keep_answer, kept, read_kept};
use super::reading::{entry, optional};
use super::sql::{RepoChange, SqlAccess, SqlConnection, values};
use super::store::{TeamStore, no_version};
use crate::api::{ReviewState, TeamEntry, WriteResponse};
use crate::checksum::{Checksum, hex};
use crate::entry_name::EntryName;
use crate::person::PersonName;
use crate::repository_name::RepositoryName;
use crate::version::{EntityTag, RepoVersion};

/// A change of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryChange {
    /// Add or replace it.
    Put {
        /// The entry.
        name: EntryName,
        /// Its new content.
        content: String,
    },
    /// Delete it for all (T-7).
    Delete {
        /// The entry.
        name: EntryName,
    },
}

impl EntryChange {
    /// The entry.
    pub fn name(&self) -> &EntryName {
        match self {
            Self::Put { name, .. } | Self::Delete { name } => name,
        }
    }

    fn content(&self) -> Option<&str> {
        match self {
            Self::Put { content, .. } => Some(content),
            Self::Delete { .. } => None,
        }
    }

    fn checksum(&self) -> Option<Checksum> {
        self.content().map(|content| Checksum::of(content.as_bytes()))
    }
}

/// A change of several entries: all of it is accepted, or none.
#[derive(Debug, Clone)]
pub struct WriteRequest {
    /// The repository.
    pub repo: RepositoryName,
    /// The token's holder.
    pub person: PersonName,
    /// Whether the changes only become proposals (T-16).
    pub as_proposals: bool,
    /// The version that the client knows: none of the entries may have changed since. Without one, any will do.
    pub if_match: Option<EntityTag>,
    /// Names the request: a second one with the same key changes nothing and gets the first one's answer.
    pub key: String,
    /// The changes.
    pub changes: Vec<EntryChange>,
    /// The time.
    pub now: Timestamp,
    /// The most entries that the repository may have.
    pub most_entries: usize,
}

impl WriteRequest {
    /// Names the change, and says all that it asks for.
    fn change_key(&self) -> ChangeKey {
        let mut asked = format!("{}\n", self.as_proposals);
        for change in &self.changes {
            let checksum = change.checksum().map_or_else(|| "-".to_owned(), String::from);
            asked.push_str(&format!("{checksum} {}\n", change.name()));
        }
        ChangeKey::new(Some(&self.repo), &self.person, &self.key, &asked, self.now)
    }
}

/// The result of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriteOutcome {
    /// Done now, or by an earlier request with the same key.
    Done(WriteResponse),
    /// One of the entries has changed since the version that the client knows, or it knows another history (T-5).
    OtherVersion(EntityTag),
    /// The repository would have too many entries.
    TooManyEntries,
}

/// A repository that is locked by the transaction.
struct LockedRepo {
    etag: EntityTag,
    /// What clients knew before the first write created it.
    known_as: EntityTag,
    live: i64,
}

impl LockedRepo {
    /// Whether the version that a client knows is one of this history.
    fn is_known_by(&self, known: Option<&EntityTag>) -> bool {
        known.is_none_or(|known| {
            *known == self.known_as
                || known.shares_history(&self.etag) && known.version() <= self.etag.version()
        })
    }
}

/// Whether an entry changed after the version that the client knows. Other entries may have: they are nobody's conflict,
/// and 50 clients that each write their own would hardly ever get through.
fn is_news(entry: Option<&TeamEntry>, known: Option<&EntityTag>) -> bool {
    entry.zip(known).is_some_and(|(entry, known)| entry.version > known.version())
}

impl TeamStore {
    /// Changes entries.
    pub async fn write(&self, request: WriteRequest) -> Result<WriteOutcome, StorageError> {
        let work = self
            .database
            .run(SqlAccess::Write, move |db| Box::pin(async move { write(db, &request).await }));
        match work.await {
            Err(StorageError::TooManyEntries) => Ok(WriteOutcome::TooManyEntries),
            Err(StorageError::OtherVersion(now)) => Ok(WriteOutcome::OtherVersion(now)),
            other => other,
        }
    }
}

async fn write(
    db: &mut dyn SqlConnection,
    request: &WriteRequest,
) -> Result<WriteOutcome, StorageError> {
    let mut repo = lock(db, &request.repo).await?;
    let key = request.change_key();
    match claim(db, &key).await? {
        Claim::First => {}
        Claim::Answered(answer) => return Ok(WriteOutcome::Done(read_kept(&answer)?)),
    }
    if !repo.is_known_by(request.if_match.as_ref()) {
        return Err(StorageError::OtherVersion(repo.etag));
    }
    let next = RepoVersion(repo.etag.version().0 + 1);
    let mut response = WriteResponse {
        etag: repo.etag.clone(),
        written: Vec::new(),
        proposed: Vec::new(),
        replaced: Vec::new(),
    };
    for change in &request.changes {
        let before = latest(db, &request.repo, change.name()).await?;
        let checksum = change.checksum();
        if before.as_ref().and_then(|before| before.checksum.clone()) == checksum {
            continue;
        }
        if is_news(before.as_ref(), request.if_match.as_ref()) {
            return Err(StorageError::OtherVersion(repo.etag));
        }
        if request.as_proposals {
            propose(db, request, change).await?;
            response.proposed.push(change.name().clone());
            continue;
        }
        let was_live = before.as_ref().is_some_and(|before| before.checksum.is_some());
        repo.live += i64::from(checksum.is_some()) - i64::from(was_live);
        put(db, request, change, next).await?;
        response.written.push(change.name().clone());
        response.replaced.extend(before.filter(|before| before.checksum.is_some()));
    }
    let is_more = usize::try_from(repo.live).unwrap_or(0) > request.most_entries;
    if is_more && response.written.len() > response.replaced.len() {
        return Err(StorageError::TooManyEntries);
    }
    if !response.written.is_empty() {
        response.etag = advance(db, &request.repo, &repo, next).await?;
    }
    keep_answer(db, &key, kept(&response)).await?;
    Ok(WriteOutcome::Done(response))
}

/// Locks a repository against other writers, and creates it if nobody has written to it.
async fn lock(
    db: &mut dyn SqlConnection,
    repo: &RepositoryName,
) -> Result<LockedRepo, StorageError> {
    let epoch = new_epoch();
    let created = db
        .query(
            "INSERT INTO repositories (name, epoch, version, entries, review, switches) \
             VALUES ($1, $2, 0, 0, 0, '') ON CONFLICT (name) DO NOTHING RETURNING name",
            values![repo.as_str(), epoch],
        )
        .await?;
    // An update that changes nothing locks the row in both databases.
    let rows = db
        .query(
            "UPDATE repositories SET version = version WHERE name = $1 RETURNING epoch, version, entries",
            values![repo.as_str()],
        )
        .await?;
    let row = rows.first().ok_or(StorageError::Row { column: 0 })?;
    let etag = EntityTag::new(&row.text(0)?, row.version(1)?);
    let known_as = if created.is_empty() { etag.clone() } else { no_version() };
    Ok(LockedRepo { etag, known_as, live: row.integer(2)? })
}

/// A name for a history; random, so that a restored database is not taken for the one that was lost.
pub(super) fn new_epoch() -> String {
    let id = uuid::Uuid::new_v4();
    hex(id.as_bytes().first_chunk::<8>().map_or(&[], |bytes| bytes.as_slice()))
}

async fn latest(
    db: &mut dyn SqlConnection,
    repo: &RepositoryName,
    name: &EntryName,
) -> Result<Option<TeamEntry>, StorageError> {
    let rows = db
        .query(
            "SELECT h.name, h.version, h.checksum, CAST(NULL AS TEXT), h.person, h.time FROM entries e \
             JOIN history h ON h.repo = e.repo AND h.name = e.name AND h.version = e.version \
             WHERE e.repo = $1 AND e.name = $2",
            values![repo.as_str(), name.as_str()],
        )
        .await?;
    rows.first().map(entry).transpose()
}

async fn put(
    db: &mut dyn SqlConnection,
    request: &WriteRequest,
    change: &EntryChange,
    version: RepoVersion,
) -> Result<(), StorageError> {
    let checksum = change.checksum().map(String::from);
    db.query(
        "INSERT INTO history (repo, name, version, checksum, content, person, time) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        values![
            request.repo.as_str(),
            change.name().as_str(),
            version,
            checksum.clone(),
            change.content(),
            request.person.as_str(),
            request.now.as_millisecond(),
        ],
    )
    .await?;
    db.query(
        "INSERT INTO entries (repo, name, version, checksum) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (repo, name) DO UPDATE SET version = excluded.version, checksum = excluded.checksum",
        values![request.repo.as_str(), change.name().as_str(), version, checksum],
    )
    .await?;
    Ok(())
}

/// Files a proposal; an open one by the same author for the same entry is replaced.
async fn propose(
    db: &mut dyn SqlConnection,
    request: &WriteRequest,
    change: &EntryChange,
) -> Result<(), StorageError> {
    let (repo, name, person) =
        (request.repo.as_str(), change.name().as_str(), request.person.as_str());
    db.query(
        "UPDATE proposals SET state = $1 WHERE repo = $2 AND name = $3 AND person = $4 AND state = $5",
        values![ReviewState::Replaced.as_str(), repo, name, person, ReviewState::Open.as_str()],
    )
    .await?;
    db.query(
        "INSERT INTO proposals (repo, id, name, checksum, content, person, time, state) \
         SELECT $1, COALESCE(MAX(id), 0) + 1, $2, $3, $4, $5, CAST($6 AS BIGINT), $7 FROM proposals \
         WHERE repo = $8",
        values![
            repo,
            name,
            change.checksum().map(String::from),
            change.content(),
            person,
            request.now.as_millisecond(),
            ReviewState::Open.as_str(),
            repo,
        ],
    )
    .await?;
    Ok(())
}

/// Makes the next version visible, and tells who waits for it.
async fn advance(
    db: &mut dyn SqlConnection,
    name: &RepositoryName,
    repo: &LockedRepo,
    next: RepoVersion,
) -> Result<EntityTag, StorageError> {
    let rows = db
        .query(
            "UPDATE repositories SET version = $1, entries = $2 WHERE name = $3 RETURNING epoch",
            values![next, repo.live, name.as_str()],
        )
        .await?;
    let epoch = rows.first().ok_or(StorageError::Row { column: 0 })?.text(0)?;
    db.announce(RepoChange { repo: name.clone(), version: next }).await?;
    Ok(EntityTag::new(&epoch, next))
}

/// Applies one change outside of an upload: an accepted proposal, or a purge.
pub(super) async fn apply(
    db: &mut dyn SqlConnection,
    request: &WriteRequest,
) -> Result<Option<EntityTag>, StorageError> {
    let mut repo = lock(db, &request.repo).await?;
    let next = RepoVersion(repo.etag.version().0 + 1);
    let mut is_changed = false;
    for change in &request.changes {
        let sql = "SELECT checksum FROM entries WHERE repo = $1 AND name = $2";
        let rows = db.query(sql, values![request.repo.as_str(), change.name().as_str()]).await?;
        let before: Option<Checksum> = match rows.first() {
            Some(row) => optional(row, 0)?,
            None => None,
        };
        if before != change.checksum() {
            repo.live += i64::from(change.content().is_some()) - i64::from(before.is_some());
            put(db, request, change, next).await?;
            is_changed = true;
        }
    }
    if is_changed { advance(db, &request.repo, &repo, next).await.map(Some) } else { Ok(None) }
}
