//! A git worktree for a subagent: created from the last commit, removed if nothing was changed in it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::{AgentId, Dir, Environment, Lock, Project, RelPath};
use dormouse_permissions::SAFE_GIT_ENVIRONMENT;
use dormouse_tools::output;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::sync::Semaphore;

const GIT_TIMEOUT: Duration = Duration::from_mins(2);
/// Held while worktrees are added or removed: git reads the files of all of them, and fails on one that is half written.
static WORKTREES: Semaphore = Semaphore::const_new(1);

/// A worktree could not be created or removed.
#[derive(Debug, Error)]
pub enum WorktreeError {
    /// No repository.
    #[error("there is no git repository here, so there can be no worktree; leave `isolation` out")]
    NotARepository,
    /// No commit.
    #[error("the repository has no commit yet, so there can be no worktree")]
    NoCommit,
    /// Git failed.
    #[error("git {command}: {stderr}")]
    Git {
        /// The subcommand.
        command: String,
        /// What it said.
        stderr: String,
    },
    /// Git did not run.
    #[error("cannot run git: {0}")]
    Command(String),
}

/// What is kept of a worktree, to find it again.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct WorktreeRecord {
    folder: PathBuf,
    branch: String,
    base: String,
}

/// The worktree of a subagent.
#[derive(Debug, Clone)]
pub(crate) struct Worktree {
    pub(crate) folder: PathBuf,
    branch: String,
    /// The commit it was created from.
    base: String,
    root: PathBuf,
    environment: Environment,
    /// Held while somebody works in it; none where it could not be had.
    _in_use: Option<Arc<Lock>>,
}

impl Worktree {
    /// Creates a worktree in `home`.
    pub(crate) async fn create(
        home: &Path,
        project: &Project,
        agent: AgentId,
        environment: &Environment,
    ) -> Result<Self, WorktreeError> {
        if !project.is_git {
            return Err(WorktreeError::NotARepository);
        }
        let environment = environment.clone().with(SAFE_GIT_ENVIRONMENT);
        let root = project.checkout.clone();
        let base = git(&["rev-parse", "HEAD"], &root, &environment)
            .await
            .map_err(|_| WorktreeError::NoCommit)?;
        let folder = worktree_folder(home, project).join(agent.to_string());
        let branch = branch_name(&agent.to_string());
        let path = folder.to_string_lossy().into_owned();
        let _alone = WORKTREES.acquire().await;
        git(&["worktree", "add", "-q", "-b", &branch, &path, "HEAD"], &root, &environment).await?;
        let in_use = taken(&folder);
        Ok(Self { folder, branch, base, root, environment, _in_use: in_use })
    }

    pub(crate) fn record(&self) -> WorktreeRecord {
        let Self { folder, branch, base, .. } = self.clone();
        WorktreeRecord { folder, branch, base }
    }

    /// The worktree of an interrupted run; `None` if it is gone.
    pub(crate) fn existing(
        record: WorktreeRecord,
        project: &Project,
        environment: &Environment,
    ) -> Option<Self> {
        let WorktreeRecord { folder, branch, base } = record;
        let environment = environment.clone().with(SAFE_GIT_ENVIRONMENT);
        let root = project.checkout.clone();
        let in_use = folder.is_dir().then(|| taken(&folder))?;
        Some(Self { folder, branch, base, root, environment, _in_use: in_use })
    }

    /// Returns the project with its folders in the worktree.
    pub(crate) fn project(&self, of: &Project) -> Project {
        let below = of.folder.strip_prefix(&of.checkout).unwrap_or(Path::new(""));
        let folder = Some(self.folder.join(below)).filter(|folder| folder.is_dir());
        Project {
            folder: folder.unwrap_or_else(|| self.folder.clone()),
            checkout: self.folder.clone(),
            ..of.clone()
        }
    }

    /// Removes the worktree if nothing was changed. Returns a remark for the result.
    pub(crate) async fn close(self) -> String {
        let status = git(&["status", "--porcelain"], &self.folder, &self.environment).await;
        let head = git(&["rev-parse", "HEAD"], &self.folder, &self.environment).await;
        let unchanged = status.is_ok_and(|status| status.is_empty())
            && head.is_ok_and(|head| head == self.base);
        if !unchanged {
            return self.kept();
        }
        match remove_worktree(&self.folder, &self.branch, &self.root, &self.environment).await {
            Ok(()) => "nothing was changed in its worktree, which was removed".to_owned(),
            Err(error) => format!("cannot remove its worktree ({error}): {}", self.kept()),
        }
    }

    fn kept(&self) -> String {
        format!(
            "its changes are in the worktree {} on the branch {}",
            self.folder.display(),
            self.branch
        )
    }
}

/// The folder of a repository's worktrees.
pub(crate) fn worktree_folder(home: &Path, project: &Project) -> PathBuf {
    home.join("worktrees").join(project.slug().as_str())
}

/// The branch of a subagent.
pub(crate) fn branch_name(agent: &str) -> String {
    format!("dormouse/agent-{agent}")
}

/// The file that is locked while a subagent works in its worktree, beside that.
pub(crate) fn lock_file(agent: &str) -> Option<RelPath> {
    RelPath::new(format!("{agent}.lock")).ok()
}

fn taken(folder: &Path) -> Option<Arc<Lock>> {
    let dir = Dir::open(folder.parent()?).ok()?;
    let file = lock_file(folder.file_name()?.to_str()?)?;
    Lock::try_acquire(&dir, &file).ok().map(Arc::new)
}

/// Removes a worktree and its branch, with all that is in them.
pub(crate) async fn remove_worktree(
    folder: &Path,
    branch: &str,
    root: &Path,
    environment: &Environment,
) -> Result<(), WorktreeError> {
    let path = folder.to_string_lossy().into_owned();
    let _alone = WORKTREES.acquire().await;
    git(&["worktree", "remove", "--force", &path], root, environment).await?;
    git(&["branch", "-D", "-q", branch], root, environment).await?;
    let dir = folder.parent().and_then(|parent| Dir::open(parent).ok());
    let lock = folder.file_name().and_then(|name| lock_file(name.to_str()?));
    // At worst an empty file is left.
    let _litter = dir.zip(lock).map(|(dir, lock)| dir.remove_file(&lock));
    Ok(())
}

/// Through the shell's function of that name, which takes away the programs that a repository's settings name, filters
/// among them: whoever wrote the repository must not run anything here.
pub(crate) async fn git(
    args: &[&str],
    folder: &Path,
    environment: &Environment,
) -> Result<String, WorktreeError> {
    let environment = environment.clone().without("BASH_ENV").without("ENV");
    let shell: Vec<&str> = ["-c", "git \"$@\"", "git"].iter().chain(args).copied().collect();
    let result = output("bash", &shell, folder, &environment, GIT_TIMEOUT)
        .await
        .map_err(|error| WorktreeError::Command(error.to_string()))?;
    if result.code == Some(0) {
        return Ok(result.stdout.trim().to_owned());
    }
    Err(WorktreeError::Git {
        command: args.first().copied().unwrap_or_default().to_owned(),
        stderr: result.stderr.trim().to_owned(),
    })
}
