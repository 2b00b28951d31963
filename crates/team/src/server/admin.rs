//! The repository itself, reviews, tokens and people over HTTP.

use axum::Json;
use axum::body::Body;
use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use dormouse_base::LayerSwitch;

use super::entries::{Acknowledged, repository, with_etag};
use super::error::Refusal;
use super::request::{Incoming, json};
use super::state::ServerState;
use crate::api::{
    ProposalsResponse, PurgeRequest, RepositoryResponse, ReviewState, SettingsRequest,
    TokenCreated, TokenInfo, TokenRequest, TokensResponse,
};
use crate::person::{PersonName, TeamRole};
use crate::repository_name::RepositoryName;
use crate::storage::{NewToken, RepositoryAccess};
use crate::token::TeamToken;

type Answer = Result<Response, Refusal>;

/// `GET /v1/repos/{repo}`.
pub(super) async fn about(incoming: Incoming, Path(repo): Path<String>) -> Answer {
    let repository = repository(repo)?;
    let access = incoming.caller(Some(&repository), TeamRole::Read).await?;
    let etag = access.etag.clone();
    let about = RepositoryResponse {
        repository,
        person: access.person,
        role: access.role,
        etag: access.etag,
        review: access.review,
        switched_off: access.switched_off,
        most_entries: incoming.state.options.most_entries,
        server: env!("CARGO_PKG_VERSION").to_owned(),
    };
    Ok(with_etag(Json(about).into_response(), &etag))
}

/// `PUT /v1/repos/{repo}/settings`: review, and layers that are off for everybody (T-13).
pub(super) async fn settings(incoming: Incoming, Path(repo): Path<String>, body: Body) -> Answer {
    let repo = repository(repo)?;
    let access = incoming.caller(Some(&repo), TeamRole::Admin).await?;
    let settings: SettingsRequest = json(body).await?;
    for name in settings.switched_off.iter().flatten() {
        check_switch(name)?;
    }
    let key = incoming.change_key(Some(&repo), &access.person, &asked("settings", &settings))?;
    incoming.state.store.set_repository(&repo, &settings, key).await?;
    Ok(Json(Acknowledged { ok: true }).into_response())
}

/// `GET …/proposals`: admins see all, writers their own (T-16).
pub(super) async fn proposals(incoming: Incoming, Path(repo): Path<String>) -> Answer {
    let repo = repository(repo)?;
    let access = incoming.caller(Some(&repo), TeamRole::Write).await?;
    let mut proposals = incoming.state.store.proposals(&repo).await?;
    proposals.retain(|one| access.role == TeamRole::Admin || one.author == access.person);
    Ok(Json(ProposalsResponse { proposals }).into_response())
}

/// `POST …/proposals/{id}/{decision}`: `accept` or `reject`.
pub(super) async fn decide(
    incoming: Incoming,
    Path((repo, id, decision)): Path<(String, u64, String)>,
) -> Answer {
    let repo = repository(repo)?;
    let access = incoming.caller(Some(&repo), TeamRole::Admin).await?;
    let decision = match decision.as_str() {
        "accept" => ReviewState::Accepted,
        "reject" => ReviewState::Rejected,
        _ => return Err(Refusal::not_found("decision")),
    };
    let now = incoming.state.options.clock.now();
    let key = format!("decide {id} {}", decision.as_str());
    let key = incoming.change_key(Some(&repo), &access.person, &key)?;
    let store = &incoming.state.store;
    let decided = store.decide(&repo, id, decision, &access.person, (now, key)).await?;
    Ok(Json(decided.ok_or_else(|| Refusal::not_found("open proposal"))?).into_response())
}

