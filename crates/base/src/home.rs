//! Where the program keeps its files, and which project a folder belongs to.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::environment::{Environment, names};

/// Why there is no home folder, or no project.
#[derive(Debug, Error)]
pub enum HomeError {
    /// Neither `DORMOUSE_HOME` nor `HOME` is set.
    #[error(
        "no home folder: neither DORMOUSE_HOME nor HOME is set; set DORMOUSE_HOME to a folder of your own"
    )]
    NoHome,
    /// `DORMOUSE_HOME=some/folder`.
    #[error("DORMOUSE_HOME is {}, which is not an absolute path; give the whole path", .0.display())]
    RelativeHome(PathBuf),
    /// The folder one stands in is gone.
    #[error(
        "the working directory cannot be used ({0}); it may have been deleted: change to an existing folder"
    )]
    NoWorkingDirectory(#[source] std::io::Error),
}

/// The program's own folder: `DORMOUSE_HOME`, else `~/.dormouse`.
pub fn home_dir(environment: &Environment) -> Result<PathBuf, HomeError> {
    if let Some(home) = environment.path(names::HOME) {
        return if home.is_absolute() { Ok(home) } else { Err(HomeError::RelativeHome(home)) };
    }
    environment.path(names::USER_HOME).map(|home| home.join(".dormouse")).ok_or(HomeError::NoHome)
}

/// A project: the repository that a folder is in, or the folder itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// The working directory.
    pub folder: PathBuf,
    /// The repository's main folder, one for all its worktrees; without git, the working directory.
    pub root: PathBuf,
    /// The top of the checkout that the working directory is in: the worktree's own folder, where `root`
    /// is that of all.
    pub checkout: PathBuf,
    /// Whether there is a git repository.
    pub is_git: bool,
}

impl Project {
    /// The folder name under which the project's files are kept.
    pub fn slug(&self) -> ProjectSlug {
        ProjectSlug::of(&self.root)
    }
}

/// Finds the project of a folder.
pub fn find_project(folder: &Path) -> Result<Project, HomeError> {
    let folder = folder.canonicalize().map_err(HomeError::NoWorkingDirectory)?;
    for above in folder.ancestors() {
        let git = above.join(".git");
        if git.is_dir() {
            let (root, checkout) = (above.to_owned(), above.to_owned());
            return Ok(Project { root, checkout, folder, is_git: true });
        }
        if git.is_file() {
            let root = main_worktree(&git).unwrap_or_else(|| above.to_owned());
            return Ok(Project { root, checkout: above.to_owned(), folder, is_git: true });
        }
    }
    Ok(Project { root: folder.clone(), checkout: folder.clone(), folder, is_git: false })
}

/// Whether a folder is the user's home, above it, or the root of the file system: too much to be a project.
pub fn is_home_or_above(folder: &Path, home: Option<&Path>) -> bool {
    folder.parent().is_none() || home.is_some_and(|home| home.starts_with(folder))
}

/// The git folder of a checkout: its `.git`, or what that names, for a worktree or a submodule.
pub fn git_folder(checkout: &Path) -> Option<PathBuf> {
    let git = checkout.join(".git");
    if git.is_dir() {
        return Some(git);
    }
    let text = std::fs::read_to_string(&git).ok()?;
    Some(checkout.join(text.strip_prefix("gitdir:")?.trim()))
}

/// A `.git` file says `gitdir: <main>/.git/worktrees/<name>`; the folder it names has a `commondir`, and a
/// `gitdir` that points back. A folder that only claims to be a worktree is none: it would get at the
/// other project's sessions.
fn main_worktree(git_file: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(git_file).ok()?;
    let git_dir = git_file.parent()?.join(text.strip_prefix("gitdir:")?.trim());
    let back = std::fs::read_to_string(git_dir.join("gitdir")).ok()?;
    let back = git_dir.join(back.trim()).canonicalize().ok()?;
    if back != git_file.canonicalize().ok()? {
        return None;
    }
    let common = std::fs::read_to_string(git_dir.join("commondir")).ok()?;
    let common = git_dir.join(common.trim()).canonicalize().ok()?;
    // Its place is in the repository that it says it belongs to.
    if git_dir.canonicalize().ok()?.parent()? != common.join("worktrees") {
        return None;
    }
    common.parent().map(Path::to_owned)
}

