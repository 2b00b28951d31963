//! A git worktree for a subagent: created from the last commit, removed if nothing was changed in it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_base::{AgentId, Environment, Project};
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
pub(crate) enum WorktreeError {
    #[error("there is no git repository here, so there can be no worktree; leave `isolation` out")]
    NotARepository,
    #[error("the repository has no commit yet, so there can be no worktree")]
    NoCommit,
    #[error("git {command}: {stderr}")]
    Git { command: String, stderr: String },
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
        let folder = home.join("worktrees").join(project.slug().as_str()).join(agent.to_string());
        let branch = format!("dormouse/agent-{agent}");
        let path = folder.to_string_lossy().into_owned();
        let _alone = WORKTREES.acquire().await;
        git(&["worktree", "add", "-q", "-b", &branch, &path, "HEAD"], &root, &environment).await?;
        Ok(Self { folder, branch, base, root, environment })
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
        folder.is_dir().then_some(Self { folder, branch, base, root, environment })
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
        let path = self.folder.to_string_lossy().into_owned();
        let _alone = WORKTREES.acquire().await;
        let removed =
            git(&["worktree", "remove", "--force", &path], &self.root, &self.environment).await;
        let branch_deleted =
            git(&["branch", "-D", "-q", &self.branch], &self.root, &self.environment).await;
        match removed.and(branch_deleted) {
            Ok(_) => "nothing was changed in its worktree, which was removed".to_owned(),
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

/// Through the shell's function of that name, which takes away the programs that a repository's settings name, filters
/// among them: whoever wrote the repository must not run anything here.
async fn git(
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
