//! The settings that are for one machine stay out of git: a line in the repository's own list of what it passes over, which
//! nobody else gets.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_base::{Dir, Environment, Project, RelPath};
use dormouse_permissions::SAFE_GIT_ENVIRONMENT;
use dormouse_tools::output;

use crate::wiring::print;

/// Git is asked about one file.
const PATIENCE: Duration = Duration::from_secs(5);

/// Sees to it that git passes over a file of the project, and says so. Where git does not answer, nothing happens:
/// the file is written all the same.
pub(crate) async fn keep_from_git(file: &Path, project: &Project, environment: &Environment) {
    let Ok(below) = file.strip_prefix(&project.checkout) else { return };
    if !project.is_git || !is_seen(below, project, environment).await {
        return;
    }
    let Some(list) = list_of(project, environment).await else { return };
    let line = format!("/{}", below.display());
    match add(&list, &line) {
        Ok(()) => print::note(&format!(
            "git passes over {line} from now on: it is for this machine, and stands in {}",
            list.display()
        )),
        Err(why) => print::note(&format!(
            "warning: git sees {line}, which is for this machine: it can not be put into {}: {why}",
            list.display()
        )),
    }
}

/// Whether git neither passes over the file nor has it under its care: what is committed already is the project's.
async fn is_seen(below: &Path, project: &Project, environment: &Environment) -> bool {
    let path = below.to_string_lossy();
    let passed_over = git(&["check-ignore", "-q", "--no-index", &path], project, environment).await;
    let tracked = git(&["ls-files", "--", &path], project, environment).await;
    passed_over.is_some_and(|(code, _)| code == 1)
        && tracked.is_some_and(|(code, listed)| code == 0 && listed.trim().is_empty())
}

/// The list of the repository, one for all its worktrees.
async fn list_of(project: &Project, environment: &Environment) -> Option<PathBuf> {
    let args = ["rev-parse", "--git-path", "info/exclude"];
    let (code, path) = git(&args, project, environment).await?;
    let path = path.trim_end_matches('\n');
    (code == 0 && !path.is_empty()).then(|| project.checkout.join(path))
}

/// What git says, and its exit code. A repository that somebody else wrote must not run anything by being asked.
async fn git(args: &[&str], project: &Project, environment: &Environment) -> Option<(i32, String)> {
    let environment = environment
        .clone()
        .without("BASH_ENV")
        .without("ENV")
        .without("GIT_DIR")
        .without("GIT_WORK_TREE")
        .without("GIT_INDEX_FILE")
        .with(SAFE_GIT_ENVIRONMENT);
    let shell: Vec<&str> = ["-c", "git \"$@\"", "git"].iter().chain(args).copied().collect();
    let answer = output("bash", &shell, &project.checkout, &environment, PATIENCE).await.ok()?;
    Some((answer.code?, answer.stdout))
}

fn add(list: &Path, line: &str) -> Result<(), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let (Some(folder), Some(name)) = (list.parent(), list.file_name()) else {
        return Err("it is no file".to_owned());
    };
    let name = RelPath::new(name).map_err(|error| text(&error))?;
    let dir = Dir::create(folder).map_err(|error| text(&error))?;
    let mut content = match dir.read(&name) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => Vec::new(),
        Err(error) => return Err(text(&error)),
    };
    if content.last().is_some_and(|last| *last != b'\n') {
        content.push(b'\n');
    }
    content.extend_from_slice(line.as_bytes());
    content.push(b'\n');
    dir.rewrite(&name, &content).map_err(|error| text(&error))
}
