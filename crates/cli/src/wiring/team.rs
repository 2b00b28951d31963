//! The team of a project: where its membership is kept, its client, and one sync.

use std::path::{Path, PathBuf};

use dormouse_base::{LayerSwitch, Project, Settings, Switches, names};
use dormouse_memory::{Store, StoreScope};
use dormouse_team::{
    ClientError, Membership, MembershipFile, SyncError, SyncReport, TeamClient, TeamSync, TeamToken,
};

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::key_command::printed_key;
use crate::wiring::memory_directories::{DirectoryAccess, MemoryDirectories};
use crate::wiring::settings;
use crate::wiring::team_membership::existing_folder;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project, environment_for_children};

/// A joined team, ready to sync.
pub(crate) struct JoinedTeam {
    pub(crate) membership: Membership,
    pub(crate) file: MembershipFile,
    pub(crate) client: TeamClient,
    pub(crate) store: Store,
}

impl JoinedTeam {
    /// The project's team; none if it has not joined one, or the layer is off.
    pub(crate) async fn find(
        world: &World,
        project: &Project,
        (settings, switches): (&Settings, &Switches),
    ) -> Result<Option<Self>, Failure> {
        if !switches.is_on(LayerSwitch::Team) || !switches.is_on(LayerSwitch::Memory) {
            return Ok(None);
        }
        let set = (settings, switches);
        let read = MemoryDirectories::find(world, project, set, DirectoryAccess::Read).await?;
        let Some(folder) = existing_folder(&read) else { return Ok(None) };
        let file = MembershipFile::new(folder);
        let Some(membership) = file.read() else { return Ok(None) };
        let write = DirectoryAccess::Write(StoreScope::Team);
        let directories = MemoryDirectories::find(world, project, set, write).await?;
        let Some(directory) = directories.of(StoreScope::Team) else { return Ok(None) };
        let store = directories.open(directory)?;
        let token = match token(project, world, settings).await? {
            Some(token) => token,
            None => file.token().ok_or_else(no_token)?,
        };
        let (server, repository) = (membership.server.clone(), membership.repository.clone());
        let client = TeamClient::new(server, token, repository).map_err(refused)?;
        Ok(Some(Self { membership, file, client, store }))
    }

    /// The team of the working directory's project, or how to join one.
    pub(crate) async fn required(world: &World) -> Result<Self, Failure> {
        let project = current_project()?;
        let in_force = settings::load(world, None, &project, Untrusted::Pass)?;
        let set = (&in_force.settings, &in_force.switches);
        Self::find(world, &project, set).await?.ok_or_else(not_joined)
    }

    /// Pushes and pulls once.
    pub(crate) async fn sync(&self) -> Result<SyncReport, SyncError> {
        TeamSync::new(&self.store, &self.client, &self.file).run().await
    }
}

/// The token in the environment, or the one that `team.keyCommand` prints.
pub(crate) async fn token(
    project: &Project,
    world: &World,
    settings: &Settings,
) -> Result<Option<TeamToken>, Failure> {
    let given = world.environment.get(names::TEAM_TOKEN).filter(|text| !text.trim().is_empty());
    if let Some(given) = given {
        let token = TeamToken::parse(given).map_err(|error| {
            Failure::usage(error).hint(msg!("team-token-variable-hint", name = names::TEAM_TOKEN))
        });
        return token.map(Some);
    }
    let Some(command) = &settings.team.key_command else { return Ok(None) };
    let environment = environment_for_children(&world.environment, settings);
    let place = (&environment, project.folder.as_path());
    let printed = printed_key("team.keyCommand", command, place).await?;
    TeamToken::parse(printed.expose()).map(Some).map_err(Failure::usage)
}

pub(crate) fn no_token() -> Failure {
    Failure::usage(anyhow::anyhow!(msg!("team-no-token"))).hint(msg!("team-no-token-hint"))
}

pub(crate) fn not_joined() -> Failure {
    Failure::usage(anyhow::anyhow!(msg!("team-not-joined"))).hint(msg!("team-not-joined-hint"))
}

/// An error of the server, with what to do.
pub(crate) fn refused(error: ClientError) -> Failure {
    let hint = match &error {
        ClientError::Unreachable { .. } => Some(msg!("team-unreachable-hint")),
        ClientError::Refused { .. } | ClientError::Unreadable { .. } => None,
    };
    let failure = Failure::failed(error);
    match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

pub(crate) fn sync_failure(error: SyncError) -> Failure {
    match error {
        SyncError::Client(error) => refused(error),
        other => Failure::failed(other),
    }
}

/// The file of the server's database, unless another was named.
#[cfg(feature = "team-server")]
pub(crate) fn default_database(home: &Path) -> PathBuf {
    home.join("team-server").join("team.db")
}

/// What is off for everybody.
pub(crate) fn layers_off(off: &[String]) -> String {
    match off {
        [] => msg!("team-layers-none-off"),
        off => msg!("team-layers-off", layers = off.join(", ")),
    }
}
