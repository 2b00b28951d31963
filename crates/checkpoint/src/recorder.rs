//! Records what a session's turns change.
//!
//! Invariants: a turn that changes nothing costs nothing: the folder of checkpoints is made with the first change. A failure
//! never stops a tool: it is said once, and the file has no checkpoint.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::{Clock, Dir, MessageId, is_home_or_above};

use crate::branch;
use crate::content_store::ContentStore;
use crate::error::CheckpointError;
use crate::folder::checkpoint_folder;
use crate::listing::{ListingCache, ProjectListing, UnkeptFiles};
use crate::log::{LogLine, LogWriter};
use crate::state::FileState;

/// Records what the turns of a session change. Clones of the engine's configuration share it, so that subagents record
/// into the turn of their session.
pub struct Checkpoints {
    session: Dir,
    /// The folders whose files are listed around commands; none for a home folder or the root of the file system.
    roots: Vec<PathBuf>,
    clock: Arc<dyn Clock>,
    state: Mutex<RecorderState>,
}

#[derive(Default)]
struct RecorderState {
    turn: Option<RecordedTurn>,
    session: SessionRecord,
}

/// What lasts from turn to turn.
#[derive(Default)]
struct SessionRecord {
    open: Option<OpenLog>,
    cache: ListingCache,
    notices: Vec<String>,
    /// What was last said to be left out.
    left_out: UnkeptFiles,
    has_failed: bool,
}

struct OpenLog {
    store: ContentStore,
    log: LogWriter,
}

/// The turn under way.
struct RecordedTurn {
    id: MessageId,
    line: u64,
    /// Paths whose state before the turn is in the log.
    recorded: HashSet<PathBuf>,
    is_logged: bool,
    listing: Option<ProjectListing>,
    /// Whether a command may still be running.
    has_background: bool,
}

impl Checkpoints {
    /// Checkpoints of a session, whose commands work in these folders.
    pub fn new(
        session: Dir,
        folders: &[PathBuf],
        home: Option<&Path>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let is_project = |folder: &&PathBuf| !is_home_or_above(folder, home);
        let mut roots: Vec<PathBuf> = folders.iter().filter(is_project).cloned().collect();
        roots.sort();
        // A folder inside another is listed with it.
        roots.dedup_by(|inner, outer| inner.starts_with(outer));
        Self { session, roots, clock, state: Mutex::default() }
    }

    /// A message of the user's begins a turn, in this line of the transcript.
    pub fn begin_turn(&self, id: MessageId, line: u64) {
        self.state().turn = Some(RecordedTurn {
            id,
            line,
            recorded: HashSet::new(),
            is_logged: false,
            listing: None,
            has_background: false,
        });
    }

    /// A tool is about to write or remove this file.
    pub fn before_write(&self, path: &Path) {
        self.attempt(|turn, session| {
            // Folders that the write makes go with it.
            let missing =
                path.ancestors().skip(1).take_while(|folder| folder.symlink_metadata().is_err());
            for path in missing.chain([path]) {
                let open = self.log(turn, session)?;
                if !turn.recorded.contains(path) {
                    let before = FileState::keep(path, &open.store)?;
                    turn.record_before(path, before, open)?;
                }
            }
            Ok(())
        });
    }

    /// A tool has written or removed this file.
    pub fn after_write(&self, path: &Path) {
        self.attempt(|turn, session| {
            let open = self.log(turn, session)?;
            let folders = path.ancestors().skip(1);
            for path in folders.take_while(|folder| turn.recorded.contains(*folder)).chain([path]) {
                turn.record_after(path, open)?;
            }
            Ok(())
        });
    }

    /// A command that may write is about to run. Lists the files before the first one of a turn.
    pub fn before_command(&self) {
        self.attempt(|turn, session| {
            if self.roots.is_empty() {
                return Ok(());
            }
            if turn.listing.is_none() {
                turn.listing = Some(self.list(turn, session)?);
            }
            self.log(turn, session)?.log.write(&LogLine::Command { turn: turn.id })
        });
    }

    /// The command has ended: records what it changed.
    pub fn after_command(&self) {
        self.attempt(|turn, session| self.record_changes(turn, session));
    }

    /// The command goes on in the background: what it changes until the turn ends is recorded then.
    pub fn command_goes_on(&self) {
        if let Some(turn) = &mut self.state().turn {
            turn.has_background = true;
        }
    }

    /// The turn has ended.
    pub fn end_turn(&self) {
        self.attempt(|turn, session| {
            if turn.has_background {
                self.record_changes(turn, session)?;
            }
            session.open.as_ref().map_or(Ok(()), |open| open.log.sync())
        });
    }

