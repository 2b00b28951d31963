//! The team: the only page that asks a server, the one that the project has joined.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Form, Path, Query, State};
use axum::response::Response;
use axum::routing::{get, post};
use dormouse_team::api::TeamProposal;
use dormouse_team::{ClientError, TeamClient, TeamRole};

use super::memories::TokenForm;
use super::reply::{self, Done, FormResult};
use crate::error::ViewerError;
use crate::message_catalog::msg;
use crate::pages::layout::Area;
use crate::pages::team::{self, TeamView};
use crate::viewer::Viewer;

/// Changes on the page.
const SHOWN: u32 = 200;

pub(super) fn routes() -> Router<Arc<Viewer>> {
    Router::new().route("/team", get(status)).route("/team/proposal/{id}/{decision}", post(decide))
}

async fn status(State(viewer): State<Arc<Viewer>>, Query(done): Query<Done>) -> Response {
    let asked = match &viewer.sources.team {
        Some(client) => Some(ask(client).await),
        None => None,
    };
    reply::page(viewer, Area::Team, Some(done), move |viewer, frame| {
        let content = match (&asked, &viewer.sources.team) {
            (Some(Ok(view)), _) => team::page(frame, view),
            (Some(Err(error)), Some(client)) => {
                team::unreachable(&client.server().to_string(), &error.to_string())
            }
            _ => team::no_team(),
        };
        Ok((msg!("team-title"), content))
    })
    .await
}

async fn ask(client: &TeamClient) -> Result<TeamView, ClientError> {
    let about = client.about().await?;
    let open = match about.role {
        TeamRole::Read => Vec::new(),
        _ => client.proposals().await?.proposals,
    };
    let versions = client.log(SHOWN).await?.versions;
    let mut proposals = Vec::new();
    for proposal in open {
        proposals.push(with_current(client, proposal).await);
    }
    Ok(TeamView { server: client.server().to_string(), about, versions, proposals })
}

/// A proposal with the content that it would replace; a new entry has none.
async fn with_current(
    client: &TeamClient,
    proposal: TeamProposal,
) -> (TeamProposal, Option<String>) {
    let current = match client.entry(&proposal.name).await {
        Ok(entry) => entry.content,
        Err(_) => None,
    };
    (proposal, current)
}

/// Accepts or rejects a proposal, as `dormouse team review` does.
async fn decide(
    State(viewer): State<Arc<Viewer>>,
    Path((id, decision)): Path<(u64, String)>,
    Form(form): Form<TokenForm>,
) -> Response {
    let runtime = tokio::runtime::Handle::current();
    reply::change(viewer, Area::Team, form.token, move |viewer, _| {
        let done = match decision.as_str() {
            "accept" => "accepted",
            "reject" => "refused",
            _ => return Err(ViewerError::NotFound),
        };
        let client = viewer.sources.team.as_ref().ok_or(ViewerError::NotFound)?;
        runtime.block_on(client.decide(id, &decision))?;
        Ok(FormResult::Next(format!("/team?done={done}")))
    })
    .await
}
