//! The team: its server, who changed what, and proposals to decide on.

use std::collections::BTreeMap;

use dormouse_team::TeamRole;
use dormouse_team::api::{RepositoryResponse, TeamEntry, TeamProposal};
use maud::{Markup, html};

use crate::message_catalog::msg;
use crate::pages::layout::PageFrame;
use crate::pages::{diff, words};

/// What the server said.
pub(crate) struct TeamView {
    pub(crate) server: String,
    pub(crate) about: RepositoryResponse,
    pub(crate) versions: Vec<TeamEntry>,
    /// Each with the content that it would replace.
    pub(crate) proposals: Vec<(TeamProposal, Option<String>)>,
}

pub(crate) fn page(frame: &PageFrame<'_>, view: &TeamView) -> Markup {
    html! {
        h1 { (msg!("team-title")) }
        (status(view))
        h2 { (msg!("team-proposals")) }
        @if view.proposals.is_empty() { p class="soft" { (msg!("team-no-proposals")) } }
        @for (proposal, current) in &view.proposals { (proposed(frame, view, proposal, current.as_deref())) }
        h2 { (msg!("team-people")) }
        (people(&view.versions))
        h2 { (msg!("team-log")) }
        (log(&view.versions))
    }
}

/// A project without a team.
pub(crate) fn no_team() -> Markup {
    html! { h1 { (msg!("team-title")) } p class="empty" { (msg!("team-none")) } }
}

/// A server that cannot be asked.
pub(crate) fn unreachable(server: &str, why: &str) -> Markup {
    html! {
        h1 { (msg!("team-title")) }
        p { code { (server) } }
        p class="notice warn" role="alert" { (why) }
    }
}

fn status(view: &TeamView) -> Markup {
    let about = &view.about;
    html! {
        dl class="tiles" {
            div { dt { (msg!("team-repository")) } dd { (about.repository) } }
            div { dt { (msg!("team-you")) } dd { (about.person) } }
            div { dt { (msg!("team-role")) } dd { (about.role) } }
            div { dt { (msg!("team-version")) } dd { (about.etag.version()) } }
        }
        p class="soft" {
            (msg!("team-server")) " " code { (view.server) } " "
            @if about.review { (msg!("team-review-on")) } @else { (msg!("team-review-off")) }
            @if !about.switched_off.is_empty() { " " (msg!("team-layers-off", layers = about.switched_off.join(", "))) }
        }
    }
}

fn proposed(
    frame: &PageFrame<'_>,
    view: &TeamView,
    proposal: &TeamProposal,
    current: Option<&str>,
) -> Markup {
    let to = |decision: &str| format!("/team/proposal/{}/{decision}", proposal.id);
    html! {
        article class="card" {
            h3 { (proposal.name) }
            p class="meta" { span { (words::time(proposal.time)) } span class="badge" { (proposal.author) } }
            (diff::unified(current.unwrap_or_default(), proposal.content.as_deref().unwrap_or_default()))
            @if view.about.role == TeamRole::Admin {
                div class="actions" {
                    (frame.button(&to("accept"), &msg!("inbox-accept"), "primary"))
                    (frame.button(&to("reject"), &msg!("inbox-refuse"), "quiet danger"))
                }
            }
        }
    }
}

/// How many of the latest changes each member made, and when they made the last one.
fn people(versions: &[TeamEntry]) -> Markup {
    let mut members: BTreeMap<String, (usize, jiff::Timestamp)> = BTreeMap::new();
    for version in versions {
        let member = members.entry(version.author.to_string()).or_insert((0, version.time));
        member.0 += 1;
        member.1 = member.1.max(version.time);
    }
    html! {
        ul class="plain" {
            @for (name, (count, last)) in &members {
                li { strong { (name) } " " span class="soft" { (msg!("team-member", count = *count, when = words::time(*last))) } }
            }
        }
    }
}

fn log(versions: &[TeamEntry]) -> Markup {
    html! {
        @if versions.is_empty() { p class="empty" { (msg!("changes-none")) } }
        div class="wide" tabindex="0" role="group" aria-label=(msg!("team-log")) {
            table class="text" {
                thead { tr { th { (msg!("team-version")) } th { (msg!("profile-at")) } th { (msg!("team-who")) } th { (msg!("team-memory")) } } }
                tbody {
                    @for entry in versions {
                        tr {
                            td { (entry.version) } td { (words::time(entry.time)) } td { (entry.author) }
                            td { (entry.name) @if entry.checksum.is_none() { " " span class="badge warn" { (msg!("change-removed")) } } }
                        }
                    }
                }
            }
        }
    }
}
