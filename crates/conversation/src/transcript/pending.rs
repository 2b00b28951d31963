//! Transcripts that wait to be looked through for memories: of other agents, whose hooks leave them here, and
//! of runs that do not wait for it themselves (B-5).
//!
//! Invariant: whoever adds a line or takes lines out holds the lock, so that none is lost.

use std::path::{Path, PathBuf};
use std::time::Duration;

use dormouse_base::{
    AppendError, Dir, FileError, Lock, LockError, RelPath, RelPathError, SharedAppendFile,
};
use serde::{Deserialize, Serialize};
use thiserror::Error;

const FOLDER: &str = "hooks";
const QUEUE: &str = "transcripts.jsonl";
const LOCK: &str = "transcripts.lock";
/// Others hold the lock for moments.
const WAIT: Duration = Duration::from_secs(2);

/// Why the list cannot be used.
#[derive(Debug, Error)]
pub enum PendingTranscriptsError {
    /// The folder cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line cannot be added.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// Another process has it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A name that is none.
    #[error(transparent)]
    Name(#[from] RelPathError),
}

/// A transcript that waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingTranscript {
    /// Since when.
    pub time: String,
    /// What the agent calls the event.
    #[serde(default)]
    pub event: Option<String>,
    /// The session.
    #[serde(default)]
    pub session_id: Option<String>,
    /// Where it is written down.
    pub transcript_path: PathBuf,
    /// The folder that it was in.
    #[serde(default)]
    pub cwd: Option<PathBuf>,
}

/// The list of them.
#[derive(Debug, Clone)]
pub struct PendingTranscripts {
    folder: Dir,
}

impl PendingTranscripts {
    /// The list in the program's own folder, which is made if need be.
    pub fn open(home: &Path) -> Result<Self, PendingTranscriptsError> {
        Ok(Self { folder: Dir::create(home.join(FOLDER))? })
    }

    /// The list, if there is one: looking must not make anything.
    pub fn existing(home: &Path) -> Option<Self> {
        let folder = Dir::open(home.join(FOLDER)).ok()?;
        folder.entry(&RelPath::new(QUEUE).ok()?).ok()?;
        Some(Self { folder })
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Dir {
        &self.folder
    }

    /// Adds one. Whoever takes it out sees to doubles.
    pub fn add(&self, waiting: &PendingTranscript) -> Result<(), PendingTranscriptsError> {
        let _lock = self.lock()?;
        let mut file = SharedAppendFile::open(&self.folder, &RelPath::new(QUEUE)?)?;
        // Strings alone: there is nothing that could fail.
        Ok(file.append(&serde_json::to_vec(waiting).unwrap_or_default())?)
    }

    /// Those that wait, each once, the oldest first. A line that cannot be read is passed over.
    pub fn list(&self) -> Result<Vec<PendingTranscript>, PendingTranscriptsError> {
        let mut list: Vec<PendingTranscript> = Vec::new();
        for waiting in self.text()?.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            let waiting: PendingTranscript = waiting;
            list.retain(|known| known.transcript_path != waiting.transcript_path);
            list.push(waiting);
        }
        Ok(list)
    }

    /// Takes out what was looked through, as it was listed: one that was added again meanwhile stays.
    pub fn remove(&self, looked_at: &PendingTranscript) -> Result<(), PendingTranscriptsError> {
        let _lock = self.lock()?;
        let stays = |line: &&str| match serde_json::from_str::<PendingTranscript>(line) {
            Ok(waiting) => {
                waiting.transcript_path != looked_at.transcript_path
                    || waiting.time > looked_at.time
            }
            // What cannot be read is nobody's, and would stay forever.
            Err(_) => false,
        };
        let text: String =
            self.text()?.lines().filter(stays).flat_map(|line| [line, "\n"]).collect();
        Ok(self.folder.replace(&RelPath::new(QUEUE)?, text.as_bytes())?)
    }

    fn lock(&self) -> Result<Lock, PendingTranscriptsError> {
        Ok(Lock::acquire_within(&self.folder, &RelPath::new(LOCK)?, WAIT)?)
    }

    fn text(&self) -> Result<String, PendingTranscriptsError> {
        match self.folder.read(&RelPath::new(QUEUE)?) {
            Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) if error.is_not_found() => Ok(String::new()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_waits_once_and_stays_until_it_was_looked_through() {
        let home = tempfile::tempdir().unwrap();
        assert!(PendingTranscripts::existing(home.path()).is_none());
        let list = PendingTranscripts::open(home.path()).unwrap();
        let waiting = |path: &str, time: &str| PendingTranscript {
            time: time.to_owned(),
            event: None,
            session_id: None,
            transcript_path: path.into(),
            cwd: Some("/p".into()),
        };
        for (path, time) in [("/a", "1"), ("/b", "2"), ("/a", "3")] {
            list.add(&waiting(path, time)).unwrap();
        }
        let torn = format!("half a li\n{}", list.text().unwrap());
        list.folder.replace(&RelPath::new(QUEUE).unwrap(), torn.as_bytes()).unwrap();
        let all = list.list().unwrap();
        assert_eq!(all, [waiting("/b", "2"), waiting("/a", "3")]);
        list.add(&waiting("/a", "4")).unwrap();
        list.remove(&all[0]).unwrap();
        list.remove(&all[1]).unwrap();
        assert_eq!(list.list().unwrap(), [waiting("/a", "4")], "it was added again meanwhile");
    }
}
