//! Files and folders that configure programs: accepting edits never covers them.

use std::path::{Component, Path, PathBuf};

use thiserror::Error;

use crate::write_target::{WriteTargetError, write_target};

/// Folders that configure programs: what is written there can run later.
const PROTECTED_FOLDERS: &[&str] = &[
    ".git",
    ".dormouse",
    ".claude",
    ".ssh",
    ".vscode",
    ".idea",
    ".husky",
    ".config",
    ".local",
    ".cargo",
];
/// Files that a shell or git reads on its own.
const PROTECTED_FILES: &[&str] = &[
    ".bashrc",
    ".bash_aliases",
    ".xprofile",
    ".xinitrc",
    ".npmrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    ".envrc",
    ".gitconfig",
    ".gitmodules",
    "config.fish",
];

/// Why accepting edits does not cover a file.
#[derive(Debug, Error)]
pub(crate) enum EditNotAccepted {
    #[error(transparent)]
    Target(#[from] WriteTargetError),
    #[error("the working directory cannot be resolved: {0}")]
    WorkingDirectory(std::io::Error),
    #[error("{} is outside the working directory", .0.display())]
    Outside(PathBuf),
    #[error("{} is in `{folder}`; files there configure programs", path.display())]
    ProtectedFolder { path: PathBuf, folder: String },
    #[error("{} is a configuration file that programs load at startup", .0.display())]
    ProtectedFile(PathBuf),
}

/// Checks that an edit of this file may be accepted without confirmation.
pub(crate) fn check_accepted_edit(
    path: &Path,
    folder: &Path,
    additional: &[PathBuf],
) -> Result<(), EditNotAccepted> {
    let real = write_target(folder, path)?;
    let root = folder.canonicalize().map_err(EditNotAccepted::WorkingDirectory)?;
    let mut roots =
        std::iter::once(root).chain(additional.iter().filter_map(|f| f.canonicalize().ok()));
    let Some(below) = roots.find_map(|root| Some(real.strip_prefix(root).ok()?.to_owned())) else {
        return Err(EditNotAccepted::Outside(path.to_owned()));
    };
    let names = lowercase_names(&below);
    if let Some(folder) = protected_folder(&names) {
        return Err(EditNotAccepted::ProtectedFolder { path: path.to_owned(), folder });
    }
    match protected_file(&names) {
        Some(_) => Err(EditNotAccepted::ProtectedFile(path.to_owned())),
        None => Ok(()),
    }
}

/// The part of a path that makes it a protected one.
pub(crate) fn protected_name(real: &Path, root: &Path) -> Option<String> {
    let names = lowercase_names(real.strip_prefix(root).unwrap_or(real));
    protected_folder(&names).or_else(|| protected_file(&names))
}

/// Lowercase, since some file systems do not tell `.GIT` from `.git`.
fn lowercase_names(path: &Path) -> Vec<String> {
    path.components().filter_map(|part| part.as_os_str().to_str()).map(str::to_lowercase).collect()
}

fn protected_folder(names: &[String]) -> Option<String> {
    names.iter().find(|name| PROTECTED_FOLDERS.contains(&name.as_str())).cloned()
}

fn protected_file(names: &[String]) -> Option<String> {
    names.last().filter(|name| PROTECTED_FILES.contains(&name.as_str())).cloned()
}

/// Removes `.` and `..` from a path by its text alone.
pub(crate) fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => plain.push(part),
        }
    }
    plain
}
