//! Carries a rewind out: a journal first, then the files, then the log.
//!
//! Invariant: until the journal is on the disk nothing has changed; from then on the rewind is finished, by this process or
//! by the next one that opens the session.

use std::path::PathBuf;

use dormouse_base::{Dir, MessageId, RelPath, fault};
use serde::{Deserialize, Serialize};

use crate::content_store::ContentStore;
use crate::error::CheckpointError;
use crate::folder::checkpoint_folder;
use crate::log::{LogLine, LogWriter, load_log};
use crate::path_text;
use crate::plan::{RewindObstacle, RewindPlan, RewindTarget};
use crate::restore::{remove, restore};
use crate::state::FileState;

/// What a rewind takes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RewindScope {
    /// Files.
    Code,
    /// Messages.
    Conversation,
    /// Both.
    Both,
}

impl RewindScope {
    /// Whether files are restored.
    pub fn has_code(self) -> bool {
        matches!(self, Self::Code | Self::Both)
    }

    /// Whether messages are taken back.
    pub fn has_conversation(self) -> bool {
        matches!(self, Self::Conversation | Self::Both)
    }
}

/// What the user wants of a rewind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RewindRequest {
    /// Where it goes back to.
    pub target: RewindTarget,
    /// What it takes back.
    pub scope: RewindScope,
    /// Whether files that somebody changed since are restored too.
    pub overwrite: bool,
}

/// A file to restore.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Step {
    #[serde(with = "path_text")]
    path: PathBuf,
    from: FileState,
    to: FileState,
}

/// The journal.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Journal {
    id: MessageId,
    /// The message to go back to, and its line.
    message: MessageId,
    to_line: u64,
    /// The next line of the transcript when the rewind began.
    line: u64,
    scope: RewindScope,
    head: Option<String>,
    steps: Vec<Step>,
}

/// A file that a rewind left as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkippedFile {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

/// What a rewind did to files.
#[derive(Debug, Default)]
pub struct RewindReport {
    /// Files that are as they were then.
    pub restored: Vec<PathBuf>,
    /// Files that were left as they are.
    pub skipped: Vec<SkippedFile>,
}

/// A rewind whose journal is on the disk.
#[derive(Debug)]
pub struct Rewind {
    session: Dir,
    /// The folder of checkpoints.
    dir: Dir,
    journal: Journal,
}

#[expect(clippy::expect_used, reason = "a fixed plain name")]
fn journal_file() -> RelPath {
    RelPath::new("rewind.json").expect("a plain name")
}

impl Rewind {
    /// Begins a rewind in a session's folder: keeps what the files are now and writes the journal. `line` is the next line of
    /// the transcript.
    pub fn begin(
        session: &Dir,
        plan: &RewindPlan,
        request: RewindRequest,
        id: MessageId,
        line: u64,
    ) -> Result<Self, CheckpointError> {
        let RewindRequest { target, scope, overwrite } = request;
        let dir = session.create_folder(&checkpoint_folder())?;
        let store = ContentStore::new(dir.clone());
        let wanted = plan.changes.iter().filter(|change| match change.obstacle {
            None => true,
            Some(RewindObstacle::ChangedSince) => overwrite,
            Some(RewindObstacle::NotKept) => false,
        });
        let mut steps = Vec::new();
        for change in wanted.filter(|_| scope.has_code()) {
            steps.push(Step {
                path: change.path.clone(),
                from: FileState::keep(&change.path, &store)?,
                to: change.becomes.clone(),
            });
        }
        let (message, to_line, head) = (target.message, target.line, plan.head.clone());
        let journal = Journal { id, message, to_line, line, scope, head, steps };
        fault::point("checkpoint.journal")
            .map_err(|error| CheckpointError::at(dir.path(), error))?;
        dir.replace(&journal_file(), &serde_json::to_vec(&journal)?)?;
        Ok(Self { session: session.clone(), dir, journal })
    }

