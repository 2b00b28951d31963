//! Where memories are kept, for this person in this project (M-4, M-12): settings, environment and project in,
//! places and their stores out.
//!
//! Invariants: looking makes nothing; no project is shown another's memories; a repository's folder is not
//! reached through a link, which may lead anywhere.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{
    Clock, Dir, Environment, LayerSwitch, Project, ProjectSlug, RelPath, Settings, Switches, names,
};
use dormouse_engine::SessionFolder;
use dormouse_memory::{
    AnchoredProject, ChangeError, DirectoryChoice, DirectorySource, IndexUpkeep, Policy,
    RepositoryIdentity, Scope, Store, StoreOptions, memory_directory, project_memory,
    repository_memory, team_memory, user_memory,
};
use dormouse_permissions::SAFE_GIT_ENVIRONMENT;
use dormouse_tools::output;
use serde::Serialize;

use crate::args::MemoryScopeArgument;
use crate::wiring::exit::Failure;
use crate::wiring::memory_policy::policy;
use crate::wiring::world::World;
use crate::wiring::world::environment_for_children;

/// Whose memories a place has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Whose {
    /// One person's, in every project.
    User,
    /// One person's, in one project.
    Project,
    /// Everybody's on the project.
    Team,
    /// The repository's own: it travels with it, and whoever wrote the repository wrote these.
    Repo,
}

impl fmt::Display for Whose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Team => "team",
            Self::Repo => "repo",
        })
    }
}

/// What the places are looked up for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Visit {
    /// To look: nothing is made.
    Look,
    /// To write memories of this kind: where they go is made ready.
    Write(Whose),
}

impl Visit {
    fn writes(self, whose: Whose) -> bool {
        self == Self::Write(whose)
    }
}

/// A memory directory; it need not be there yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) whose: Whose,
    pub(crate) directory: PathBuf,
    pub(crate) source: DirectorySource,
}

/// All places, the person's own first.
pub(crate) struct Places {
    list: Vec<Place>,
    state: PathBuf,
    clock: Arc<dyn Clock>,
    policy: Policy,
    index: IndexUpkeep,
    anchored: Option<AnchoredProject>,
    in_repository: Option<Place>,
    /// Where the repository was before, if its memory was taken over from there just now. To be said.
    pub(crate) taken_over_from: Option<PathBuf>,
}

impl Places {
    /// The folder of what is kept about memories, beside them.
    pub(crate) fn state(&self) -> &Path {
        &self.state
    }

    /// Looks them up. Where the person has chosen a directory, it is the one for all that is private: their
    /// own and the project's memories are both in it.
    pub(crate) async fn find(
        world: &World,
        project: &Project,
        (settings, switches): (&Settings, &Switches),
        visit: Visit,
    ) -> Result<Self, Failure> {
        let home = world.home()?;
        let git =
            Git { project, environment: environment_for_children(&world.environment, settings) };
        let own = user_memory(&home);
        let (chosen, source) = chosen_directory(world, settings, &own)?;
        let mut taken_over_from = None;
        let (user, private) = if source == DirectorySource::Default {
            let found = project_directory(&home, &git, visit).await?;
            taken_over_from = found.taken_over_from;
            (Some(own), found.directory)
        } else {
            (None, chosen)
        };
        let mut list = Vec::new();
        list.extend(user.map(|directory| Place { whose: Whose::User, directory, source }));
        let team = team_memory(&private);
        let private = if travels(project, settings, world) {
            in_checkout(project, visit.writes(Whose::Project))?;
            repository_memory(&project.checkout)
        } else {
            private
        };
        list.push(Place { whose: Whose::Project, directory: private, source });
        list.push(Place { whose: Whose::Team, directory: team, source });
        let in_repository = in_repository(project, &list);
        if let Some(place) = &in_repository
            && is_ready(project, visit)?
        {
            list.push(place.clone());
        }
        let anchored = anchored(&git, visit).await;
        let (state, clock) = (home.join("state"), Arc::clone(&world.clock));
        let policy = policy(&settings.memory);
        let index =
            if switches.is_on(LayerSwitch::Index) { IndexUpkeep::Keep } else { IndexUpkeep::Leave };
        Ok(Self { list, state, clock, policy, index, anchored, in_repository, taken_over_from })
    }

