//! The log of checkpoints: what each turn changed, line by line, as it happens.
//!
//! Invariant: the state before a change is in the log before the change is made; the state after it may be missing after a
//! crash, and then nothing is assumed about it.

use std::collections::HashMap;
use std::path::PathBuf;

use dormouse_base::{AppendFile, Dir, MessageId, RelPath, UnterminatedLine};
use serde::{Deserialize, Serialize};

use crate::error::CheckpointError;
use crate::folder::checkpoint_folder;
use crate::path_text;
use crate::state::FileState;

/// A line of the log.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum LogLine {
    /// A turn, or a rewind, that changes files begins.
    Turn {
        id: MessageId,
        /// The line of the transcript at which it begins.
        line: u64,
        /// The branch and commit that were checked out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<String>,
        /// Set if it is a rewind: the line of the transcript that it goes back to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rewound_to: Option<u64>,
    },
    /// What was at a path before the turn changed it.
    Before {
        turn: MessageId,
        #[serde(with = "path_text")]
        path: PathBuf,
        state: FileState,
    },
    /// What is at a path after a change.
    After {
        turn: MessageId,
        #[serde(with = "path_text")]
        path: PathBuf,
        state: FileState,
    },
    /// A command that may write begins; what it changed follows when it has ended.
    Command { turn: MessageId },
    /// The files were listed for a command: how many, and how long that took.
    Listed { turn: MessageId, files: u64, micros: u64 },
}

/// A change of one file by a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedChange {
    /// The file.
    pub path: PathBuf,
    /// What it was before the turn.
    pub before: FileState,
    /// What it was after the turn's last change of it; none after a crash.
    pub after: Option<FileState>,
}

/// What a turn, or a rewind, changed.
#[derive(Debug, Clone)]
pub struct LoggedTurn {
    /// The user's message, or the rewind.
    pub id: MessageId,
    /// The line of the transcript at which it begins.
    pub line: u64,
    /// The branch and commit that were checked out.
    pub head: Option<String>,
    /// Set if it is a rewind: the line of the transcript that it goes back to.
    pub rewound_to: Option<u64>,
    /// The changes, in the order of their first occurrence.
    pub changes: Vec<LoggedChange>,
    /// How long listing the files took for the turn's commands, in microseconds.
    pub listing_micros: u64,
    /// Whether a crash cut off a command, so that what it changed is not known.
    pub is_cut_off: bool,
}

#[expect(clippy::expect_used, reason = "a fixed plain name")]
fn log_file() -> RelPath {
    RelPath::new("log.ndjson").expect("a plain name")
}

/// Appends lines to the log.
#[derive(Debug)]
pub(crate) struct LogWriter(AppendFile);

impl LogWriter {
    pub(crate) fn open(dir: &Dir) -> Result<Self, CheckpointError> {
        let (file, _torn) = AppendFile::open(dir, &log_file(), UnterminatedLine::Discard)?;
        Ok(Self(file))
    }

    pub(crate) fn write(&mut self, line: &LogLine) -> Result<(), CheckpointError> {
        Ok(self.0.append(&serde_json::to_vec(line)?)?)
    }

    pub(crate) fn sync(&self) -> Result<(), CheckpointError> {
        Ok(self.0.sync()?)
    }
}

/// What the turns of a session changed, in order. Lines that cannot be read are left out.
pub fn load_log(session: &Dir) -> Result<Vec<LoggedTurn>, CheckpointError> {
    let read = session.open_folder(&checkpoint_folder()).and_then(|dir| dir.read(&log_file()));
    let bytes = match read {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut reader = LogReader::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        if let Ok(line) = serde_json::from_slice(line) {
            reader.add(line);
        }
    }
    Ok(reader.turns)
}

#[derive(Default)]
struct LogReader {
    turns: Vec<LoggedTurn>,
    /// The position of each change.
    changes: HashMap<(MessageId, PathBuf), usize>,
}

impl LogReader {
    fn add(&mut self, line: LogLine) {
        match line {
            LogLine::Turn { id, line, head, rewound_to } => {
                if self.turn(id).is_none() {
                    self.turns.push(LoggedTurn {
                        id,
                        line,
                        head,
                        rewound_to,
                        changes: Vec::new(),
                        listing_micros: 0,
                        is_cut_off: false,
                    });
                }
            }
            LogLine::Before { turn: id, path, state } => {
                let key = (id, path.clone());
                if self.changes.contains_key(&key) {
                    return;
                }
                let Some(turn) = self.turn(id) else { return };
                let position = turn.changes.len();
                turn.changes.push(LoggedChange { path, before: state, after: None });
                self.changes.insert(key, position);
            }
            LogLine::After { turn: id, path, state } => {
                let position = self.changes.get(&(id, path)).copied();
                let change = self.turn(id).zip(position);
                if let Some(change) = change.and_then(|(turn, at)| turn.changes.get_mut(at)) {
                    change.after = Some(state);
                }
            }
            LogLine::Command { turn: id } => {
                if let Some(turn) = self.turn(id) {
                    turn.is_cut_off = true;
                }
            }
            LogLine::Listed { turn: id, micros, .. } => {
                if let Some(turn) = self.turn(id) {
                    turn.listing_micros += micros;
                    turn.is_cut_off = false;
                }
            }
        }
    }

    fn turn(&mut self, id: MessageId) -> Option<&mut LoggedTurn> {
        self.turns.iter_mut().rev().find(|turn| turn.id == id)
    }
}
