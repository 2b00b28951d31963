//! Joining and leaving a team.

use std::io::IsTerminal;

use dormouse_base::Project;
use dormouse_team::{Membership, PlainHttp, RepositoryName, ServerUrl, TeamClient, TeamToken};

use crate::args::JoinArguments;
use crate::message_catalog::msg;
use crate::terminal::tty;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input;
use crate::wiring::memory_directories::{DirectoryAccess, MemoryDirectories};
use crate::wiring::print;
use crate::wiring::repository_git::RepositoryGit;
use crate::wiring::settings;
use crate::wiring::team::{JoinedTeam, not_joined, refused, sync_failure, token};
use crate::wiring::team_membership::{membership, membership_folder};
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project, environment_for_children};
use dormouse_memory::StoreScope;

use super::report;

pub(super) async fn join(arguments: &JoinArguments, world: &World) -> Result<Exit, Failure> {
    let project = current_project()?;
    let in_force = settings::load(world, None, &project, Untrusted::Pass)?;
    let set = (&in_force.settings, &in_force.switches);
    let plain = if arguments.plain_http { PlainHttp::Allowed } else { PlainHttp::LocalOnly };
    let server = ServerUrl::parse(&arguments.url, plain).map_err(Failure::usage)?;
    let environment = environment_for_children(&world.environment, &in_force.settings);
    let git = RepositoryGit { project: &project, environment };
    let repository = match &arguments.repository {
        Some(name) => RepositoryName::new(name).map_err(Failure::usage)?,
        None => match git.remote().await {
            Some(remote) => RepositoryName::from_remote(&remote).map_err(Failure::usage)?,
            None => {
                return Err(Failure::usage(anyhow::anyhow!(msg!("team-no-remote")))
                    .hint(msg!("team-no-remote-hint")));
            }
        },
    };
    let given = token(&project, world, &in_force.settings).await?;
    let is_kept_elsewhere = given.is_some() && in_force.settings.team.key_command.is_some();
    let token = match given {
        Some(token) => token,
        None => read_token()?,
    };
    let client =
        TeamClient::new(server.clone(), token.clone(), repository.clone()).map_err(refused)?;
    let about = client.about().await.map_err(refused)?;
    let write = DirectoryAccess::Write(StoreScope::Team);
    let directories = MemoryDirectories::find(world, &project, set, write).await?;
    let file = membership_folder(&directories)?;
    if membership(&directories)
        .is_some_and(|old| old.server != server || old.repository != repository)
    {
        // Another team: nothing is known in common with it.
        file.remove()?;
    }
    if !is_kept_elsewhere {
        file.write_token(&token)?;
    }
    file.write(&Membership {
        server,
        repository,
        person: about.person.clone(),
        role: about.role,
        switched_off: about.switched_off.clone(),
    })?;
    print::note(&msg!(
        "team-joined",
        repository = about.repository.to_string(),
        person = about.person.to_string(),
        role = about.role.to_string()
    ));
    if !about.switched_off.is_empty() {
        print::note(&msg!("team-layers-off", layers = about.switched_off.join(", ")));
    }
    match JoinedTeam::find(world, &project, set).await? {
        Some(team) => report::print(&team.sync().await.map_err(sync_failure)?),
        None => print::note(&msg!("team-layer-off")),
    }
    Ok(Exit::Done)
}

pub(super) async fn leave(project: &Project, world: &World) -> Result<Exit, Failure> {
    let in_force = settings::load(world, None, project, Untrusted::Pass)?;
    let set = (&in_force.settings, &in_force.switches);
    let directories = MemoryDirectories::find(world, project, set, DirectoryAccess::Read).await?;
    if membership(&directories).is_none() {
        return Err(not_joined());
    }
    membership_folder(&directories)?.remove()?;
    print::note(&msg!("team-left"));
    Ok(Exit::Done)
}

/// Reads a token from the terminal, where it is not shown, or from a pipe. Never from an argument: those are visible in
/// the list of processes.
fn read_token() -> Result<TeamToken, Failure> {
    let text = if std::io::stdin().is_terminal() {
        print::note(&msg!("team-token-prompt"));
        tty::read_hidden_line().map_err(|error| {
            Failure::failed(anyhow::anyhow!(msg!("stdin-unreadable", error = error.to_string())))
        })?
    } else {
        input::read()?
    };
    TeamToken::parse(&text).map_err(|error| Failure::usage(error).hint(msg!("team-no-token-hint")))
}
