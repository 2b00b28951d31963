//! What members do: sync, status, log, delete for all.

use std::io::IsTerminal;

use dormouse_team::api::TeamEntry;
use dormouse_team::{EntryName, RepoVersion};
use serde::Serialize;

use crate::args::TeamLogArguments;
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input;
use crate::wiring::print;
use crate::wiring::team::{JoinedTeam, refused, sync_failure};
use crate::wiring::world::World;

use super::report;

pub(super) async fn run(json: bool, world: &World) -> Result<Exit, Failure> {
    let done = JoinedTeam::required(world).await?.sync().await.map_err(sync_failure)?;
    if json {
        report::print_json(&done)?;
    } else {
        report::print(&done);
    }
    Ok(if done.held_back.is_empty() && done.postponed.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    })
}

#[derive(Serialize)]
struct TeamStatusJson {
    server: String,
    repository: String,
    person: String,
    role: String,
    version: u64,
    review: bool,
    layers_off: Vec<String>,
    open_proposals: usize,
}

pub(super) async fn status(json: bool, world: &World) -> Result<Exit, Failure> {
    let team = JoinedTeam::required(world).await?;
    let about = team.client.about().await.map_err(refused)?;
    let open = match about.role {
        dormouse_team::TeamRole::Read => 0,
        _ => team.client.proposals().await.map_err(refused)?.proposals.len(),
    };
    let status = TeamStatusJson {
        server: team.membership.server.to_string(),
        repository: about.repository.to_string(),
        person: about.person.to_string(),
        role: about.role.to_string(),
        version: about.etag.version().0,
        review: about.review,
        layers_off: about.switched_off,
        open_proposals: open,
    };
    if json {
        print::json(&status)?;
        return Ok(Exit::Done);
    }
    print::data_line(&msg!(
        "team-status",
        server = status.server,
        repository = status.repository,
        person = status.person,
        role = status.role,
        version = status.version
    ));
    if status.review {
        print::data_line(&msg!("team-status-review", count = status.open_proposals));
    }
    if !status.layers_off.is_empty() {
        print::data_line(&msg!("team-layers-off", layers = status.layers_off.join(", ")));
    }
    Ok(Exit::Done)
}

pub(super) async fn log(arguments: &TeamLogArguments, world: &World) -> Result<Exit, Failure> {
    let team = JoinedTeam::required(world).await?;
    let entry =
        arguments.entry.as_deref().map(EntryName::new).transpose().map_err(Failure::usage)?;
    if let (Some(entry), Some(version)) = (&entry, arguments.restore) {
        let version = RepoVersion(version);
        let written = team.client.restore(entry, version).await.map_err(refused)?;
        let key =
            if written.proposed.is_empty() { "team-restored" } else { "team-restore-proposed" };
        print::note(&match key {
            "team-restored" => msg!("team-restored", name = entry.to_string(), version = version.0),
            _ => msg!("team-proposed", name = entry.to_string()),
        });
        report::print(&team.sync().await.map_err(sync_failure)?);
        return Ok(Exit::Done);
    }
    let versions = match &entry {
        Some(entry) => team.client.history(entry).await,
        None => team.client.log(arguments.limit).await,
    };
    let versions = versions.map_err(refused)?.versions;
    if arguments.json {
        print::json(&versions)?;
        return Ok(Exit::Done);
    }
    for version in &versions {
        print::data_line(&line(version));
    }
    Ok(Exit::Done)
}

fn line(version: &TeamEntry) -> String {
    let TeamEntry { name, version, checksum, author, time, .. } = version;
    let time = time.strftime("%Y-%m-%d %H:%M");
    let deleted =
        if checksum.is_some() { String::new() } else { format!("  {}", msg!("team-log-deleted")) };
    format!("{version:>6}  {time}  {author}  {name}{deleted}")
}

pub(super) async fn rm(entry: &str, yes: bool, world: &World) -> Result<Exit, Failure> {
    let team = JoinedTeam::required(world).await?;
    let name = EntryName::new(entry).map_err(Failure::usage)?;
    if !yes {
        if !std::io::stdin().is_terminal() {
            return Err(Failure::usage(anyhow::anyhow!(msg!("team-rm-unconfirmed")))
                .hint(msg!("team-rm-unconfirmed-hint")));
        }
        print::note(&msg!("team-rm-confirm", name = name.to_string()));
        if !input::confirm() {
            return Ok(Exit::Failed);
        }
    }
    let written = team.client.delete(&name).await.map_err(refused)?;
    print::note(&if written.proposed.is_empty() {
        msg!("team-rm-done", name = name.to_string())
    } else {
        msg!("team-proposed", name = name.to_string())
    });
    report::print(&team.sync().await.map_err(sync_failure)?);
    Ok(Exit::Done)
}
