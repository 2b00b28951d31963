//! Prompts of earlier sessions: `<home>/history`, one JSON string per line, readable by the user only.
//!
//! A convenience, not a record (that is the transcript): unreadable lines are skipped. Adding an entry appends a line;
//! the file is shortened when a session starts.

use std::path::PathBuf;

use dormouse_base::{
    AppendError, Dir, FileError, Lock, LockError, RelPath, RelPathError, SharedAppendFile,
};
use thiserror::Error;

/// The most entries kept.
pub(crate) const MOST_ENTRIES: usize = 1_000;
/// Longer prompts were pasted and are not kept.
const LONGEST: usize = 8 * 1024;

/// An error of the history file.
#[derive(Debug, Error)]
pub(crate) enum PromptHistoryError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Append(#[from] AppendError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Path(#[from] RelPathError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// The history file.
#[derive(Debug)]
pub(crate) struct PromptHistory {
    home: PathBuf,
}

impl PromptHistory {
    pub(crate) fn new(home: PathBuf) -> Self {
        Self { home }
    }

    /// The entries, oldest first.
    pub(crate) fn entries(&self) -> Result<Vec<String>, PromptHistoryError> {
        let dir = Dir::create(&self.home)?;
        let mut lines = read(&dir)?;
        if lines.len() > 2 * MOST_ENTRIES {
            // Other sessions may have added entries since.
            let _lock = lock(&dir)?;
            lines = newest(read(&dir)?);
            dir.replace(&file()?, (lines.join("\n") + "\n").as_bytes())?;
        }
        let lines = newest(lines);
        Ok(lines.iter().filter_map(|line| serde_json::from_str(line).ok()).collect())
    }

    /// Adds an entry.
    pub(crate) fn add(&self, entry: &str) -> Result<(), PromptHistoryError> {
        if entry.len() > LONGEST {
            return Ok(());
        }
        let dir = Dir::create(&self.home)?;
        let _lock = lock(&dir)?;
        let line = serde_json::to_string(entry)?;
        Ok(SharedAppendFile::open(&dir, &file()?)?.append(line.as_bytes())?)
    }
}

fn lock(dir: &Dir) -> Result<Lock, PromptHistoryError> {
    Ok(Lock::try_acquire(dir, &RelPath::new("history.lock")?)?)
}

/// The newest entries, without consecutive duplicates.
fn newest(mut lines: Vec<String>) -> Vec<String> {
    lines.dedup();
    lines.split_off(lines.len().saturating_sub(MOST_ENTRIES))
}

fn file() -> Result<RelPath, RelPathError> {
    RelPath::new("history")
}

fn read(dir: &Dir) -> Result<Vec<String>, PromptHistoryError> {
    match dir.read(&file()?) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect()),
        Err(error) if error.is_not_found() => Ok(Vec::new()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn entries_are_kept_bounded_and_private() {
        let folder = tempfile::tempdir().unwrap();
        let history = PromptHistory::new(folder.path().join("home"));
        assert_eq!(history.entries().unwrap(), Vec::<String>::new());
        let many: Vec<String> = (0..MOST_ENTRIES).map(|n| format!("\"entry {n}\"")).collect();
        let dir = Dir::open(folder.path().join("home")).unwrap();
        dir.replace(&file().unwrap(), many.join("\n").as_bytes()).unwrap();
        history.add("two\nlines").unwrap();
        history.add("two\nlines").unwrap();
        history.add(&"x".repeat(LONGEST + 1)).unwrap();
        let entries = history.entries().unwrap();
        assert_eq!(entries.len(), MOST_ENTRIES);
        assert_eq!((entries[0].as_str(), entries[999].as_str()), ("entry 1", "two\nlines"));
        // It grows by lines and is shortened when a session starts.
        (0..MOST_ENTRIES).for_each(|n| history.add(&format!("more {n}")).unwrap());
        assert_eq!(read(&dir).unwrap().len(), 2 * MOST_ENTRIES + 2);
        assert_eq!(history.entries().unwrap()[0], "more 0");
        assert_eq!(read(&dir).unwrap().len(), MOST_ENTRIES);
        let mode = folder.path().join("home/history").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
