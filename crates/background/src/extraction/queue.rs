//! Transcripts that wait to be looked through (B-5, R-17): those of other agents, and of runs that did not wait for it
//! themselves. They are given to a fresh conversation as text; how far each was looked at is written down apart.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use dormouse_base::{Clock, Dir, FileError, MessageId, RelPath};
use dormouse_conversation::Message;
use dormouse_conversation::transcript::{
    PendingTranscript, PendingTranscripts, ReplayEvent, replay_transcript,
};
use dormouse_engine::{BackgroundTask, TurnSnapshot};
use std::sync::atomic::{AtomicBool, Ordering};

use super::cursor::Cursor;

/// A longer transcript is not looked through: reading it would take all the memory there is.
const LONGEST: u64 = 200 * 1024 * 1024;
/// So many at a time: the others wait for the next occasion.
const AT_ONCE: usize = 5;

/// The transcripts of a project that wait.
#[derive(Clone)]
pub struct TranscriptQueue {
    home: PathBuf,
    /// The project's folder.
    root: PathBuf,
}

impl TranscriptQueue {
    /// Those of the project with this root, in the program's own folder.
    pub fn new(home: PathBuf, root: PathBuf) -> Self {
        Self { home, root }
    }

    /// Whether anything waits.
    pub fn is_waiting(&self) -> bool {
        !self.list().is_empty()
    }

    /// What waits, the oldest first. A list that can not be read is said by whoever adds to it.
    pub(super) fn list(&self) -> Vec<PendingTranscript> {
        let all = PendingTranscripts::existing(&self.home).and_then(|list| list.list().ok());
        let here = |waiting: &PendingTranscript| {
            waiting.cwd.as_ref().is_some_and(|folder| folder.starts_with(&self.root))
        };
        all.unwrap_or_default().into_iter().filter(here).take(AT_ONCE).collect()
    }

    /// The one that waits, ready to be looked at; none if there is nothing new in it.
    pub(super) fn open(
        &self,
        waiting: &PendingTranscript,
    ) -> Result<Option<QueuedTranscript>, String> {
        let path = &waiting.transcript_path;
        let described = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let size = path.metadata().map_err(|error| described(&error))?.len();
        if size > LONGEST {
            return Err(described(&"it is too long to be looked through"));
        }
        let bytes = std::fs::read(path).map_err(|error| described(&error))?;
        let messages: Vec<Arc<Message>> = replay_transcript(&bytes)
            .events
            .into_iter()
            .filter_map(|event| match event {
                ReplayEvent::Message(said) if !said.withdrawn => Some(said.message),
                ReplayEvent::Message(_)
                | ReplayEvent::Compacted(_)
                | ReplayEvent::PrefixBuilt(_)
                | ReplayEvent::ThinkingDropped => None,
            })
            .collect();
        let place = self.place(path).map_err(|error| described(&error))?;
        let cursor = place.read();
        let session = waiting.session_id.clone().unwrap_or_else(|| path.display().to_string());
        let new = super::window::counted(super::window::since(&messages, cursor.seen)) > 0;
        Ok(new.then_some(QueuedTranscript { messages, seen: cursor.seen, session, place }))
    }

    pub(super) fn done(&self, waiting: &PendingTranscript) -> Result<(), String> {
        let list = PendingTranscripts::existing(&self.home);
        list.map_or(Ok(()), |list| list.remove(waiting).map_err(|error| error.to_string()))
    }

    /// Our own sessions have a folder; of others' files nothing is touched.
    fn place(&self, transcript: &Path) -> Result<CursorFile, FileError> {
        let own = transcript.with_extension("");
        if own.starts_with(&self.home)
            && let Ok(folder) = Dir::open(&own)
        {
            return Ok(CursorFile::Session(folder));
        }
        let hash = blake3::hash(transcript.as_os_str().as_encoded_bytes()).to_hex();
        let folder = Dir::create(self.home.join("hooks"))?;
        let name = hash.chars().take(32).collect::<String>() + ".cursor";
        Ok(CursorFile::Apart(folder, name))
    }
}

/// A transcript, ready to be looked at.
pub(super) struct QueuedTranscript {
    pub(super) messages: Vec<Arc<Message>>,
    pub(super) seen: Option<MessageId>,
    pub(super) session: String,
    pub(super) place: CursorFile,
}

/// Where it is written down how far a transcript was looked at.
pub(super) enum CursorFile {
    Session(Dir),
    Apart(Dir, String),
}

impl CursorFile {
    fn read(&self) -> Cursor {
        match self {
            Self::Session(folder) => Cursor::read(folder),
            Self::Apart(folder, name) => {
                let bytes = RelPath::new(name).ok().and_then(|name| folder.read(&name).ok());
                serde_json::from_slice(&bytes.unwrap_or_default()).unwrap_or_default()
            }
        }
    }

    pub(super) fn write(&self, cursor: Cursor) -> Result<(), String> {
        match self {
            Self::Session(folder) => cursor.write(folder).map_err(|error| error.to_string()),
            Self::Apart(folder, name) => {
                let name = RelPath::new(name).map_err(|error| error.to_string())?;
                let text = serde_json::to_vec(&cursor).unwrap_or_default();
                folder.replace(&name, &text).map_err(|error| error.to_string())
            }
        }
    }
}

/// For runs that do not wait: puts the session into the list, once.
pub struct QueueTranscript {
    home: PathBuf,
    folder: PathBuf,
    clock: Arc<dyn Clock>,
    added: AtomicBool,
}

impl QueueTranscript {
    /// Into the list in the program's own folder; `folder` is where the run works.
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
        // It never fails a turn; the session is still looked at when it is next talked in.
        if let (Err(error), Some(memory)) = (added, snapshot.memory()) {
            memory.say(format!("nothing will be remembered of this run: {error}"));
        }
    }
}
