//! What git's HEAD says: the branch and its commit. A rewind restores files, not git; so a branch that moved is said.

use std::path::Path;

use dormouse_base::git_folder;

use crate::git_index::common_folder;

/// The branch and commit that are checked out in a folder, such as `main 1f2e3d4`; none without git.
pub(crate) fn head(checkout: &Path) -> Option<String> {
    let folder = git_folder(checkout)?;
    let text = std::fs::read_to_string(folder.join("HEAD")).ok()?;
    let Some(name) = text.trim().strip_prefix("ref: ") else {
        return Some(format!("detached {}", short(text.trim())));
    };
    let branch = name.strip_prefix("refs/heads/").unwrap_or(name);
    let common = common_folder(&folder);
    let commit = [&folder, &common]
        .into_iter()
        .find_map(|folder| std::fs::read_to_string(folder.join(name)).ok())
        .or_else(|| packed(&common, name));
    Some(match commit {
        Some(commit) => format!("{branch} {}", short(commit.trim())),
        None => branch.to_owned(),
    })
}

fn packed(common: &Path, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(common.join("packed-refs")).ok()?;
    let line = text
        .lines()
        .find(|line| line.split_once(' ').is_some_and(|(_, ref_name)| ref_name == name))?;
    line.split_once(' ').map(|(commit, _)| commit.to_owned())
}

fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}