    pub(crate) fn list(&self) -> &[Place] {
        &self.list
    }

    /// The place of these memories. Where one directory is for all that is private, it is both the person's
    /// and the project's.
    pub(crate) fn of(&self, whose: Whose) -> Option<&Place> {
        let place = |whose| self.list.iter().find(|place| place.whose == whose);
        place(whose).or_else(|| place(Whose::Project).filter(|_| whose == Whose::User))
    }

    /// The repository's own folder, where it is not there yet but may be.
    pub(crate) fn in_repository(&self) -> Option<&Place> {
        self.in_repository.as_ref().filter(|_| self.of(Whose::Repo).is_none())
    }

    /// Opens a place's store, making its directory.
    pub(crate) fn open(&self, place: &Place) -> Result<Store, ChangeError> {
        Store::open(&place.directory, &self.state, self.options(place))
    }

    /// Opens a place's store if its directory is there.
    pub(crate) fn existing(&self, place: &Place) -> Result<Option<Store>, ChangeError> {
        Store::existing(&place.directory, &self.state, self.options(place))
    }

    fn options(&self, place: &Place) -> StoreOptions {
        let scope = match place.whose {
            Whose::User => Scope::User,
            Whose::Project | Whose::Repo => Scope::Project,
            Whose::Team => Scope::Team,
        };
        let mut options = StoreOptions::new(scope, dormouse_secrets::scan, Arc::clone(&self.clock));
        options.policy.clone_from(&self.policy);
        options.index = self.index;
        if place.whose == Whose::Repo {
            options.excluded_folders.clear();
        }
        if place.whose != Whose::User {
            options.project.clone_from(&self.anchored);
        }
        options
    }
}

fn chosen_directory(
    world: &World,
    settings: &Settings,
    default: &Path,
) -> Result<(PathBuf, DirectorySource), Failure> {
    let environment = &world.environment;
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
        let name = variable.map_or("the setting autoMemoryDirectory", |(name, _)| name);
        Failure::usage(error).hint(format!("change {name}, or take it out"))
    })
}

/// A project's directory, and where its memory came from if it was moved.
struct ProjectPlace {
    directory: PathBuf,
    taken_over_from: Option<PathBuf>,
}

async fn project_directory(
    home: &Path,
    git: &Git<'_>,
    visit: Visit,
) -> Result<ProjectPlace, Failure> {
    let directory = usual_directory(home, git.project)?;
    let writes = visit.writes(Whose::Project) || visit.writes(Whose::Team);
    // Git is asked only where it matters: in a long history the first commit takes its time.
    if directory.is_dir() || !(writes || (git.project.is_git && some_project_moved(home))) {
        return Ok(ProjectPlace { directory, taken_over_from: None });
    }
    let found = project_memory(home, &git.project.root, &git.identity().await)?;
    Ok(ProjectPlace { directory: found.directory, taken_over_from: found.taken_over_from })
}

/// Where a project's memory is unless it was moved. A slug that another project has is not ours.
fn usual_directory(home: &Path, project: &Project) -> Result<PathBuf, Failure> {
    if let Some(folder) = SessionFolder::existing(home, project)? {
        return Ok(folder.dir().path().join("memory"));
    }
    let (projects, slug) = (home.join("projects"), project.slug());
    let taken = projects.join(slug.as_str()).exists();
    let slug = if taken { ProjectSlug::distinct(&project.root) } else { slug };
    Ok(projects.join(slug.as_str()).join("memory"))
}

/// Whether there is memory of a project whose folder is gone.
fn some_project_moved(home: &Path) -> bool {
    let Ok(projects) = Dir::open(home.join("projects")) else { return false };
    let names = projects.names().unwrap_or_default();
    names.iter().any(|name| {
        let root = || -> Option<String> {
            let bytes = projects.read(&RelPath::new(format!("{name}/project.json")).ok()?).ok()?;
            let file: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
            Some(file.get("root")?.as_str()?.to_owned())
        };
        projects.path().join(name).join("memory").is_dir()
            && root().is_some_and(|root| !Path::new(&root).exists())
    })
}

