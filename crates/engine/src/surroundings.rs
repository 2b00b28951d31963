//! The surroundings of a conversation: date, folder, machine, git.

use futures_util::future::BoxFuture;
use std::time::Duration;

use dormouse_base::{Clock, Deadlines, Environment, GitFiles, Project, names};
use dormouse_conversation::EnvironmentFacts;
use dormouse_conversation::transcript::LineEnvelope;
use dormouse_permissions::SAFE_GIT_ENVIRONMENT;
use dormouse_tools::output;
use jiff::tz::TimeZone;

/// More changed files than this are counted, not listed.
const MOST_STATUS_LINES: usize = 40;

/// The surroundings of a conversation at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Surroundings {
    /// Today, with the day of the week.
    pub date: String,
    /// The working directory.
    pub folder: String,
    /// The operating system.
    pub system: String,
    /// The user's shell, if known.
    pub shell: Option<String>,
    /// The branch, if there is a repository.
    pub branch: Option<String>,
    /// The output of `git status`, if there is a repository.
    pub git_status: Option<String>,
}

impl Surroundings {
    /// Reads the current surroundings.
    pub fn look<'a>(
        project: &'a Project,
        environment: &'a Environment,
        clock: &'a dyn Clock,
        deadlines: &Deadlines,
    ) -> BoxFuture<'a, Self> {
        let patience = deadlines.git_status;
        Box::pin(async move {
            let today = clock.now().to_zoned(TimeZone::system());
            let (branch, git_status) = if project.is_git {
                git(project, environment, patience).await
            } else {
                (None, None)
            };
            Self {
                date: today.strftime("%A, %Y-%m-%d").to_string(),
                folder: project.folder.display().to_string(),
                system: format!("{} ({})", std::env::consts::OS, std::env::consts::ARCH),
                shell: environment
                    .get(names::SHELL)
                    .and_then(|path| path.rsplit('/').next())
                    .map(str::to_owned),
                branch,
                git_status,
            }
        })
    }

    /// What every line of a transcript records of them.
    pub(crate) fn line_envelope(&self) -> LineEnvelope {
        LineEnvelope {
            folder: self.folder.clone(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            git_branch: self.branch.clone().unwrap_or_default(),
        }
    }

    /// The facts, with the tools, that may change during a conversation.
    pub fn facts<'a>(&self, tools: impl Iterator<Item = &'a str>) -> EnvironmentFacts {
        let tools: Vec<&str> = tools.collect();
        let mut facts = EnvironmentFacts::default()
            .with("date", &self.date)
            .with("working directory", &self.folder)
            .with("tools", tools.join(", "));
        if let Some(branch) = &self.branch {
            facts = facts.with("git branch", branch);
        }
        if let Some(status) = &self.git_status {
            facts = facts.with("git status", status);
        }
        facts
    }
}

/// The branch and the status. Where git fails or takes too long, the model is told so.
async fn git(
    project: &Project,
    environment: &Environment,
    patience: Duration,
) -> (Option<String>, Option<String>) {
    // A repository that somebody else wrote must not run anything by being looked at.
    let environment =
        environment.clone().without("BASH_ENV").without("ENV").with(SAFE_GIT_ENVIRONMENT);
    // With a plain configuration there is nothing to guard against, and the shell with the guard takes four times as long. Git
    // starts where `.git` is, so that it cannot find another repository on its way up.
    let is_plain = GitFiles::of(&project.checkout).is_some_and(|files| files.has_plain_config())
        && environment.get("GIT_DIR").is_none();
    let result = if is_plain {
        let args = ["status", "--porcelain", "--branch", "--ignore-submodules=dirty"];
        output("git", &args, &project.checkout, &environment, patience).await
    } else {
        let args = ["-c", "git status --porcelain --branch"];
        output("bash", &args, &project.folder, &environment, patience).await
    };
    let Ok(answer) = result
        .map_err(drop)
        .and_then(|answer| if answer.code == Some(0) { Ok(answer) } else { Err(()) })
    else {
        return (None, Some("not known: git did not answer".to_owned()));
    };
    let mut lines = answer.stdout.lines();
    let branch = lines.next().and_then(|line| line.strip_prefix("## ")).map(branch_name);
    let changed: Vec<&str> = lines.collect();
    let status = match changed.len() {
        0 => "clean".to_owned(),
        count if count <= MOST_STATUS_LINES => changed.join("\n"),
        count => {
            let listed: Vec<&str> = changed.into_iter().take(MOST_STATUS_LINES).collect();
            format!("{}\n(and {} more)", listed.join("\n"), count - MOST_STATUS_LINES)
        }
    };
    (branch, Some(status))
}

/// `main...origin/main [ahead 1]` and `No commits yet on main`, as git says it.
fn branch_name(header: &str) -> String {
    let name = header.strip_prefix("No commits yet on ").unwrap_or(header);
    name.split("...").next().unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branch_names() {
        assert_eq!(branch_name("main...origin/main [ahead 1]"), "main");
        assert_eq!(branch_name("No commits yet on trunk"), "trunk");
        assert_eq!(branch_name("HEAD (no branch)"), "HEAD (no branch)");
    }
}
