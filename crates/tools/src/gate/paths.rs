//! Where a path really leads, and which files an accepted edit never covers.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::write_target;

/// Folders that steer programs: what is written there can run later.
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
/// Files that a shell or git reads by itself.
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

/// Whether an edit that is accepted without a question covers this file; else, why not.
pub(super) fn accepts_edit(path: &Path, folder: &Path, further: &[PathBuf]) -> Result<(), String> {
    let shown = path.display();
    let real = write_target(folder, path).map_err(|error| error.to_string())?;
    let root = folder
        .canonicalize()
        .map_err(|error| format!("the working directory can not be resolved: {error}"))?;
    let mut roots =
        std::iter::once(root).chain(further.iter().filter_map(|f| f.canonicalize().ok()));
    let Some(below) = roots.find_map(|root| Some(real.strip_prefix(root).ok()?.to_owned())) else {
        return Err(format!("{shown} leads out of the working directory"));
    };
    // Some file systems do not tell `.GIT` from `.git`.
    let names =
        || below.components().filter_map(|part| part.as_os_str().to_str()).map(str::to_lowercase);
    if let Some(name) = names().find(|name| PROTECTED_FOLDERS.contains(&name.as_str())) {
        return Err(format!("{shown} is inside `{name}`, which steers programs"));
    }
    if names().next_back().is_some_and(|name| PROTECTED_FILES.contains(&name.as_str())) {
        return Err(format!("{shown} is read by a shell or by git on its own"));
    }
    Ok(())
}

/// The part of a path that makes it one that steers programs, if there is one.
pub(super) fn protected_name(real: &Path, root: &Path) -> Option<String> {
    let below = real.strip_prefix(root).unwrap_or(real);
    let names: Vec<String> =
        below.components().filter_map(|p| p.as_os_str().to_str()).map(str::to_lowercase).collect();
    let folder = names.iter().find(|name| PROTECTED_FOLDERS.contains(&name.as_str()));
    let file = names.last().filter(|name| PROTECTED_FILES.contains(&name.as_str()));
    folder.or(file).cloned()
}

/// The file or folder that a call names, absolute, `.` and `..` taken out of the text.
pub(super) fn named(input: &RawValue, folder: &Path) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct Named {
        file_path: Option<PathBuf>,
        path: Option<PathBuf>,
    }
    let named: Named = serde_json::from_str(input.get()).ok()?;
    named.file_path.or(named.path).map(|path| lexical(&folder.join(path)))
}

/// A path without `.` and `..`, by its text alone.
pub(super) fn lexical(path: &Path) -> PathBuf {
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
