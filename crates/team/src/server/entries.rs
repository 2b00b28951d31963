//! Entries over HTTP: snapshot, checksums, history, upload, delete, restore.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Query};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::error::Refusal;
use super::request::{Incoming, idempotency_key, json};
use super::snapshot_cache::SnapshotKey;
use super::state::ServerState;
use crate::api::{
    RestoreRequest, SWITCHED_OFF, TeamEntry, UploadRequest, UploadedEntry, VersionsResponse,
};
use crate::entry_name::EntryName;
use crate::limits::LONGEST_ENTRY;
use crate::person::TeamRole;
use crate::repository_name::RepositoryName;
use crate::storage::{EntryChange, RepositoryAccess, StorageError, WriteOutcome, WriteRequest};
use crate::version::EntityTag;

type Answer = Result<Response, Refusal>;

/// `GET /v1/repos/{repo}/memory`: everything, or what changed since the version in `since`.
pub(super) async fn snapshot(
    incoming: Incoming,
    Path(repo): Path<String>,
    Query(since): Query<Since>,
) -> Answer {
    let repo = repository(repo)?;
    let access = incoming.caller(Some(&repo), TeamRole::Read).await?;
    if tag(&incoming.headers, &header::IF_NONE_MATCH).as_ref() == Some(&access.etag) {
        let unchanged = with_etag(StatusCode::NOT_MODIFIED.into_response(), &access.etag);
        return Ok(with_switches(unchanged, &access.switched_off));
    }
    let since = match since.since {
        Some(text) => Some(EntityTag::parse(&text).map_err(|error| {
            Refusal::invalid(error.to_string(), "`since` is the ETag of an earlier answer")
        })?),
        None => None,
    };
    let state = &incoming.state;
    let key = SnapshotKey::new(&repo, since.as_ref(), &access.etag);
    let (etag, body) = match state.snapshots.get(&key, &access.etag) {
        Some(body) => (access.etag, body),
        None => {
            let snapshot = state.store.snapshot(&repo, since.as_ref()).await?;
            let body =
                serde_json::to_vec(&snapshot).map_err(|_| StorageError::Row { column: 0 })?;
            let body = Bytes::from(body);
            let key = SnapshotKey::new(&repo, since.as_ref(), &snapshot.etag);
            state.snapshots.keep(key, snapshot.etag.clone(), body.clone());
            (snapshot.etag, body)
        }
    };
    let answer = ([(header::CONTENT_TYPE, "application/json")], body).into_response();
    Ok(with_switches(with_etag(answer, &etag), &access.switched_off))
}

/// The query of a snapshot.
#[derive(Deserialize)]
pub(super) struct Since {
    since: Option<String>,
}

/// `GET …/memory/checksums`.
pub(super) async fn checksums(incoming: Incoming, Path(repo): Path<String>) -> Answer {
    let repo = repository(repo)?;
    incoming.caller(Some(&repo), TeamRole::Read).await?;
    let checksums = incoming.state.store.checksums(&repo).await?;
    let etag = checksums.etag.clone();
    Ok(with_etag(Json(checksums).into_response(), &etag))
}

/// `GET …/memory/entries/{name}`: the latest version.
pub(super) async fn entry(
    incoming: Incoming,
    Path((repo, name)): Path<(String, String)>,
) -> Answer {
    let (repo, name) = (repository(repo)?, entry_name(&name)?);
    incoming.caller(Some(&repo), TeamRole::Read).await?;
    let found = incoming.state.store.version_of(&repo, &name, None).await?;
    let found = found.filter(|found| found.checksum.is_some());
    Ok(Json(found.ok_or_else(|| Refusal::not_found("entry"))?).into_response())
}

/// `GET …/memory/entries/{name}/history`.
pub(super) async fn history(
    incoming: Incoming,
    Path((repo, name)): Path<(String, String)>,
) -> Answer {
    let (repo, name) = (repository(repo)?, entry_name(&name)?);
    incoming.caller(Some(&repo), TeamRole::Read).await?;
    let versions = incoming.state.store.history(&repo, &name).await?;
    Ok(Json(VersionsResponse { versions }).into_response())
}

/// `GET …/log`: the latest changes, without contents.
pub(super) async fn log(
    incoming: Incoming,
    Path(repo): Path<String>,
    Query(range): Query<LogRange>,
) -> Answer {
    let repo = repository(repo)?;
    incoming.caller(Some(&repo), TeamRole::Read).await?;
    let versions = incoming.state.store.log(&repo, range.limit.unwrap_or(50).min(1_000)).await?;
    Ok(Json(VersionsResponse { versions }).into_response())
}

/// The query of the log.
#[derive(Deserialize)]
pub(super) struct LogRange {
    limit: Option<u32>,
}

/// `POST …/memory`: adds or replaces several entries.
pub(super) async fn upload(incoming: Incoming, Path(repo): Path<String>, body: Body) -> Answer {
    let repo = repository(repo)?;
    let access = incoming.caller(Some(&repo), TeamRole::Write).await?;
    if incoming.headers.get(header::IF_MATCH).is_none() {
        let message = "an upload needs If-Match with the ETag that it was decided from";
        let status = StatusCode::PRECONDITION_REQUIRED;
        return Err(Refusal::new(
            status,
            "if_match_missing",
            message,
            "GET …/memory/checksums has it",
        ));
    }
    let upload: UploadRequest = json(body).await?;
    let mut changes = Vec::new();
    for UploadedEntry { name, content } in upload.entries {
        check_content(&name, &content)?;
        changes.push(EntryChange::Put { name, content });
    }
    write(&incoming.state, (repo, access), &incoming.headers, changes).await
}

