//! The state of hooks in the program's folder: queued transcripts, the memories that each session has seen, and an
//! error log.

use std::collections::BTreeSet;
use std::path::Path;

use dormouse_base::{AppendError, Dir, FileError, RelPath, RelPathError, SharedAppendFile};
use dormouse_conversation::transcript::{
    PendingTranscript, PendingTranscripts, PendingTranscriptsError,
};
use jiff::{SignedDuration, Timestamp};
use thiserror::Error;

use super::HookInput;

const LOG: &str = "hook.log";
/// The suffix of the files with the memories that a session has seen, and how long they are kept.
const SEEN: &str = ".seen";
const KEPT: SignedDuration = SignedDuration::from_hours(30 * 24);
/// The log does not grow beyond this.
const LONGEST_LOG: u64 = 1024 * 1024;

/// Why the state could not be written.
#[derive(Debug, Error)]
pub enum HookStateError {
    /// The folder cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A line cannot be appended.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// An invalid file name.
    #[error(transparent)]
    Name(#[from] RelPathError),
    /// The queue of transcripts cannot be written.
    #[error(transparent)]
    Waiting(#[from] PendingTranscriptsError),
}

/// The folder with the state.
pub struct HookState {
    folder: Dir,
    waiting: PendingTranscripts,
}

impl HookState {
    /// Opens the state in the program's folder, creating it if needed.
    pub fn open(home: &Path) -> Result<Self, HookStateError> {
        let waiting = PendingTranscripts::open(home)?;
        Ok(Self { folder: waiting.folder().clone(), waiting })
    }

    /// Queues a transcript for extraction. Duplicates are removed when it is taken out.
    pub fn queue(&self, asked: &HookInput, now: Timestamp) -> Result<(), HookStateError> {
        let Some(transcript) = &asked.transcript_path else { return Ok(()) };
        Ok(self.waiting.add(&PendingTranscript {
            time: now.to_string(),
            event: asked.hook_event_name.clone(),
            session_id: asked.session_id.clone(),
            transcript_path: transcript.clone(),
            cwd: asked.cwd.clone(),
        })?)
    }

    /// The memories that a session has seen, and their size in bytes.
    pub fn seen(&self, session: &str) -> (BTreeSet<String>, u64) {
        // With an unreadable file, a memory is shown twice.
        let bytes = seen_file(session).and_then(|file| self.folder.read(&file).ok());
        let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
        let lines = text.lines().filter_map(|line| line.split_once(' '));
        let spent = lines.clone().filter_map(|(size, _)| size.parse::<u64>().ok()).sum();
        (lines.map(|(_, path)| path.to_owned()).collect(), spent)
    }

    /// Records memories that a session has seen.
    pub fn note_seen(
        &self,
        session: &str,
        files: &[String],
        bytes: usize,
    ) -> Result<(), HookStateError> {
        let Some(name) = seen_file(session) else { return Ok(()) };
        let each = bytes / files.len().max(1);
        let mut file = SharedAppendFile::open(&self.folder, &name)?;
        for path in files.iter().filter(|path| !path.contains('\n')) {
            file.append(format!("{each} {path}").as_bytes())?;
        }
        Ok(())
    }

    /// Forgets the memories that a session has seen.
    pub fn forget(&self, session: &str) -> Result<(), HookStateError> {
        let Some(name) = seen_file(session) else { return Ok(()) };
        match self.folder.remove_file(&name) {
            Err(error) if !error.is_not_found() => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Removes the files of old sessions.
    pub fn sweep(&self, now: Timestamp) -> Result<(), HookStateError> {
        for entry in self.folder.entries()? {
            let modified = Timestamp::try_from(entry.modified).unwrap_or(now);
            if entry.name.ends_with(SEEN) && now.duration_since(modified) > KEPT {
                self.folder.remove_file(&RelPath::new(&entry.name)?)?;
            }
        }
        Ok(())
    }

    /// Logs an error: hooks do not fail, so their user sees nothing.
    pub fn log(&self, what: &str, now: Timestamp) -> Result<(), HookStateError> {
        let long = self.folder.entry(&RelPath::new(LOG)?).is_ok_and(|log| log.size > LONGEST_LOG);
        if long {
            return Ok(());
        }
        self.append(LOG, &format!("{now} {}", dormouse_base::printable(what).replace('\n', " ")))
    }

    fn append(&self, name: &str, line: &str) -> Result<(), HookStateError> {
        let mut file = SharedAppendFile::open(&self.folder, &RelPath::new(name)?)?;
        Ok(file.append(line.as_bytes())?)
    }
}

/// The file for a session; none if its id is not one that can name a file.
fn seen_file(session: &str) -> Option<RelPath> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    let fits = (1..=64).contains(&session.len()) && session.chars().all(plain);
    fits.then(|| RelPath::new(format!("{session}{SEEN}")).ok()).flatten()
}
