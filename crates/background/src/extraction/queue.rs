//! Transcripts that wait for extraction (B-5, R-17): those of other agents, and of headless runs. A fork gets their
//! messages as text; the position in each is kept in a file of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use dormouse_base::{Clock, Dir, FileAction, FileError, MessageId, RelPath};
use dormouse_conversation::Message;
use dormouse_conversation::transcript::{
    PendingTranscript, PendingTranscripts, PendingTranscriptsError, ReplayEvent, ReplayedMessage,
    replay_transcript,
};
use dormouse_engine::{BackgroundTask, TurnSnapshot};
use thiserror::Error;

use super::cursor::Cursor;
use super::window;

/// Longer transcripts are not read: they would take too much memory.
const LONGEST_TRANSCRIPT: u64 = 200 * 1024 * 1024;
/// Transcripts that are looked at in one job.
const AT_ONCE: usize = 5;

/// Why a queued transcript cannot be looked at.
#[derive(Debug, Error)]
pub(super) enum QueueError {
    #[error(transparent)]
    File(#[from] FileError),
    #[error("it is too long to be read")]
    TooLong,
}

/// The queued transcripts of a project.
#[derive(Clone)]
pub struct TranscriptQueue {
    home: PathBuf,
    project: PathBuf,
}

impl TranscriptQueue {
    /// The queue in the program's folder `home`, for the project with this root.
    pub fn new(home: PathBuf, project: PathBuf) -> Self {
        Self { home, project }
    }

    /// Whether a transcript is queued.
    pub fn is_waiting(&self) -> bool {
        !self.list().is_empty()
    }

    /// The next transcripts, oldest first. A queue that cannot be read counts as empty.
    pub(super) fn list(&self) -> Vec<PendingTranscript> {
        let all = PendingTranscripts::existing(&self.home).and_then(|list| list.list().ok());
        let is_of_project = |waiting: &PendingTranscript| {
            waiting.cwd.as_ref().is_some_and(|folder| folder.starts_with(&self.project))
        };
        all.unwrap_or_default().into_iter().filter(is_of_project).take(AT_ONCE).collect()
    }

    /// Reads a transcript; none if there is nothing new in it.
    pub(super) fn open(
        &self,
        waiting: &PendingTranscript,
    ) -> Result<Option<QueuedTranscript>, QueueError> {
        let path = &waiting.transcript_path;
        let unreadable = |error| FileError::new(FileAction::Read, path, error);
        let size = path.metadata().map_err(unreadable)?.len();
        if size > LONGEST_TRANSCRIPT {
            return Err(QueueError::TooLong);
        }
        let bytes = std::fs::read(path).map_err(unreadable)?;
        let replay = replay_transcript(&bytes);
        // The user went back from these: what was said there does not hold.
        let abandoned = replay.abandoned;
        let counts =
            |said: &ReplayedMessage| !said.withdrawn && !abandoned.contains(&said.message.id);
        let messages: Vec<Arc<Message>> = replay
            .events
            .into_iter()
            .filter_map(|event| match event {
                ReplayEvent::Message(said) if counts(&said) => Some(said.message),
                ReplayEvent::Message(_)
                | ReplayEvent::Compacted(_)
                | ReplayEvent::LeftOut(_)
                | ReplayEvent::ResultsReplaced { .. }
                | ReplayEvent::PrefixBuilt(_)
                | ReplayEvent::ThinkingDropped => None,
            })
            .collect();
        let cursor_file = self.cursor_file(path)?;
        let seen = cursor_file.read().seen;
        let session = waiting.session_id.clone().unwrap_or_else(|| path.display().to_string());
        if window::count_written(window::messages_since(&messages, seen)) == 0 {
            return Ok(None);
        }
        Ok(Some(QueuedTranscript { messages, seen, session, cursor_file }))
    }

    pub(super) fn remove(
        &self,
        waiting: &PendingTranscript,
    ) -> Result<(), PendingTranscriptsError> {
        let list = PendingTranscripts::existing(&self.home);
        list.map_or(Ok(()), |list| list.remove(waiting))
    }

    /// Our own sessions have a folder. For other agents' transcripts the file is in the program's folder.
    fn cursor_file(&self, transcript: &Path) -> Result<CursorFile, FileError> {
        let own = transcript.with_extension("");
        if own.starts_with(&self.home)
            && let Ok(folder) = Dir::open(&own)
        {
            return Ok(CursorFile::Session(folder));
        }
        let hash = blake3::hash(transcript.as_os_str().as_encoded_bytes()).to_hex();
        let folder = Dir::create(self.home.join("hooks"))?;
        let name = hash.chars().take(32).collect::<String>() + ".cursor";
        let file = RelPath::new(&name).map_err(|error| {
            FileError::new(FileAction::Read, &name, std::io::Error::other(error))
        })?;
        Ok(CursorFile::Other(folder, file))
    }
}

/// A queued transcript, read.
pub(super) struct QueuedTranscript {
    pub(super) messages: Vec<Arc<Message>>,
    pub(super) seen: Option<MessageId>,
    pub(super) session: String,
    pub(super) cursor_file: CursorFile,
}

/// Where the position in a transcript is kept.
pub(super) enum CursorFile {
    Session(Dir),
    Other(Dir, RelPath),
}

impl CursorFile {
    fn read(&self) -> Cursor {
        match self {
            Self::Session(folder) => Cursor::read(folder),
            Self::Other(folder, file) => Cursor::read_file(folder, file),
        }
    }

    pub(super) fn write(&self, cursor: Cursor) -> Result<(), FileError> {
        match self {
            Self::Session(folder) => cursor.write(folder),
            Self::Other(folder, file) => cursor.write_file(folder, file),
        }
    }
}

/// The background task of headless runs, which do not wait for extraction: queues the session, once.
pub struct QueueTranscript {
    home: PathBuf,
    folder: PathBuf,
    clock: Arc<dyn Clock>,
    added: AtomicBool,
}

impl QueueTranscript {
    /// Uses the queue in the program's folder `home`; `folder` is the working directory.
    pub fn new(home: PathBuf, folder: PathBuf, clock: Arc<dyn Clock>) -> Self {
        Self { home, folder, clock, added: AtomicBool::new(false) }
    }
}

impl BackgroundTask for QueueTranscript {
    fn on_idle(&self, snapshot: &TurnSnapshot<'_>) {
        if !snapshot.is_turn_end() || self.added.swap(true, Ordering::Relaxed) {
            return;
        }
        let waiting = PendingTranscript {
            time: self.clock.now().to_string(),
            event: None,
            session_id: Some(snapshot.session().to_string()),
            transcript_path: snapshot.transcript_path().to_owned(),
            cwd: Some(self.folder.clone()),
        };
        let added = PendingTranscripts::open(&self.home).and_then(|list| list.add(&waiting));
        if let (Err(error), Some(memory)) = (added, snapshot.memory()) {
            memory.notices().add(format!("No memories will be extracted from this run: {error}"));
        }
    }
}
