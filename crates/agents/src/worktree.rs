//! A git worktree for an agent: made of the last commit, taken away again if nothing was changed in it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_base::{AgentId, Environment, Project};
use dormouse_permissions::SAFE_GIT_ENVIRONMENT;
use dormouse_tools::output;

const PATIENCE: Duration = Duration::from_mins(2);

/// A worktree of an agent's own.
#[derive(Debug, Clone)]
pub(crate) struct Worktree {
    pub(crate) folder: PathBuf,
    branch: String,
    /// The commit that it began with.
    base: String,
    root: PathBuf,
    environment: Environment,
}

impl Worktree {
    /// Makes one below `home`.
    pub(crate) async fn make(
        home: &Path,
        project: &Project,
        agent: AgentId,
        environment: &Environment,
    ) -> Result<Self, String> {
        if !project.is_git {
            return Err("there is no git repository here, so there can be no worktree; leave `isolation` out".to_owned());
        }
        let environment = environment.clone().with(SAFE_GIT_ENVIRONMENT);
        let root = project.checkout.clone();
        let base = git(&["rev-parse", "HEAD"], &root, &environment).await.map_err(|_| {
            "the repository has no commit yet, so there can be no worktree".to_owned()
        })?;
        let folder = home.join("worktrees").join(project.slug().as_str()).join(agent.to_string());
        let branch = format!("dormouse/agent-{agent}");
        let place = folder.to_string_lossy().into_owned();
        git(&["worktree", "add", "-q", "-b", &branch, &place, "HEAD"], &root, &environment).await?;
        Ok(Self { folder, branch, base, root, environment })
    }

    /// The project as the agent sees it.
    pub(crate) fn project(&self, of: &Project) -> Project {
        let below = of.folder.strip_prefix(&of.checkout).unwrap_or(Path::new(""));
        let folder = Some(self.folder.join(below)).filter(|folder| folder.is_dir());
        Project {
            folder: folder.unwrap_or_else(|| self.folder.clone()),
            checkout: self.folder.clone(),
            ..of.clone()
        }
    }

    /// Takes it away if nothing was changed; else says where it is.
    pub(crate) async fn close(self) -> String {
        let status = git(&["status", "--porcelain"], &self.folder, &self.environment).await;
        let head = git(&["rev-parse", "HEAD"], &self.folder, &self.environment).await;
        let untouched = status.as_deref() == Ok("") && head.as_deref() == Ok(&self.base);
        if !untouched {
            return self.kept();
        }
        let place = self.folder.to_string_lossy().into_owned();
        let removed =
            git(&["worktree", "remove", "--force", &place], &self.root, &self.environment).await;
        let forgotten =
            git(&["branch", "-D", "-q", &self.branch], &self.root, &self.environment).await;
        match removed.and(forgotten) {
            Ok(_) => "nothing was changed in its worktree, which is gone again".to_owned(),
            Err(why) => format!("its worktree could not be taken away ({why}): {}", self.kept()),
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

/// FilteredAnnouncer the shell's function of that name, which takes away the programs that a repository's settings name, filters
/// among them: whoever wrote the repository must not run anything here.
async fn git(args: &[&str], folder: &Path, environment: &Environment) -> Result<String, String> {
    let environment = environment.clone().without("BASH_ENV").without("ENV");
    let shell: Vec<&str> = ["-c", "git \"$@\"", "git"].iter().chain(args).copied().collect();
    let answer = output("bash", &shell, folder, &environment, PATIENCE)
        .await
        .map_err(|error| error.to_string())?;
    if answer.code == Some(0) {
        return Ok(answer.stdout.trim().to_owned());
    }
    Err(format!("git {}: {}", args.first().unwrap_or(&""), answer.stderr.trim()))
}