/// `DELETE …/memory/entries/{name}`: deletes for all.
pub(super) async fn delete(
    incoming: Incoming,
    Path((repo, name)): Path<(String, String)>,
) -> Answer {
    let (repo, name) = (repository(repo)?, entry_name(&name)?);
    let access = incoming.caller(Some(&repo), TeamRole::Write).await?;
    if incoming.state.store.version_of(&repo, &name, None).await?.is_none() {
        return Err(Refusal::not_found("entry"));
    }
    write(&incoming.state, (repo, access), &incoming.headers, vec![EntryChange::Delete { name }])
        .await
}

/// `POST …/memory/entries/{name}/restore`: makes an earlier content the latest.
pub(super) async fn restore(
    incoming: Incoming,
    Path((repo, name)): Path<(String, String)>,
    body: Body,
) -> Answer {
    let (repo, name) = (repository(repo)?, entry_name(&name)?);
    let access = incoming.caller(Some(&repo), TeamRole::Write).await?;
    let wanted: RestoreRequest = json(body).await?;
    let found: Option<TeamEntry> =
        incoming.state.store.version_of(&repo, &name, Some(wanted.version)).await?;
    let content = found.and_then(|found| found.content);
    let content = content.ok_or_else(|| Refusal::not_found("version with a content"))?;
    write(
        &incoming.state,
        (repo, access),
        &incoming.headers,
        vec![EntryChange::Put { name, content }],
    )
    .await
}

/// Makes changes, or files them as proposals where the repository is under review.
async fn write(
    state: &ServerState,
    (repo, access): (RepositoryName, RepositoryAccess),
    headers: &HeaderMap,
    changes: Vec<EntryChange>,
) -> Answer {
    let request = WriteRequest {
        repo,
        as_proposals: access.review && access.role < TeamRole::Admin,
        person: access.person,
        if_match: headers
            .get(header::IF_MATCH)
            .map(|_| tag(headers, &header::IF_MATCH).unwrap_or_else(foreign_tag)),
        key: Some(idempotency_key(headers)?),
        changes,
        now: state.options.clock.now(),
        most_entries: state.options.most_entries,
    };
    match state.store.write(request).await? {
        WriteOutcome::Done(response) => {
            let etag = response.etag.clone();
            let is_waiting = response.written.is_empty() && !response.proposed.is_empty();
            let status = if is_waiting { StatusCode::ACCEPTED } else { StatusCode::OK };
            Ok(with_etag((status, Json(response)).into_response(), &etag))
        }
        WriteOutcome::OtherVersion(now) => Err(Refusal::other_version(now)),
        WriteOutcome::TooManyEntries => Err(Refusal::too_many_entries(state.options.most_entries)),
    }
}

fn foreign_tag() -> EntityTag {
    EntityTag::new("none", crate::version::RepoVersion(u64::MAX))
}

/// Size, kind and secrets of a content. The answer names rule and line, never the value (T-9).
fn check_content(name: &EntryName, content: &str) -> Result<(), Refusal> {
    if content.len() > LONGEST_ENTRY {
        let message = format!("`{name}` is longer than {LONGEST_ENTRY} bytes");
        return Err(Refusal::too_large(message, LONGEST_ENTRY));
    }
    if content.contains('\0') {
        return Err(Refusal::invalid(format!("`{name}` contains NUL bytes"), "an entry is a text"));
    }
    let in_name = dormouse_secrets::scan(name.as_str());
    if let Some(finding) = dormouse_secrets::scan(content).first().or(in_name.first()) {
        let message = format!(
            "`{name}` looks like it contains a secret: {} in line {}",
            finding.rule, finding.line
        );
        let hint = "leave the value out; nothing of the upload was accepted";
        return Err(Refusal::new(StatusCode::UNPROCESSABLE_ENTITY, "secret", message, hint));
    }
    Ok(())
}

pub(super) fn repository(name: String) -> Result<RepositoryName, Refusal> {
    RepositoryName::try_from(name)
        .map_err(|error| Refusal::invalid(error.to_string(), "encode `/` as `%2F`"))
}

fn entry_name(name: &str) -> Result<EntryName, Refusal> {
    EntryName::new(name).map_err(|error| Refusal::invalid(error.to_string(), "encode `/` as `%2F`"))
}

fn tag(headers: &HeaderMap, name: &header::HeaderName) -> Option<EntityTag> {
    EntityTag::parse(headers.get(name)?.to_str().ok()?).ok()
}

pub(super) fn with_etag(mut response: Response, etag: &EntityTag) -> Response {
    if let Ok(value) = HeaderValue::from_str(&etag.to_string()) {
        response.headers_mut().insert(header::ETAG, value);
    }
    response
}

/// Tells every client with its usual request what is off for everybody (T-13).
fn with_switches(mut response: Response, off: &[String]) -> Response {
    if let Ok(value) = HeaderValue::from_str(&off.join(" ")) {
        response.headers_mut().insert(SWITCHED_OFF, value);
    }
    response
}

/// An answer without content of its own.
#[derive(Serialize)]
pub(super) struct Acknowledged {
    /// Always true.
    pub(super) ok: bool,
}
