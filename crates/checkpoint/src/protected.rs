//! Files that a command must not change: compared after it, and put back.

use std::path::{Path, PathBuf};

use dormouse_base::MessageId;

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
    files: Vec<ProtectedFile>,
}

#[derive(Debug)]
struct ProtectedFile {
    path: PathBuf,
    state: FileState,
    content: Vec<u8>,
}

impl ProtectedFiles {
    /// Looks at these files and folders. Those that do not exist must not exist afterwards either.
    pub fn look(paths: &[PathBuf]) -> Self {
        let files = below(paths).into_iter().filter_map(|path| {
            let state = FileState::look(&path).ok()?;
            let is_small = matches!(&state, FileState::File { size, .. } if *size <= MAX_BYTES);
            let content = if is_small { std::fs::read(&path).ok()? } else { Vec::new() };
            Some(ProtectedFile { path, state, content })
        });
        Self { files: files.collect(), roots: paths.to_vec() }
    }

    /// Puts back what has changed since, under a temporary name with this id. Returns the paths that had changed.
    pub fn put_back(self, id: MessageId) -> Result<Vec<PathBuf>, CheckpointError> {
        let mut changed = Vec::new();
        // What is new goes first, the innermost before its folder.
        let mut now = below(&self.roots);
        now.sort_by(|one, other| other.cmp(one));
        for path in now {
            let before = self.files.iter().find(|file| file.path == path);
            let state = FileState::look(&path)?;
            let is_folder = |state: &FileState| matches!(state, FileState::Folder { .. });
            if before.is_none_or(|file| is_folder(&file.state) != is_folder(&state)) {
                remove(&path, &state)?;
                changed.push(path);
            }
        }
        for ProtectedFile { path, state, content } in &self.files {
            let is_too_large = matches!(state, FileState::File { size, .. } if *size > MAX_BYTES);
            if FileState::look(path)? != *state && !is_too_large {
                restore_content(path, state, content, id)?;
                changed.push(path.clone());
            }
        }
        changed.sort();
        changed.dedup();
        Ok(changed)
    }
}

/// These files and folders, and what is below them; a folder before what is in it.
fn below(paths: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting: Vec<PathBuf> = paths.iter().rev().cloned().collect();
    while let Some(path) = waiting.pop() {
        if path.symlink_metadata().is_err() || found.len() >= MAX_FILES {
            continue;
        }
        if is_real_folder(&path) {
            let entries = std::fs::read_dir(&path).into_iter().flatten().flatten();
            waiting.extend(entries.map(|entry| entry.path()));
        }
        found.push(path);
    }
    found
}

fn is_real_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_dir())
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test changes files as a command would")]
mod tests {
    use dormouse_base::{SeededIds, SystemClock};

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
        let ids = SeededIds::new(std::sync::Arc::new(SystemClock::default()), 1);
        for attack in attacks {
            let before = ProtectedFiles::look(&protected);
            attack(keep.path());
            let changed = before.put_back(MessageId::generate(&ids)).unwrap();
            assert!(!changed.is_empty());
            assert_eq!(std::fs::read_to_string(path("config")).unwrap(), "config");
            assert_eq!(std::fs::read_to_string(path("hooks/deep/b")).unwrap(), "hooks/deep/b");
            assert!(!path("absent").exists() && !path("hooks/deep/new").exists());
        }
        let unchanged = ProtectedFiles::look(&protected).put_back(MessageId::generate(&ids));
        assert_eq!(unchanged.unwrap(), Vec::<PathBuf>::new());
    }
}
