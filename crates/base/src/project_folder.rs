//! Which folder below `projects/` is a project's: two paths may have one slug, and `project.json` says whose a folder is.
//!
//! Invariant: a folder that names this project is its folder, whatever the other files say. A file that is damaged, or that names
//! a project which would not have this folder, decides nothing.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::dir::Dir;
use crate::home::ProjectSlug;
use crate::rel_path::RelPath;

#[derive(Deserialize)]
struct OwnerFile {
    root: PathBuf,
}

/// The name of a project's folder below `projects`: its plain slug, or one with a hash if another project has the plain one.
pub fn project_folder(projects: &Path, root: &Path) -> ProjectSlug {
    let (plain, distinct) = (ProjectSlug::of(root), ProjectSlug::distinct(root));
    let of_plain = owner(projects, &plain);
    if of_plain.as_deref() == Some(root) {
        return plain;
    }
    if owner(projects, &distinct).as_deref() == Some(root) {
        return distinct;
    }
    let is_taken = of_plain.is_some_and(|owner| ProjectSlug::of(&owner) == plain);
    if is_taken { distinct } else { plain }
}

/// The `project.json` files below `projects` that cannot be read or name a project of another folder.
pub fn damaged_project_files(projects: &Path) -> Vec<PathBuf> {
    let Ok(dir) = Dir::open(projects) else { return Vec::new() };
    let names = dir.names().unwrap_or_default();
    let mut damaged: Vec<PathBuf> = names
        .into_iter()
        .filter(|name| {
            let folder = projects.join(name);
            folder.join("project.json").exists()
                && project_named_in(&folder).is_none_or(|root| {
                    ProjectSlug::of(&root).as_str() != name
                        && ProjectSlug::distinct(&root).as_str() != name
                })
        })
        .map(|name| projects.join(name).join("project.json"))
        .collect();
    damaged.sort();
    damaged
}

fn owner(projects: &Path, slug: &ProjectSlug) -> Option<PathBuf> {
    project_named_in(&projects.join(slug.as_str()))
}

/// The root of the project that a folder below `projects` says it is of; none if its file is missing or damaged.
pub fn project_named_in(folder: &Path) -> Option<PathBuf> {
    let file = RelPath::new("project.json").ok()?;
    let bytes = Dir::open(folder).ok()?.read(&file).ok()?;
    serde_json::from_slice::<OwnerFile>(&bytes).ok().map(|file| file.root)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test lays out files by hand")]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_file_hides_nothing_and_is_found() {
        let keep = tempfile::tempdir().unwrap();
        let projects = keep.path();
        // Two paths of one slug.
        let (one, other) = (Path::new("/a/b-c"), Path::new("/a/b/c"));
        let put = |slug: &ProjectSlug, text: &str| {
            std::fs::create_dir_all(projects.join(slug.as_str())).unwrap();
            std::fs::write(projects.join(slug.as_str()).join("project.json"), text).unwrap();
        };
        let (plain, distinct) = (ProjectSlug::of(one), ProjectSlug::distinct(other));
        assert_eq!(ProjectSlug::of(other).as_str(), plain.as_str());
        put(&plain, r#"{"root":"/a/b-c"}"#);
        assert_eq!(project_folder(projects, other).as_str(), distinct.as_str());
        put(&distinct, r#"{"root":"/a/b/c"}"#);
        assert_eq!(damaged_project_files(projects), Vec::<PathBuf>::new());
        for damaged in ["", "{", r#"{"root":5}"#, r#"{"root":"/x"}"#] {
            put(&plain, damaged);
            assert_eq!(project_folder(projects, one).as_str(), plain.as_str(), "{damaged}");
            assert_eq!(project_folder(projects, other).as_str(), distinct.as_str(), "{damaged}");
            assert_eq!(damaged_project_files(projects).len(), 1, "{damaged}");
        }
    }
}
