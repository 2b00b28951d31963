//! The folder of a project, `projects/<slug>`, and its memory: shared by all worktrees, never by two projects, and
//! found again after the repository was moved.

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, FileError, ProjectSlug, RelPath, project_folder};
use serde::{Deserialize, Serialize};

use crate::store::state_folder;

/// What identifies a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RepositoryIdentity {
    /// The first commit.
    pub root_commit: Option<String>,
    /// The remote.
    pub remote: Option<String>,
}

/// The memory directory of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectMemory {
    /// Path of the directory.
    pub directory: PathBuf,
    /// The previous root of the repository, if its memory was taken over just now. To be reported.
    pub taken_over_from: Option<PathBuf>,
}

/// `project.json`: the project of a folder. The engine writes only the root.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProjectFile {
    root: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    root_commit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    remote: Option<String>,
}

const PROJECTS: &str = "projects";

/// Finds the memory directory of the project at `root`, and records the project.
pub fn project_memory(
    home: &Path,
    root: &Path,
    identity: &RepositoryIdentity,
) -> Result<ProjectMemory, FileError> {
    let projects = Dir::create(home.join(PROJECTS))?;
    let slug = project_folder(projects.path(), root);
    let folder = Dir::create(projects.path().join(slug.as_str()))?;
    let own = ProjectFile {
        root: root.display().to_string(),
        root_commit: identity.root_commit.clone(),
        remote: identity.remote.clone(),
    };
    if read(&folder).as_ref() != Some(&own) {
        // A struct of texts always serializes.
        folder.replace(&plain("project.json"), &serde_json::to_vec(&own).unwrap_or_default())?;
    }
    let directory = folder.path().join("memory");
    let taken_over_from =
        if directory.exists() { None } else { take_over(home, &projects, &slug, &own)? };
    Ok(ProjectMemory { directory, taken_over_from })
}

/// Moves the memory of a repository that no longer exists at its old path, and has the same first commit and remote, to
/// its new folder, with its history.
fn take_over(
    home: &Path,
    projects: &Dir,
    slug: &ProjectSlug,
    own: &ProjectFile,
) -> Result<Option<PathBuf>, FileError> {
    if own.root_commit.is_none() {
        return Ok(None);
    }
    for name in projects.names()?.into_iter().filter(|name| name != slug.as_str()) {
        let Some(folder) =
            RelPath::new(&name).ok().and_then(|name| projects.open_folder(&name).ok())
        else {
            continue;
        };
        let memory = folder.path().join("memory");
        let Some(known) = read(&folder).filter(|known| is_the_same(known, own)) else { continue };
        if !memory.is_dir() {
            continue;
        }
        let moved = projects.path().join(slug.as_str()).join("memory");
        let state = Dir::create(home.join("state"))?;
        let (from, to) = (state_folder(&real(&memory)), state_folder(&real(&moved)));
        projects.rename(&plain(&format!("{name}/memory")), &plain(&format!("{slug}/memory")))?;
        match state.rename(&plain(&from), &plain(&to)) {
            Err(error) if !error.is_not_found() => return Err(error),
            Ok(()) | Err(_) => {}
        }
        return Ok(Some(PathBuf::from(known.root)));
    }
    Ok(None)
}

/// The path without links, even if the last folder does not exist yet: stores are identified by it.
fn real(memory: &Path) -> PathBuf {
    let folder = memory.parent().and_then(|folder| folder.canonicalize().ok());
    folder.map_or_else(|| memory.to_owned(), |folder| folder.join("memory"))
}

fn is_the_same(known: &ProjectFile, own: &ProjectFile) -> bool {
    known.root != own.root
        && known.root_commit == own.root_commit
        && known.remote == own.remote
        && !Path::new(&known.root).exists()
}

fn read(folder: &Dir) -> Option<ProjectFile> {
    serde_json::from_slice(&folder.read(&plain("project.json")).ok()?).ok()
}

/// A path made of slugs, fixed names, or names from a listing.
#[expect(clippy::expect_used, reason = "a slug has no separators, the rest are plain names")]
fn plain(name: &str) -> RelPath {
    RelPath::new(name).expect("a plain name")
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests lay out repositories by hand")]
mod tests {
    use std::fs;

    use super::*;

    fn identity(commit: &str) -> RepositoryIdentity {
        RepositoryIdentity { root_commit: Some(commit.into()), remote: Some("git@host:a".into()) }
    }

    fn name(memory: &ProjectMemory) -> String {
        memory.directory.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned()
    }

    #[test]
    fn two_projects_of_one_slug_have_two_folders() {
        let home = tempfile::tempdir().unwrap();
        let (one, other) = (home.path().join("a-b"), home.path().join("a.b"));
        fs::create_dir(&one).unwrap();
        fs::create_dir(&other).unwrap();
        let first = project_memory(home.path(), &one, &identity("1")).unwrap();
        let second = project_memory(home.path(), &other, &identity("2")).unwrap();
        assert_ne!(first, second);
        assert!(name(&second).starts_with(&name(&first)));
        assert_eq!(project_memory(home.path(), &other, &identity("2")).unwrap(), second);
        // A file by the engine is read and completed.
        let file = first.directory.parent().unwrap().join("project.json");
        fs::write(&file, format!("{{\"root\":{:?}}}", one.display().to_string())).unwrap();
        assert_eq!(project_memory(home.path(), &one, &identity("1")).unwrap(), first);
        assert!(fs::read_to_string(&file).unwrap().contains("rootCommit"));
    }

    #[test]
    fn a_moved_repository_keeps_its_memory() {
        let home = tempfile::tempdir().unwrap();
        let (old, new) = (home.path().join("old"), home.path().join("new"));
        fs::create_dir(&old).unwrap();
        let first = project_memory(home.path(), &old, &identity("1")).unwrap();
        fs::create_dir(&first.directory).unwrap();
        fs::write(first.directory.join("a.md"), "kept").unwrap();
        fs::create_dir_all(home.path().join("state").join(state_folder(&first.directory))).unwrap();
        fs::create_dir(&new).unwrap();
        // A second clone beside the first is a project of its own.
        assert_eq!(
            project_memory(home.path(), &new, &identity("1")).unwrap().taken_over_from,
            None
        );
        fs::remove_dir(&old).unwrap();
        // So is another repository elsewhere.
        assert_eq!(
            project_memory(home.path(), &new, &identity("2")).unwrap().taken_over_from,
            None
        );
        let moved = project_memory(home.path(), &new, &identity("1")).unwrap();
        assert_eq!(moved.taken_over_from, Some(old));
        assert_eq!(fs::read_to_string(moved.directory.join("a.md")).unwrap(), "kept");
        assert!(home.path().join("state").join(state_folder(&moved.directory)).exists());
        assert_eq!(
            project_memory(home.path(), &new, &identity("1")).unwrap().taken_over_from,
            None
        );
    }
}
