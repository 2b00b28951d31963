//! The memory directories of a project and its user (M-4, M-12), and opening their stores.
//!
//! Invariants: reading creates nothing; a project never sees another project's memories; the repository's directory is
//! not reached through a link.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_base::{
    Clock, Dir, Environment, LayerSwitch, Project, ProjectSlug, RelPath, Settings, Switches, names,
    project_named_in,
};
use dormouse_engine::SessionFolder;
use dormouse_memory::{
    AnchoredProject, ChangeError, DirectoryChoice, DirectorySource, IndexUpkeep, Policy, Scope,
    Store, StoreOptions, StoreScope, memory_directory, project_memory, repository_memory,
    team_memory, user_memory,
};

use crate::message_catalog::msg;
use crate::wiring::exit::Failure;
use crate::wiring::memory_policy::{policy, team_rules};
use crate::wiring::repository_git::RepositoryGit;
use crate::wiring::world::World;
use crate::wiring::world::environment_for_children;

/// What the directories are looked up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DirectoryAccess {
    /// Reading: nothing is created.
    Read,
    /// Writing memories of this scope: its directory is prepared.
    Write(StoreScope),
}

impl DirectoryAccess {
    fn writes(self, scope: StoreScope) -> bool {
        self == Self::Write(scope)
    }
}

/// A memory directory; it may not exist yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MemoryDirectory {
    pub(crate) scope: StoreScope,
    pub(crate) path: PathBuf,
    pub(crate) source: DirectorySource,
}

/// All memory directories, the user's first.
pub(crate) struct MemoryDirectories {
    list: Vec<MemoryDirectory>,
    state: PathBuf,
    clock: Arc<dyn Clock>,
    policy: Policy,
    index: IndexUpkeep,
    anchored: Option<AnchoredProject>,
    in_repository: Option<MemoryDirectory>,
    /// The former path of the repository, if its memory was just moved from there. The caller reports it.
    pub(crate) taken_over_from: Option<PathBuf>,
}

impl MemoryDirectories {
    /// The folder of state about memories that is not in the memory directories themselves.
    pub(crate) fn state(&self) -> &Path {
        &self.state
    }

    /// Looks them up. A directory that the user has chosen is used for both user and project memories.
    pub(crate) async fn find(
        world: &World,
        project: &Project,
        (settings, switches): (&Settings, &Switches),
        access: DirectoryAccess,
    ) -> Result<Self, Failure> {
        let home = world.home()?;
        let environment = environment_for_children(&world.environment, settings);
        let git = RepositoryGit { project, environment };
        let default = user_memory(&home);
        let (chosen, source) = chosen_directory(&world.environment, settings, &default)?;
        let mut taken_over_from = None;
        let (user, private) = if source == DirectorySource::Default {
            let found = project_directory(&home, &git, access).await?;
            taken_over_from = found.taken_over_from;
            (Some(default), found.path)
        } else {
            (None, chosen)
        };
        let mut list = Vec::new();
        list.extend(user.map(|path| MemoryDirectory { scope: StoreScope::User, path, source }));
        let team = team_memory(&private);
        // A folder that was named for this run counts more than one of the settings.
        let is_named = world.environment.get(names::MEMORY_PATH_OVERRIDE).is_some();
        let private = if !is_named && is_kept_in_repository(project, settings, &world.environment) {
            in_checkout(project, access.writes(StoreScope::Project))?;
            repository_memory(&project.checkout)
        } else {
            private
        };
        list.push(MemoryDirectory { scope: StoreScope::Project, path: private, source });
        list.push(MemoryDirectory { scope: StoreScope::Team, path: team, source });
        let in_repository = in_repository(project, &list);
        if let Some(directory) = &in_repository
            && in_checkout(project, access.writes(StoreScope::Repo))?
        {
            list.push(directory.clone());
        }
        let index =
            if switches.is_on(LayerSwitch::Index) { IndexUpkeep::Keep } else { IndexUpkeep::Leave };
        Ok(Self {
            list,
            state: home.join("state"),
            clock: Arc::clone(&world.clock),
            policy: policy(&settings.memory),
            index,
            anchored: anchored(&git, access).await,
            in_repository,
            taken_over_from,
        })
    }

    pub(crate) fn list(&self) -> &[MemoryDirectory] {
        &self.list
    }

    /// The directory of a scope. A directory that the user has chosen has both user and project memories.
    pub(crate) fn of(&self, scope: StoreScope) -> Option<&MemoryDirectory> {
        let of = |scope| self.list.iter().find(|directory| directory.scope == scope);
        of(scope).or_else(|| of(StoreScope::Project).filter(|_| scope == StoreScope::User))
    }

    /// The repository's directory, if it does not exist yet but may be created.
    pub(crate) fn in_repository(&self) -> Option<&MemoryDirectory> {
        self.in_repository.as_ref().filter(|_| self.of(StoreScope::Repo).is_none())
    }

    /// Opens a store; creates its directory if needed.
    pub(crate) fn open(&self, directory: &MemoryDirectory) -> Result<Store, ChangeError> {
        Store::open(&directory.path, &self.state, self.options(directory))
    }

    /// Opens a store if its directory exists.
    pub(crate) fn existing(
        &self,
        directory: &MemoryDirectory,
    ) -> Result<Option<Store>, ChangeError> {
        Store::existing(&directory.path, &self.state, self.options(directory))
    }

