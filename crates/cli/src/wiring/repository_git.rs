//! What git says about the repository of a project.

use std::time::Duration;

use dormouse_base::{Environment, GitFiles, GitHead, Project};
use dormouse_memory::RepositoryIdentity;
use dormouse_permissions::SAFE_GIT_ENVIRONMENT;
use dormouse_tools::output;

/// In a long history, finding the first commit can take longer; then the repository is not recognized after a move.
const TIMEOUT: Duration = Duration::from_secs(5);

/// Runs git in a project.
pub(crate) struct RepositoryGit<'a> {
    pub(crate) project: &'a Project,
    /// The environment of child processes.
    pub(crate) environment: Environment,
}

impl RepositoryGit<'_> {
    /// What identifies the repository after it was moved.
    pub(crate) async fn identity(&self) -> RepositoryIdentity {
        let commits = self.run(&["rev-list", "--max-parents=0", "HEAD"]).await;
        let root_commit = commits.and_then(|all| all.lines().last().map(str::to_owned));
        RepositoryIdentity { root_commit, remote: self.remote().await }
    }

    /// The remote, without credentials.
    pub(crate) async fn remote(&self) -> Option<String> {
        let remote = self.run(&["config", "--get", "remote.origin.url"]).await;
        remote.as_deref().map(without_credentials)
    }

    /// The commit that is checked out.
    pub(crate) async fn head(&self) -> Option<String> {
        match GitFiles::of(&self.project.checkout).and_then(|files| files.head()) {
            Some(GitHead::Commit(id)) => Some(id),
            Some(GitHead::Unborn) => None,
            None => self.run(&["rev-parse", "HEAD"]).await,
        }
    }

    /// The output of a git command; none if it failed or printed nothing.
    async fn run(&self, args: &[&str]) -> Option<String> {
        if !self.project.is_git {
            return None;
        }
        let environment = self.environment.clone().with(SAFE_GIT_ENVIRONMENT);
        let output = output("git", args, &self.project.folder, &environment, TIMEOUT).await.ok()?;
        let text = output.stdout.trim();
        (output.code == Some(0) && !text.is_empty()).then(|| text.to_owned())
    }
}

/// A URL without user name and password.
fn without_credentials(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return url.to_owned() };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit('@').next().unwrap_or(host);
    format!("{scheme}://{host}/{path}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_is_kept() {
        assert_eq!(without_credentials("https://me:token@host/a@b.git"), "https://host/a@b.git");
        assert_eq!(without_credentials("git@host:a/b.git"), "git@host:a/b.git");
    }
}
