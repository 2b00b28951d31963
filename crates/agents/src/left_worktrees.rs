//! Worktrees that subagents have left behind: because of changes in them, or because the program was killed.

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, Environment, Lock, LockError, Project};
use dormouse_permissions::SAFE_GIT_ENVIRONMENT;

use crate::worktree::{
    WorktreeError, branch_name, git, lock_file, remove_worktree, worktree_folder,
};

/// A worktree that nobody works in.
#[derive(Debug, Clone)]
pub struct LeftWorktree {
    /// The id of the subagent.
    pub agent: String,
    /// Its folder.
    pub folder: PathBuf,
    /// Its branch.
    pub branch: String,
    /// Files that are not committed, as `git status` lists them.
    pub changes: Vec<String>,
    /// Commits that are on no other branch, in one line each.
    pub commits: Vec<String>,
}

impl LeftWorktree {
    /// Whether nothing is lost with it.
    pub fn is_clean(&self) -> bool {
        self.changes.is_empty() && self.commits.is_empty()
    }
}

/// The worktrees of a repository that nobody works in.
pub async fn left_worktrees(
    home: &Path,
    project: &Project,
    environment: &Environment,
) -> Result<Vec<LeftWorktree>, WorktreeError> {
    let environment = environment.clone().with(SAFE_GIT_ENVIRONMENT);
    let Ok(folder) = Dir::open(worktree_folder(home, project)) else { return Ok(Vec::new()) };
    let mut left = Vec::new();
    for agent in folder.names().unwrap_or_default() {
        let path = folder.path().join(&agent);
        if path.is_dir() && !is_in_use(&folder, &agent) {
            left.push(look(agent, path, project, &environment).await?);
        }
    }
    Ok(left)
}

async fn look(
    agent: String,
    folder: PathBuf,
    project: &Project,
    environment: &Environment,
) -> Result<LeftWorktree, WorktreeError> {
    let branch = branch_name(&agent);
    let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let changes = lines(git(&["status", "--porcelain"], &folder, environment).await?);
    let exclude = format!("--exclude={branch}");
    let others = ["HEAD", &exclude, "--branches", "--tags", "--remotes"];
    let search: Vec<&str> =
        ["log", "--oneline", &branch, "--not"].into_iter().chain(others).collect();
    let commits = lines(git(&search, &project.checkout, environment).await?);
    Ok(LeftWorktree { agent, folder, branch, changes, commits })
}

/// Removes a worktree and its branch, with all that is in them.
pub async fn remove_left_worktree(
    left: &LeftWorktree,
    project: &Project,
    environment: &Environment,
) -> Result<(), WorktreeError> {
    let environment = environment.clone().with(SAFE_GIT_ENVIRONMENT);
    remove_worktree(&left.folder, &left.branch, &project.checkout, &environment).await
}

fn is_in_use(folder: &Dir, agent: &str) -> bool {
    let Some(file) = lock_file(agent) else { return true };
    match Lock::try_acquire_unsigned(folder, &file) {
        Err(LockError::Held { .. }) => true,
        // Without a lock it is of an earlier version, or its run has ended.
        Ok(_) | Err(LockError::File(_)) => false,
    }
}