    fn options(&self, directory: &MemoryDirectory) -> StoreOptions {
        let scope = match directory.scope {
            StoreScope::User => Scope::User,
            StoreScope::Project | StoreScope::Repo => Scope::Project,
            StoreScope::Team => Scope::Team,
        };
        let mut options = StoreOptions::new(scope, dormouse_secrets::scan, Arc::clone(&self.clock));
        options.policy.clone_from(&self.policy);
        options.index = self.index;
        if directory.scope == StoreScope::Team {
            options.policy.rules.extend(team_rules());
        }
        if directory.scope == StoreScope::Repo {
            options.excluded_folders.clear();
        }
        if directory.scope != StoreScope::User {
            options.project.clone_from(&self.anchored);
        }
        options
    }
}

fn chosen_directory(
    environment: &Environment,
    settings: &Settings,
    default: &Path,
) -> Result<(PathBuf, DirectorySource), Failure> {
    let variable = [names::MEMORY_PATH_OVERRIDE, names::REMOTE_MEMORY_DIR]
        .into_iter()
        .find_map(|name| Some((name, environment.get(name)?)));
    let setting = settings.auto_memory_directory.as_ref().map(|path| path.to_string_lossy());
    let user_home = environment.path(names::USER_HOME);
    let choice = DirectoryChoice {
        environment: variable.map(|(_, value)| value),
        setting: setting.as_deref(),
        default,
        user_home: user_home.as_deref(),
    };
    memory_directory(choice).map_err(|error| {
        Failure::usage(error).hint(match variable {
            Some((name, _)) => msg!("memory-directory-variable-hint", name = name),
            None => msg!("memory-directory-setting-hint"),
        })
    })
}

/// A project's directory, and the former path of the repository if its memory was just moved.
struct ProjectDirectory {
    path: PathBuf,
    taken_over_from: Option<PathBuf>,
}

async fn project_directory(
    home: &Path,
    git: &RepositoryGit<'_>,
    access: DirectoryAccess,
) -> Result<ProjectDirectory, Failure> {
    let path = usual_directory(home, git.project)?;
    let writes = access.writes(StoreScope::Project) || access.writes(StoreScope::Team);
    // Git runs only where it matters: in a long history, finding the first commit takes a while.
    if path.is_dir() || !(writes || (git.project.is_git && some_project_moved(home))) {
        return Ok(ProjectDirectory { path, taken_over_from: None });
    }
    let found = project_memory(home, &git.project.root, &git.identity().await)?;
    Ok(ProjectDirectory { path: found.directory, taken_over_from: found.taken_over_from })
}

/// The directory of a project that was not moved. If another project has its slug, it gets a distinct one.
fn usual_directory(home: &Path, project: &Project) -> Result<PathBuf, Failure> {
    if let Some(folder) = SessionFolder::existing(home, project)? {
        return Ok(folder.dir().path().join("memory"));
    }
    let projects = home.join("projects");
    let slug = project.slug();
    let taken = projects.join(slug.as_str()).exists();
    let slug = if taken { ProjectSlug::distinct(&project.root) } else { slug };
    Ok(projects.join(slug.as_str()).join("memory"))
}

/// The team's directory where it is found without running anything: not in a project that was moved and not used since.
pub(crate) fn known_team_directory(
    project: &Project,
    world: &World,
    settings: &Settings,
) -> Result<Option<PathBuf>, Failure> {
    let home = world.home()?;
    let default = user_memory(&home);
    let (chosen, source) = chosen_directory(&world.environment, settings, &default)?;
    let private = match source {
        DirectorySource::Default => usual_directory(&home, project)?,
        DirectorySource::Environment | DirectorySource::Setting => chosen,
    };
    Ok(private.is_dir().then(|| team_memory(&private)))
}

/// Whether there are memories of a project whose folder no longer exists.
fn some_project_moved(home: &Path) -> bool {
    let Ok(projects) = Dir::open(home.join("projects")) else { return false };
    let names = projects.names().unwrap_or_default();
    names.iter().any(|name| {
        let folder = projects.path().join(name);
        folder.join("memory").is_dir()
            && project_named_in(&folder).is_some_and(|root| !root.exists())
    })
}

/// The repository's directory. In the home directory it would be the user's own: then there is none.
fn in_repository(project: &Project, others: &[MemoryDirectory]) -> Option<MemoryDirectory> {
    let path = repository_memory(&project.checkout);
    let is_another = others.iter().any(|directory| directory.path == path);
    let source = DirectorySource::Default;
    (!is_another).then_some(MemoryDirectory { scope: StoreScope::Repo, path, source })
}

/// Whether the checkout has a memory directory; for writing it is created. A link or a file in its place does not
/// count, and is an error for writing.
fn in_checkout(project: &Project, writes: bool) -> Result<bool, Failure> {
    let below = RelPath::new(".dormouse/memory").map_err(Failure::failed)?;
    let checkout = Dir::open(&project.checkout)?;
    if writes {
        checkout.create_folder(&below)?;
        return Ok(true);
    }
    Ok(checkout.open_folder(&below).is_ok())
}

/// Whether the user keeps this project's memory in its repository (M-4).
fn is_kept_in_repository(
    project: &Project,
    settings: &Settings,
    environment: &Environment,
) -> bool {
    let user_home = environment.path(names::USER_HOME).unwrap_or_default();
    settings.memory.in_repository.iter().any(|folder| {
        let folder = match folder.strip_prefix("~/") {
            Some(below) => user_home.join(below),
            None => PathBuf::from(folder),
        };
        let real = folder.canonicalize().unwrap_or(folder);
        real == project.root || real == project.checkout
    })
}

/// The project that anchors are checked against. The commit is for new anchors, which only a writer makes.
async fn anchored(git: &RepositoryGit<'_>, access: DirectoryAccess) -> Option<AnchoredProject> {
    let root = Dir::open(&git.project.checkout).ok()?;
    let commit = match access {
        DirectoryAccess::Read => None,
        DirectoryAccess::Write(_) => git.head().await,
    };
    Some(AnchoredProject { root, commit })
}