    /// The rewind that was cut off in a session, if there is one.
    pub fn interrupted(session: &Dir) -> Result<Option<Self>, CheckpointError> {
        let read = session.open_folder(&checkpoint_folder()).and_then(|dir| {
            let bytes = dir.read(&journal_file())?;
            Ok((dir, bytes))
        });
        match read {
            // One that is damaged cannot be finished, and must not keep the session from being opened.
            Ok((dir, bytes)) => Ok(serde_json::from_slice(&bytes).ok().map(|journal| Self {
                session: session.clone(),
                dir,
                journal,
            })),
            Err(error) if error.is_not_found() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// The id of the rewind.
    pub fn id(&self) -> MessageId {
        self.journal.id
    }

    /// Where it goes back to.
    pub fn target(&self) -> RewindTarget {
        RewindTarget { message: self.journal.message, line: self.journal.to_line }
    }

    /// What it takes back.
    pub fn scope(&self) -> RewindScope {
        self.journal.scope
    }

    /// Restores the files. May be repeated: a file that is restored already stays as it is, one that somebody has changed
    /// since the rewind began is left.
    pub fn restore_files(&self) -> Result<RewindReport, CheckpointError> {
        let store = ContentStore::new(self.dir.clone());
        let mut report = RewindReport::default();
        let mut steps: Vec<(&Step, FileState)> = Vec::new();
        for step in &self.journal.steps {
            let now = FileState::look(&step.path)?;
            if now == step.to {
                report.restored.push(step.path.clone());
            } else if now == step.from || now == FileState::Absent {
                steps.push((step, now));
            } else {
                report.skip(step, "it was changed while the rewind was under way");
            }
        }
        // What has to go, the innermost first; folders stay if something is left in them.
        steps.sort_by(|(one, _), (other, _)| other.path.cmp(&one.path));
        for (step, now) in &steps {
            if *now == FileState::Absent || !must_go_first(now, &step.to) {
                continue;
            }
            match remove(&step.path, now) {
                Ok(true) if step.to == FileState::Absent => report.restored.push(step.path.clone()),
                Ok(true) => {}
                Ok(false) => report.skip(step, "the folder has other files in it"),
                Err(error) => report.skip(step, &error.to_string()),
            }
        }
        // What has to come, the outermost first. The name is the same after a crash.
        let temporary = format!(".dormouse-{}.tmp", self.journal.id);
        for (step, _) in steps.iter().rev().filter(|(step, _)| step.to != FileState::Absent) {
            if report.skipped.iter().any(|skipped| skipped.path == step.path) {
                continue;
            }
            match restore(&step.path, &step.to, &store, &temporary) {
                Ok(()) => report.restored.push(step.path.clone()),
                Err(error) => report.skip(step, &error.to_string()),
            }
        }
        report.restored.sort();
        Ok(report)
    }

    /// Writes the rewind to the log, where it is a checkpoint itself, and removes the journal.
    pub fn finish(self) -> Result<(), CheckpointError> {
        let Journal { id, line, to_line, head, steps, .. } = self.journal;
        let is_logged = load_log(&self.session)?.iter().any(|turn| turn.id == id);
        let mut log = LogWriter::open(&self.dir)?;
        let store = ContentStore::new(self.dir.clone());
        if !is_logged {
            log.write(&LogLine::Turn { id, line, head, rewound_to: Some(to_line) })?;
        }
        for Step { path, from, .. } in steps {
            let after = FileState::keep(&path, &store)?;
            log.write(&LogLine::Before { turn: id, path: path.clone(), state: from })?;
            log.write(&LogLine::After { turn: id, path, state: after })?;
        }
        log.sync()?;
        fault::point("checkpoint.finish")
            .map_err(|error| CheckpointError::at(self.dir.path(), error))?;
        Ok(self.dir.remove_file(&journal_file())?)
    }
}

/// Whether what is there has to be removed before the other can take its place.
fn must_go_first(now: &FileState, to: &FileState) -> bool {
    let is_folder = |state: &FileState| matches!(state, FileState::Folder { .. });
    *to == FileState::Absent || is_folder(now) != is_folder(to)
}

impl RewindReport {
    fn skip(&mut self, step: &Step, reason: &str) {
        let reason = reason.to_owned();
        self.skipped.push(SkippedFile { path: step.path.clone(), reason });
    }
}