    /// What the user should know.
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.state().session.notices)
    }

    fn state(&self) -> MutexGuard<'_, RecorderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attempt(
        &self,
        work: impl FnOnce(&mut RecordedTurn, &mut SessionRecord) -> Result<(), CheckpointError>,
    ) {
        let RecorderState { turn: Some(turn), session } = &mut *self.state() else { return };
        if let Err(error) = work(turn, session)
            && !std::mem::replace(&mut session.has_failed, true)
        {
            session.notices.push(format!(
                "no checkpoint of some files: {error}. /rewind cannot bring these back"
            ));
        }
    }

    /// The log, opened with the first change of the session; the turn is begun in it with the first change of the turn.
    fn log<'s>(
        &self,
        turn: &mut RecordedTurn,
        session: &'s mut SessionRecord,
    ) -> Result<&'s mut OpenLog, CheckpointError> {
        let open = match session.open.take() {
            Some(open) => open,
            None => {
                let dir = self.session.create_folder(&checkpoint_folder())?;
                let log = LogWriter::open(&dir)?;
                OpenLog { store: ContentStore::new(dir), log }
            }
        };
        let open = session.open.insert(open);
        if !turn.is_logged {
            // The branch of the first folder of the project is the one that a rewind compares.
            let head = self.roots.first().and_then(|root| branch::head(root));
            let (id, line) = (turn.id, turn.line);
            open.log.write(&LogLine::Turn { id, line, head, rewound_to: None })?;
            turn.is_logged = true;
        }
        Ok(open)
    }

    fn list(
        &self,
        turn: &mut RecordedTurn,
        session: &mut SessionRecord,
    ) -> Result<ProjectListing, CheckpointError> {
        let begun = self.clock.elapsed();
        let store = self.log(turn, session)?.store.clone();
        let listing = ProjectListing::make(&self.roots, &store, &mut session.cache)?;
        if listing.left_out.files > 0 && grew(&session.left_out, &listing.left_out) {
            session.notices.push(left_out_notice(&listing.left_out));
            session.left_out = listing.left_out.clone();
        }
        let took = self.clock.elapsed().saturating_sub(begun);
        self.log(turn, session)?.log.write(&LogLine::Listed {
            turn: turn.id,
            files: listing.len() as u64,
            micros: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        })?;
        Ok(listing)
    }

    /// Records what has changed since the last listing, which the new one replaces.
    fn record_changes(
        &self,
        turn: &mut RecordedTurn,
        session: &mut SessionRecord,
    ) -> Result<(), CheckpointError> {
        let Some(earlier) = turn.listing.take() else { return Ok(()) };
        let later = self.list(turn, session)?;
        let open = self.log(turn, session)?;
        for change in earlier.changed_in(&later, &open.store)? {
            let is_known = turn.recorded.contains(&change.path);
            if !is_known && FileState::keep(&change.path, &open.store)? == change.before {
                continue;
            }
            turn.record_before(&change.path, change.before, open)?;
            turn.record_after(&change.path, open)?;
        }
        turn.listing = Some(later);
        Ok(())
    }
}

impl RecordedTurn {
    /// Records what was at a path before the turn, if that is not known yet.
    fn record_before(
        &mut self,
        path: &Path,
        state: FileState,
        open: &mut OpenLog,
    ) -> Result<(), CheckpointError> {
        if !self.recorded.contains(path) {
            open.log.write(&LogLine::Before { turn: self.id, path: path.to_owned(), state })?;
            self.recorded.insert(path.to_owned());
        }
        Ok(())
    }

    fn record_after(&self, path: &Path, open: &mut OpenLog) -> Result<(), CheckpointError> {
        let state = FileState::keep(path, &open.store)?;
        open.log.write(&LogLine::After { turn: self.id, path: path.to_owned(), state })
    }
}

/// Whether so much more is left out that it has to be said again.
fn grew(said: &UnkeptFiles, now: &UnkeptFiles) -> bool {
    now.files > said.files.saturating_mul(2) || now.bytes > said.bytes.saturating_mul(2)
}

fn left_out_notice(left_out: &UnkeptFiles) -> String {
    let files =
        if left_out.files == 1 { "1 file".to_owned() } else { format!("{} files", left_out.files) };
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit")]
    let megabytes = left_out.bytes as f64 / 1_000_000.0;
    format!(
        "checkpoints leave out {files} ({megabytes:.1} MB, most of it in {}): too large or too many. If a command changes \
         them, /rewind cannot bring them back. List what is built in .gitignore",
        left_out.largest.display()
    )
}

impl std::fmt::Debug for Checkpoints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkpoints").field("roots", &self.roots).finish_non_exhaustive()
    }
}
