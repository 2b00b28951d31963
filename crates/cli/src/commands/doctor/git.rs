//! Git: installed, recent enough, and usable in this project.

use dormouse_tools::ProcessError;

use super::context::DoctorContext;
use super::finding::DoctorFinding;
use crate::message_catalog::msg;

const AREA: &str = "git";
/// Older versions ignore the variables that keep a repository from starting programs.
const MINIMUM_VERSION: (u32, u32) = (2, 31);

pub(super) async fn check(context: &DoctorContext<'_>) -> Vec<DoctorFinding> {
    let text = match context.run_program("git", &["--version"]).await {
        Ok(answer) => answer.stdout,
        Err(error) => return vec![missing(&error)],
    };
    let mut findings = vec![version(text.trim())];
    if context.project.is_git {
        findings.push(repository(context).await);
    }
    findings
}

fn missing(error: &ProcessError) -> DoctorFinding {
    DoctorFinding::warning(AREA, error.to_string(), msg!("doctor-git-fix-missing"))
}

fn version(text: &str) -> DoctorFinding {
    match version_numbers(text) {
        Some(version) if version < MINIMUM_VERSION => {
            let (major, minor) = MINIMUM_VERSION;
            DoctorFinding::warning(
                AREA,
                msg!("doctor-git-old", version = text, minimum = format!("{major}.{minor}")),
                msg!("doctor-git-fix-old"),
            )
        }
        Some(_) | None => DoctorFinding::ok(AREA, text),
    }
}

/// The first two numbers of `git version 2.47.1`.
pub(super) fn version_numbers(text: &str) -> Option<(u32, u32)> {
    let word =
        text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut parts = word.split('.').map(str::parse);
    Some((parts.next()?.ok()?, parts.next()?.ok()?))
}

/// Git refuses to work in a repository of another owner unless it is listed as safe.
async fn repository(context: &DoctorContext<'_>) -> DoctorFinding {
    let root = context.project.root.display().to_string();
    match context.run_program("git", &["rev-parse", "--git-dir"]).await {
        Ok(answer) if answer.code == Some(0) => {
            DoctorFinding::ok(AREA, msg!("doctor-git-repository", path = root))
        }
        Ok(answer) if answer.stderr.contains("safe.directory") => DoctorFinding::problem(
            AREA,
            msg!("doctor-git-owner", path = root.as_str()),
            msg!("doctor-git-fix-owner", path = root.as_str()),
        ),
        Ok(answer) => {
            let error = answer.stderr.lines().next().unwrap_or("no error message").to_owned();
            let text = msg!("doctor-git-unreadable", path = root, error = error);
            DoctorFinding::problem(AREA, text, msg!("doctor-git-fix-unreadable"))
        }
        Err(error) => missing(&error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions() {
        assert_eq!(version_numbers("git version 2.39.5"), Some((2, 39)));
        assert_eq!(version_numbers("git version 2.50.1 (Apple Git-155)"), Some((2, 50)));
        assert_eq!(version_numbers("git"), None);
        assert_eq!(version("git version 2.30.2").status.as_str(), "warning");
        assert_eq!(version("git version 2.31.0").status.as_str(), "ok");
        assert_eq!(version("git version 10.1").status.as_str(), "ok");
    }
}
