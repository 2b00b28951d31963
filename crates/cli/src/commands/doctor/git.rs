//! Git: there, new enough, and willing to work in this project.

use dormouse_tools::ProcessError;

use super::finding::Finding;
use super::scene::Scene;

const AREA: &str = "git";
/// Before this, git does not know the variables that keep a repository from starting programs.
const OLDEST: (u32, u32) = (2, 31);

pub(super) async fn check(scene: &Scene<'_>) -> Vec<Finding> {
    let text = match scene.ask("git", &["--version"]).await {
        Ok(answer) => answer.stdout,
        Err(error) => return vec![missing(&error)],
    };
    let mut findings = vec![version(text.trim())];
    if scene.project.is_git {
        findings.push(repository(scene).await);
    }
    findings
}

fn missing(error: &ProcessError) -> Finding {
    let mend = "install git; without it the model is told nothing of branches and changes";
    Finding::warning(AREA, error.to_string(), mend)
}

fn version(text: &str) -> Finding {
    match numbers(text) {
        Some(version) if version < OLDEST => {
            let (major, minor) = OLDEST;
            Finding::warning(
                AREA,
                format!(
                    "{text} is older than {major}.{minor}: git commands do not count as read-only"
                ),
                "install a newer one",
            )
        }
        Some(_) | None => Finding::well(AREA, text),
    }
}

/// The first two numbers of `git version 2.47.1`.
pub(super) fn numbers(text: &str) -> Option<(u32, u32)> {
    let word =
        text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = word.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// A repository of somebody else's is not touched by git until it is told to.
async fn repository(scene: &Scene<'_>) -> Finding {
    let root = scene.project.root.display();
    match scene.ask("git", &["rev-parse", "--git-dir"]).await {
        Ok(answer) if answer.code == Some(0) => {
            Finding::well(AREA, format!("the repository {root} can be read"))
        }
        Ok(answer) if answer.stderr.contains("safe.directory") => Finding::problem(
            AREA,
            format!("git does not trust {root}: it belongs to somebody else"),
            format!("if you do: git config --global --add safe.directory '{root}'"),
        ),
        Ok(answer) => {
            let said = answer.stderr.lines().next().unwrap_or("it said nothing").to_owned();
            let what = format!("git can not read {root}: {said}");
            Finding::problem(AREA, what, "see what `git status` says there")
        }
        Err(error) => missing(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert_eq!(numbers("git version 2.39.5"), Some((2, 39)));
        assert_eq!(numbers("git version 2.50.1 (Apple Git-155)"), Some((2, 50)));
        assert_eq!(numbers("git"), None);
        assert_eq!(version("git version 2.30.2").health.word(), "warning");
        assert_eq!(version("git version 2.31.0").health.word(), "ok");
        assert_eq!(version("git version 10.1").health.word(), "ok");
    }
}