/// A path made into one folder name, the way other agents do it: every character that is not a letter
/// or digit becomes `-`. It cannot be turned back; the path itself stands in the files.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ProjectSlug(String);

/// Longer ones are cut here and get a hash.
const LONGEST_SLUG: usize = 200;

impl ProjectSlug {
    /// The slug of a path.
    pub fn of(path: &Path) -> Self {
        let text = path.to_string_lossy();
        let slug: String =
            text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        if slug.len() <= LONGEST_SLUG {
            return Self(slug);
        }
        let head: String = slug.chars().take(LONGEST_SLUG).collect();
        Self(format!("{head}-{:016x}", stable_hash(text.as_bytes())))
    }

    /// A slug that two paths do not share: for a folder whose plain slug is taken by another project.
    pub fn distinct(path: &Path) -> Self {
        let Self(slug) = Self::of(path);
        Self(format!("{slug}-{:016x}", stable_hash(path.to_string_lossy().as_bytes())))
    }

    /// The folder name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ProjectSlug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// FNV-1a: the same in every version of the program, which the standard hasher does not promise. For
/// names of files, not against anybody who looks for collisions.
pub fn stable_hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs() {
        let check =
            |path: &str, slug: &str| assert_eq!(ProjectSlug::of(Path::new(path)).as_str(), slug);
        check("/home/u/my_app.v2", "-home-u-my-app-v2");
        check("/项目/a", "----a");
        let long = format!("/{}", "a".repeat(300));
        let slug = ProjectSlug::of(Path::new(&long));
        assert_eq!(slug.as_str().len(), LONGEST_SLUG + 17);
        assert_ne!(slug, ProjectSlug::of(Path::new(&format!("{long}b"))));
        let (one, other) = (Path::new("/项目"), Path::new("/目项"));
        assert_eq!(ProjectSlug::of(one), ProjectSlug::of(other));
        assert_ne!(ProjectSlug::distinct(one), ProjectSlug::distinct(other));
    }

    #[test]
    fn the_home_folder() {
        let home =
            |pairs: &[(&str, &str)]| home_dir(&Environment::from_pairs(pairs.iter().copied()));
        assert_eq!(home(&[("HOME", "/h")]).unwrap(), Path::new("/h/.dormouse"));
        assert_eq!(home(&[("HOME", "/h"), ("DORMOUSE_HOME", "/d")]).unwrap(), Path::new("/d"));
        assert!(matches!(home(&[("DORMOUSE_HOME", "d")]), Err(HomeError::RelativeHome(_))));
        assert!(matches!(home(&[]), Err(HomeError::NoHome)));
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test lays out a repository by hand")]
    fn worktrees_share_a_project() {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path().canonicalize().unwrap();
        let main = base.join("main");
        let git = main.join(".git/worktrees/feature");
        std::fs::create_dir_all(&git).unwrap();
        std::fs::write(git.join("commondir"), "../..\n").unwrap();
        let tree = base.join("feature/src");
        std::fs::create_dir_all(&tree).unwrap();
        std::fs::write(base.join("feature/.git"), format!("gitdir: {}\n", git.display())).unwrap();
        // A folder that only claims to be a worktree is a project of its own.
        assert_eq!(find_project(&tree).unwrap().root, base.join("feature"));
        let back = base.join("feature/.git").display().to_string();
        std::fs::write(git.join("gitdir"), format!("{back}\n")).unwrap();
        let project = find_project(&tree).unwrap();
        assert_eq!((project.root, project.folder, project.is_git), (main.clone(), tree, true));
        assert_eq!(project.checkout, base.join("feature"));
        assert_eq!(find_project(&main).unwrap().root, main);
    }
}
