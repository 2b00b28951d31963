//! Where a project's membership in a team is kept, and reading it.

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, Project, ProjectSlug, Settings};
use dormouse_memory::StoreScope;
use dormouse_team::{Membership, MembershipFile};

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::memory_directories::{MemoryDirectories, known_team_directory};
use crate::wiring::world::World;

fn folder_path(directories: &MemoryDirectories) -> Option<PathBuf> {
    let team = directories.of(StoreScope::Team)?;
    Some(folder_for(directories.state(), &team.path))
}

/// Where the membership of a team directory is kept.
fn folder_for(state: &Path, team: &Path) -> PathBuf {
    state.join("team").join(ProjectSlug::distinct(team).as_str())
}

/// The membership of a project, before its settings are complete: what the team has turned off is part of them (T-13).
pub(crate) fn known_membership(
    project: &Project,
    world: &World,
    settings: &Settings,
) -> Result<Option<Membership>, Failure> {
    let state = world.home()?.join("state");
    // Nearly nobody has one: one look is all that it may cost at every start.
    if !state.join("team").is_dir() {
        return Ok(None);
    }
    let Some(team) = known_team_directory(project, world, settings)? else { return Ok(None) };
    Ok(Dir::open(folder_for(&state, &team)).ok().and_then(|dir| MembershipFile::new(dir).read()))
}

pub(super) fn existing_folder(directories: &MemoryDirectories) -> Option<Dir> {
    Dir::open(folder_path(directories)?).ok()
}

/// The folder of a project's membership, created if needed.
pub(crate) fn membership_folder(
    directories: &MemoryDirectories,
) -> Result<MembershipFile, Failure> {
    let path = folder_path(directories)
        .ok_or_else(|| Failure::usage(anyhow::anyhow!(msg!("team-no-directory"))))?;
    Ok(MembershipFile::new(Dir::create(path)?))
}

/// The membership of a project, without opening anything.
pub(crate) fn membership(directories: &MemoryDirectories) -> Option<Membership> {
    MembershipFile::new(existing_folder(directories)?).read()
}
