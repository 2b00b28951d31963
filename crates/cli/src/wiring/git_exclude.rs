//! Keeps machine-local settings out of git: adds a line to the repository's `info/exclude`, which is not shared.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_base::{Dir, Environment, Project, RelPath};
use dormouse_permissions::SAFE_GIT_ENVIRONMENT;
use dormouse_tools::output;

use crate::wiring::print;

/// How long git may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Makes git ignore a file of the project, with a notice. Does nothing where git fails.
pub(crate) async fn keep_from_git(file: &Path, project: &Project, environment: &Environment) {
    let Ok(below) = file.strip_prefix(&project.checkout) else { return };
    if !project.is_git || !is_seen(below, project, environment).await {
        return;
    }
    let Some(list) = list_of(project, environment).await else { return };
    let line = format!("/{}", below.display());
    match add(&list, &line) {
        Ok(()) => print::note(&format!(
            "Added {line} to {}, so that git ignores it (settings of this machine)",
            list.display()
        )),
        Err(why) => print::note(&format!(
            "warning: git does not ignore {line} (settings of this machine); cannot change {}: {why}",
            list.display()
        )),
    }
}

/// Whether git neither ignores nor tracks the file.
async fn is_seen(below: &Path, project: &Project, environment: &Environment) -> bool {
    let path = below.to_string_lossy();
    let passed_over = git(&["check-ignore", "-q", "--no-index", &path], project, environment).await;
    let tracked = git(&["ls-files", "--", &path], project, environment).await;
    passed_over.is_some_and(|(code, _)| code == 1)
        && tracked.is_some_and(|(code, listed)| code == 0 && listed.trim().is_empty())
}

/// The exclude file of the repository, shared by its worktrees.
async fn list_of(project: &Project, environment: &Environment) -> Option<PathBuf> {
    let args = ["rev-parse", "--git-path", "info/exclude"];
    let (code, path) = git(&args, project, environment).await?;
    let path = path.trim_end_matches('\n');
    (code == 0 && !path.is_empty()).then(|| project.checkout.join(path))
}

/// Runs git; returns exit code and output. The settings of a foreign repository must not run anything.
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
        return Err("not a file".to_owned());
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
