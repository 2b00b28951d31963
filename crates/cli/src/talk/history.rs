//! What was typed in earlier sessions: `<home>/history`, a JSON string a line, private to the person.
//!
//! It is a help, not a record (the transcript is that): a line that can not be read is left out.

use std::path::PathBuf;

use dormouse_base::{Dir, FileError, Lock, LockError, RelPath, RelPathError};
use thiserror::Error;

/// The most entries kept.
pub(crate) const MOST_ENTRIES: usize = 1_000;
/// What is longer was pasted, and nobody types it again.
const LONGEST: usize = 8 * 1024;

/// Why an entry was not kept.
#[derive(Debug, Error)]
pub(crate) enum HistoryError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error(transparent)]
    Lock(#[from] LockError),
    #[error(transparent)]
    Path(#[from] RelPathError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// The file, wherever the home folder is.
#[derive(Debug)]
pub(crate) struct History {
    home: PathBuf,
}

impl History {
    pub(crate) fn of(home: PathBuf) -> Self {
        Self { home }
    }

    /// The entries, the oldest first.
    pub(crate) fn entries(&self) -> Result<Vec<String>, HistoryError> {
        match read(&Dir::create(&self.home)?) {
            Ok(lines) => {
                let entries = lines.iter().filter_map(|line| serde_json::from_str(line).ok());
                Ok(entries.collect())
            }
            Err(error) => Err(error),
        }
    }

    /// Keeps an entry, behind those of other sessions.
    pub(crate) fn add(&self, entry: &str) -> Result<(), HistoryError> {
        if entry.len() > LONGEST {
            return Ok(());
        }
        let dir = Dir::create(&self.home)?;
        let _lock = Lock::try_take(&dir, &RelPath::new("history.lock")?)?;
        let mut lines = read(&dir)?;
        lines.push(serde_json::to_string(entry)?);
        lines.dedup();
        let newest = lines.split_off(lines.len().saturating_sub(MOST_ENTRIES));
        Ok(dir.replace(&file()?, (newest.join("\n") + "\n").as_bytes())?)
    }
}

fn file() -> Result<RelPath, RelPathError> {
    RelPath::new("history")
}

fn read(dir: &Dir) -> Result<Vec<String>, HistoryError> {
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
        let history = History::of(folder.path().join("home"));
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
        let mode = folder.path().join("home/history").metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}
