//! Files that a command must not change: compared after it, and put back.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::error::CheckpointError;
use crate::restore::{remove, restore_content};
use crate::state::FileState;

/// The most files that are looked at, and the largest.
const MAX_FILES: usize = 2_000;
const MAX_BYTES: u64 = 1024 * 1024;

/// What protected files and folders contain at one moment.
#[derive(Debug)]
pub struct ProtectedFiles {
    roots: Vec<PathBuf>,
    files: BTreeMap<PathBuf, ProtectedFile>,
}

#[derive(Debug)]
struct ProtectedFile {
    state: FileState,
    content: Vec<u8>,
}

impl ProtectedFile {
    fn look(path: &Path) -> Result<Self, CheckpointError> {
        let state = FileState::look(path)?;
        let content = match &state {
            FileState::File { content: Some(_), .. } => {
                std::fs::read(path).map_err(|error| CheckpointError::at(path, error))?
            }
            _ => Vec::new(),
        };
        Ok(Self { state, content })
    }
}

fn is_folder(state: &FileState) -> bool {
    matches!(state, FileState::Folder { .. })
}

impl ProtectedFiles {
    /// Looks at these files and folders. Those that do not exist must not exist afterwards either.
    pub fn look(paths: &[PathBuf]) -> Result<Self, CheckpointError> {
        let look = |path: PathBuf| Ok((path.clone(), ProtectedFile::look(&path)?));
        let files = below(paths).into_iter().map(look).collect::<Result<_, CheckpointError>>()?;
        Ok(Self { files, roots: paths.to_vec() })
    }

    /// Puts back what has changed since. Returns the paths that had changed.
    pub fn put_back(self) -> Result<Vec<PathBuf>, CheckpointError> {
        let mut changed = BTreeSet::new();
        // What is new goes first, the innermost before its folder.
        for path in below(&self.roots).into_iter().rev() {
            let now = FileState::look(&path)?;
            if self
                .files
                .get(&path)
                .is_none_or(|before| is_folder(&before.state) != is_folder(&now))
            {
                remove(&path, &now)?;
                changed.insert(path);
            }
        }
        let temporary = format!(".dormouse-{}.tmp", std::process::id());
        for (path, before) in &self.files {
            // What could not be read cannot be put back either; nor could the command write it, being the same user.
            if before.state.is_kept() && FileState::look(path)? != before.state {
                restore_content(path, &before.state, &before.content, &temporary)?;
                changed.insert(path.clone());
            }
        }
        Ok(changed.into_iter().collect())
    }
}

/// These files and folders, and what is below them, sorted: a folder before what is in it. Files that are too large to put back
/// are left out.
fn below(paths: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut waiting = paths.to_vec();
    while let Some(path) = waiting.pop() {
        let Ok(metadata) = path.symlink_metadata() else { continue };
        if found.len() >= MAX_FILES || (metadata.is_file() && metadata.len() > MAX_BYTES) {
            continue;
        }
        if metadata.is_dir() {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            waiting.extend(entries.map(|entry| entry.path()));
        }
        found.insert(path);
    }
    found
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test changes files as a command would")]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_command_does_is_undone() {
        let keep = tempfile::tempdir().unwrap();
        let path = |name: &str| keep.path().join(name);
        std::fs::create_dir_all(path("hooks/deep")).unwrap();
        for name in ["config", "hooks/a", "hooks/deep/b"] {
            std::fs::write(path(name), name).unwrap();
        }
        let protected = [path("config"), path("hooks"), path("absent")];
        let attacks: [fn(&Path); 5] = [
            |folder| std::fs::write(folder.join("config"), "x").unwrap(),
            |folder| std::fs::remove_dir_all(folder.join("hooks")).unwrap(),
            |folder| std::fs::write(folder.join("hooks/deep/new"), "x").unwrap(),
            |folder| std::fs::write(folder.join("absent"), "x").unwrap(),
            |folder| {
                std::fs::remove_file(folder.join("config")).unwrap();
                std::fs::create_dir(folder.join("config")).unwrap();
            },
        ];
        for attack in attacks {
            let before = ProtectedFiles::look(&protected).unwrap();
            attack(keep.path());
            let changed = before.put_back().unwrap();
            assert!(!changed.is_empty());
            assert_eq!(std::fs::read_to_string(path("config")).unwrap(), "config");
            assert_eq!(std::fs::read_to_string(path("hooks/deep/b")).unwrap(), "hooks/deep/b");
            assert!(!path("absent").exists() && !path("hooks/deep/new").exists());
        }
        let unchanged = ProtectedFiles::look(&protected).unwrap().put_back();
        assert_eq!(unchanged.unwrap(), Vec::<PathBuf>::new());
    }
}
