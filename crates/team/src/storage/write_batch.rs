//! Requests of one repository in one transaction: what they need is read at once, each is decided in its order, and what
//! follows is stored at once.

use std::collections::HashMap;

use super::change_key::{ChangeKey, kept, read_kept};
use super::error::StorageError;
use super::rows::entry;
use super::rows::no_version;
use super::sql::{RepoChange, SqlConnection, Statement, values};
use super::writing::{EntryChange, WriteRequest};
use crate::api::{ReviewState, TeamEntry, WriteResponse};
use crate::checksum::hex;
use crate::entry_name::EntryName;
use crate::repository_name::RepositoryName;
use crate::version::{EntityTag, RepoVersion};

/// Writes requests, which are all of one repository, in an open transaction. A request that is refused changes nothing;
/// the others are not held up by it.
pub(super) async fn write_all(
    db: &mut dyn SqlConnection,
    requests: &[WriteRequest],
) -> Result<Vec<Result<WriteResponse, StorageError>>, StorageError> {
    let Some(WriteRequest { repo: name, now, .. }) = requests.first() else {
        return Ok(Vec::new());
    };
    let (mut repo, is_new) = lock(db, name).await?;
    let before = repo.etag.version();
    repo.read(db, name, requests).await?;
    let mut statements = vec![ChangeKey::forget_old(*now)];
    let written: Vec<_> =
        requests.iter().map(|request| repo.decide(request, &mut statements)).collect();
    let after = repo.etag.version();
    if after > before {
        let sql = "UPDATE repositories SET version = $1, entries = $2 WHERE name = $3";
        statements.push(Statement::new(sql, values![after, repo.live, name.as_str()]));
    } else if is_new {
        // Nobody has written to it yet.
        let sql = "DELETE FROM repositories WHERE name = $1";
        statements.push(Statement::new(sql, values![name.as_str()]));
    }
    db.query_all(statements).await?;
    if after > before {
        db.announce(RepoChange { repo: name.clone(), version: after }).await?;
    }
    Ok(written)
}

/// Writes one request in an open transaction.
pub(super) async fn write_one(
    db: &mut dyn SqlConnection,
    request: WriteRequest,
) -> Result<WriteResponse, StorageError> {
    let written = write_all(db, &[request]).await?.into_iter().next();
    written.unwrap_or(Err(StorageError::Stopping))
}

/// A repository that is locked by the transaction, with what the requests need of it, as it is after those that are
/// decided.
struct LockedRepo {
    etag: EntityTag,
    /// What clients knew before the first write created it.
    known_as: EntityTag,
    live: i64,
    latest: HashMap<EntryName, TeamEntry>,
    answered: Vec<(ChangeKey, String)>,
}

/// Locks a repository against other writers, and creates it if nobody has written to it; true if it was created.
async fn lock(
    db: &mut dyn SqlConnection,
    name: &RepositoryName,
) -> Result<(LockedRepo, bool), StorageError> {
    // An update that changes nothing locks the row in both databases.
    let sql = "UPDATE repositories SET version = version WHERE name = $1 RETURNING epoch, version, entries";
    let mut rows = db.query(sql, values![name.as_str()]).await?;
    let mut is_new = false;
    if rows.is_empty() {
        let insert = "INSERT INTO repositories (name, epoch, version, entries, review, switches) \
                      VALUES ($1, $2, 0, 0, 0, '') ON CONFLICT (name) DO NOTHING RETURNING name";
        is_new = !db.query(insert, values![name.as_str(), new_epoch()]).await?.is_empty();
        rows = db.query(sql, values![name.as_str()]).await?;
    }
    let row = rows.first().ok_or(StorageError::Row { column: 0 })?;
    let etag = EntityTag::new(&row.text(0)?, row.version(1)?);
    let repo = LockedRepo {
        known_as: if is_new { no_version() } else { etag.clone() },
        etag,
        live: row.integer(2)?,
        latest: HashMap::new(),
        answered: Vec::new(),
    };
    Ok((repo, is_new))
}

/// A name for a history; random, so that a restored database is not taken for the one that was lost.
pub(super) fn new_epoch() -> String {
    let id = uuid::Uuid::new_v4();
    hex(id.as_bytes().first_chunk::<8>().map_or(&[], |bytes| bytes.as_slice()))
}

impl LockedRepo {
    /// Reads the latest version of every entry that is to be changed, and the answers that were given already.
    async fn read(
        &mut self,
        db: &mut dyn SqlConnection,
        repo: &RepositoryName,
        requests: &[WriteRequest],
    ) -> Result<(), StorageError> {
        let keys: Vec<ChangeKey> = requests.iter().filter_map(WriteRequest::change_key).collect();
        let mut names: Vec<&EntryName> =
            requests.iter().flat_map(|request| &request.changes).map(EntryChange::name).collect();
        names.sort_unstable();
        names.dedup();
        let mut questions: Vec<Statement> = keys.iter().map(ChangeKey::find).collect();
        questions.extend(names.iter().map(|name| latest(repo, name)));
        let mut found = db.query_all(questions).await?.into_iter();
        for key in keys {
            if let Some(answer) = found.next().and_then(|rows| rows.into_iter().next()) {
                let key = key.with_digest(answer.text(0)?);
                self.answered.push((key, answer.text(1)?));
            }
        }
        for row in found.flatten() {
            let entry = entry(&row)?;
            self.latest.insert(entry.name.clone(), entry);
        }
        Ok(())
    }