/// `POST /v1/tokens`. An admin of one repository makes tokens for that one only.
pub(super) async fn create_token(incoming: Incoming, body: Body) -> Answer {
    let access = incoming.caller(None, TeamRole::Admin).await?;
    let request: TokenRequest = json(body).await?;
    let key = incoming.change_key(None, &access.person, &asked("token", &request))?;
    let TokenRequest { person, role, repository } = request;
    check_reach(&access, repository.as_ref())?;
    let token = TeamToken::generate().map_err(|error| {
        Refusal::new(StatusCode::SERVICE_UNAVAILABLE, "random", error.to_string(), "try again")
    })?;
    let new = NewToken { hash: token.hash(), person, role, repository };
    let now = incoming.state.options.clock.now();
    incoming.state.store.add_token(new, now, key).await?;
    let created = TokenCreated { id: token.hash().id(), token: token.expose().to_owned() };
    Ok((StatusCode::CREATED, Json(created)).into_response())
}

/// `GET /v1/tokens`.
pub(super) async fn tokens(incoming: Incoming) -> Answer {
    let access = incoming.caller(None, TeamRole::Admin).await?;
    Ok(Json(TokensResponse { tokens: within_reach(&incoming.state, &access).await? })
        .into_response())
}

/// `DELETE /v1/tokens/{id}`.
pub(super) async fn revoke_token(incoming: Incoming, Path(id): Path<String>) -> Answer {
    let access = incoming.caller(None, TeamRole::Admin).await?;
    let is_known = within_reach(&incoming.state, &access).await?.iter().any(|token| token.id == id);
    let key = incoming.change_key(None, &access.person, &format!("revoke {id}"))?;
    let now = incoming.state.options.clock.now();
    if !is_known || !incoming.state.store.revoke_token(&id, now, key).await? {
        return Err(Refusal::not_found("valid token"));
    }
    Ok(Json(Acknowledged { ok: true }).into_response())
}

/// `POST /v1/people/{person}/purge`.
pub(super) async fn purge(incoming: Incoming, Path(person): Path<String>, body: Body) -> Answer {
    let access = incoming.caller(None, TeamRole::Admin).await?;
    check_reach(&access, None)?;
    let person = PersonName::new(&person).map_err(|error| {
        Refusal::invalid(error.to_string(), "`dormouse team token list` has the names")
    })?;
    let PurgeRequest { entries } = json(body).await?;
    let key = incoming.change_key(None, &access.person, &format!("purge {person} {entries}"))?;
    let now = incoming.state.options.clock.now();
    let purged = incoming.state.store.purge(&person, entries, now, key).await?;
    Ok(Json(purged).into_response())
}

/// What a request asks for, as a text. A struct of texts always serializes.
fn asked(what: &str, request: &impl serde::Serialize) -> String {
    format!("{what} {}", serde_json::to_string(request).unwrap_or_default())
}

/// Whether a layer can be off for everybody.
fn check_switch(name: &str) -> Result<(), Refusal> {
    match LayerSwitch::ALL.into_iter().find(|switch| switch.name() == name) {
        Some(switch) if switch.is_for_teams() => Ok(()),
        Some(_) => {
            let message = format!("`{name}` cannot be off for everybody");
            let hint = "the members would not hear when it is on again; turn off recall, index, extraction or dream";
            Err(Refusal::invalid(message, hint))
        }
        None => {
            let message = format!("there is no layer `{name}`");
            Err(Refusal::invalid(message, "`dormouse config` lists the layers"))
        }
    }
}

fn check_reach(access: &RepositoryAccess, wanted: Option<&RepositoryName>) -> Result<(), Refusal> {
    match &access.only {
        Some(only) if Some(only) != wanted => {
            Err(Refusal::forbidden(format!("the token is for `{only}` only")))
        }
        Some(_) | None => Ok(()),
    }
}

async fn within_reach(
    state: &ServerState,
    access: &RepositoryAccess,
) -> Result<Vec<TokenInfo>, Refusal> {
    let mut tokens = state.store.tokens().await?;
    tokens.retain(|token| access.only.is_none() || token.repository == access.only);
    Ok(tokens)
}