/// The repository's own folder. At the top of a home folder it would be the person's own.
fn in_repository(project: &Project, others: &[Place]) -> Option<Place> {
    let directory = repository_memory(&project.checkout);
    let is_another = others.iter().any(|place| place.directory == directory);
    let source = DirectorySource::Default;
    (!is_another).then_some(Place { whose: Whose::Repo, directory, source })
}

/// Whether the repository's own folder is there; it is made where somebody wants to write there.
fn is_ready(project: &Project, visit: Visit) -> Result<bool, Failure> {
    in_checkout(project, visit.writes(Whose::Repo))
}

/// Whether the repository has a folder for memory; where somebody writes, it is made. What is a link, or no
/// folder, is no memory: whoever wants to write there is told.
fn in_checkout(project: &Project, writes: bool) -> Result<bool, Failure> {
    let below = RelPath::new(".dormouse/memory").map_err(Failure::failed)?;
    let checkout = Dir::open(&project.checkout)?;
    if writes {
        checkout.create_folder(&below)?;
        return Ok(true);
    }
    Ok(checkout.open_folder(&below).is_ok())
}

/// Whether the person wants this project's memory to travel with its repository (M-4).
fn travels(project: &Project, settings: &Settings, world: &World) -> bool {
    let user_home = world.environment.path(names::USER_HOME).unwrap_or_default();
    settings.memory.in_repository.iter().any(|folder| {
        let folder = match folder.strip_prefix("~/") {
            Some(below) => user_home.join(below),
            None => PathBuf::from(folder),
        };
        let real = folder.canonicalize().unwrap_or(folder);
        real == project.root || real == project.checkout
    })
}

async fn anchored(git: &Git<'_>, visit: Visit) -> Option<AnchoredProject> {
    if visit == Visit::Look {
        return None;
    }
    let root = Dir::open(&git.project.checkout).ok()?;
    Some(AnchoredProject { root, commit: git.ask(&["rev-parse", "HEAD"]).await })
}

/// Git, for what it knows about the repository.
struct Git<'a> {
    project: &'a Project,
    environment: Environment,
}

/// A long history is not waited for: without its first commit a repository is not found again once moved.
const PATIENCE: Duration = Duration::from_secs(5);

impl Git<'_> {
    async fn identity(&self) -> RepositoryIdentity {
        let commits = self.ask(&["rev-list", "--max-parents=0", "HEAD"]).await;
        let root_commit = commits.and_then(|all| all.lines().last().map(str::to_owned));
        let remote = self.ask(&["config", "--get", "remote.origin.url"]).await;
        RepositoryIdentity { root_commit, remote: remote.as_deref().map(without_user) }
    }

    async fn ask(&self, args: &[&str]) -> Option<String> {
        if !self.project.is_git {
            return None;
        }
        let environment = self.environment.clone().with(SAFE_GIT_ENVIRONMENT);
        let answer =
            output("git", args, &self.project.folder, &environment, PATIENCE).await.ok()?;
        let text = answer.stdout.trim();
        (answer.code == Some(0) && !text.is_empty()).then(|| text.to_owned())
    }
}

/// The address without what may be a password.
fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit('@').next().unwrap_or(host);
    format!("{scheme}://{host}/{path}")
}

impl From<MemoryScopeArgument> for Whose {
    fn from(scope: MemoryScopeArgument) -> Self {
        match scope {
            MemoryScopeArgument::User => Self::User,
            MemoryScopeArgument::Project => Self::Project,
            MemoryScopeArgument::Team => Self::Team,
            MemoryScopeArgument::Repo => Self::Repo,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_kept() {
        assert_eq!(without_user("https://me:token@host/a@b.git"), "https://host/a@b.git");
        assert_eq!(without_user("git@host:a/b.git"), "git@host:a/b.git");
    }
}