    /// Whether the version that a client knows is one of this history.
    fn is_known_by(&self, known: Option<&EntityTag>) -> bool {
        known.is_none_or(|known| {
            *known == self.known_as
                || known.shares_history(&self.etag) && known.version() <= self.etag.version()
        })
    }

    /// Decides on a request: its answer, and what is to be stored for it.
    fn decide(
        &mut self,
        request: &WriteRequest,
        statements: &mut Vec<Statement>,
    ) -> Result<WriteResponse, StorageError> {
        let key = request.change_key();
        if let Some(key) = &key
            && let Some((known, answer)) =
                self.answered.iter().find(|(known, _)| known.is_same(key))
        {
            return if known.asks_the_same(key) {
                read_kept(answer)
            } else {
                Err(StorageError::KeyReused)
            };
        }
        if !self.is_known_by(request.if_match.as_ref()) {
            return Err(StorageError::OtherVersion(self.etag.clone()));
        }
        let decided = self.changes(request)?;
        if !decided.entries.is_empty() {
            self.etag = decided.response.etag.clone();
            // What clients knew before is an older version from now on.
            self.known_as = self.etag.clone();
            self.live = decided.live;
            self.latest
                .extend(decided.entries.into_iter().map(|entry| (entry.name.clone(), entry)));
        }
        statements.extend(decided.statements);
        if let Some(key) = key {
            let answer = kept(&decided.response);
            statements.push(key.keep(answer.clone()));
            self.answered.push((key, answer));
        }
        Ok(decided.response)
    }

    /// What the changes of a request come to.
    fn changes(&self, request: &WriteRequest) -> Result<Decided, StorageError> {
        let next = self.etag.next();
        let mut decided = Decided {
            response: WriteResponse {
                etag: self.etag.clone(),
                written: Vec::new(),
                proposed: Vec::new(),
                replaced: Vec::new(),
            },
            entries: Vec::new(),
            live: self.live,
            statements: Vec::new(),
        };
        for change in &request.changes {
            let before = self.latest.get(change.name());
            let checksum = change.checksum();
            if before.and_then(|before| before.checksum.as_ref()) == checksum.as_ref() {
                continue;
            }
            if is_news(before, request.if_match.as_ref()) {
                return Err(StorageError::OtherVersion(self.etag.clone()));
            }
            if request.as_proposals {
                decided.statements.extend(propose(request, change));
                decided.response.proposed.push(change.name().clone());
                continue;
            }
            let before = before.filter(|before| before.checksum.is_some());
            decided.live += i64::from(checksum.is_some()) - i64::from(before.is_some());
            decided.statements.extend(put(request, change, next.version()));
            decided.response.written.push(change.name().clone());
            decided.response.replaced.extend(before.cloned());
            decided.entries.push(TeamEntry {
                name: change.name().clone(),
                version: next.version(),
                checksum,
                content: None,
                author: request.person.clone(),
                time: request.now,
            });
        }
        let is_more = usize::try_from(decided.live).unwrap_or(0) > request.most_entries;
        if is_more && decided.response.written.len() > decided.response.replaced.len() {
            return Err(StorageError::TooManyEntries);
        }
        if !decided.entries.is_empty() {
            decided.response.etag = next;
        }
        Ok(decided)
    }
}

/// An accepted request: its answer, the entries after it, how many the repository then has, and what is to be stored.
struct Decided {
    response: WriteResponse,
    entries: Vec<TeamEntry>,
    live: i64,
    statements: Vec<Statement>,
}

/// Whether an entry changed after the version that the client knows. Other entries may have: they are nobody's conflict,
/// and 50 clients that each write their own would hardly ever get through.
fn is_news(entry: Option<&TeamEntry>, known: Option<&EntityTag>) -> bool {
    entry.zip(known).is_some_and(|(entry, known)| entry.version > known.version())
}

fn latest(repo: &RepositoryName, name: &EntryName) -> Statement {
    Statement::new(
        "SELECT h.name, h.version, h.checksum, CAST(NULL AS TEXT), h.person, h.time FROM entries e \
         JOIN history h ON h.repo = e.repo AND h.name = e.name AND h.version = e.version \
         WHERE e.repo = $1 AND e.name = $2",
        values![repo.as_str(), name.as_str()],
    )
}

fn put(request: &WriteRequest, change: &EntryChange, version: RepoVersion) -> [Statement; 2] {
    let checksum = change.checksum().map(String::from);
    let (repo, name) = (request.repo.as_str(), change.name().as_str());
    let history = Statement::new(
        "INSERT INTO history (repo, name, version, checksum, content, person, time) \
         VALUES ($1, $2, $3, $4, $5, $6, $7)",
        values![
            repo,
            name,
            version,
            checksum.clone(),
            change.content(),
            request.person.as_str(),
            request.now.as_millisecond(),
        ],
    );
    let entry = Statement::new(
        "INSERT INTO entries (repo, name, version, checksum) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (repo, name) DO UPDATE SET version = excluded.version, checksum = excluded.checksum",
        values![repo, name, version, checksum],
    );
    [history, entry]
}

/// Files a proposal; an open one by the same author for the same entry is replaced.
fn propose(request: &WriteRequest, change: &EntryChange) -> [Statement; 2] {
    let (repo, name, person) =
        (request.repo.as_str(), change.name().as_str(), request.person.as_str());
    let replace = Statement::new(
        "UPDATE proposals SET state = $1 WHERE repo = $2 AND name = $3 AND person = $4 AND state = $5",
        values![ReviewState::Replaced.as_str(), repo, name, person, ReviewState::Open.as_str()],
    );
    let file = Statement::new(
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
    );
    [replace, file]
}
