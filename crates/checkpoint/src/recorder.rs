//! Records what a session's turns change.
//!
//! Invariants: a turn that changes nothing costs nothing: the folder of checkpoints is made with the first change. A failure
//! never stops a tool: it is said once, and the file has no checkpoint.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::{Clock, Dir, MessageId};

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
    open: Option<OpenLog>,
    turn: Option<RecordedTurn>,
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
        let too_wide = |folder: &Path| {
            folder.parent().is_none() || home.is_some_and(|home| home.starts_with(folder))
        };
        let mut roots: Vec<PathBuf> =
            folders.iter().filter(|folder| !too_wide(folder)).cloned().collect();
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
        self.attempt(|state| {
            // Folders that the write makes go with it.
            let missing =
                path.ancestors().skip(1).take_while(|folder| folder.symlink_metadata().is_err());
            for folder in missing {
                self.record_before(state, folder, None)?;
            }
            self.record_before(state, path, None)
        });
    }

    /// A tool has written or removed this file.
    pub fn after_write(&self, path: &Path) {
        self.attempt(|state| {
            let folders = path.ancestors().skip(1).map(Path::to_owned);
            let made: Vec<PathBuf> = match &state.turn {
                Some(turn) => folders.take_while(|folder| turn.recorded.contains(folder)).collect(),
                None => Vec::new(),
            };
            for folder in made {
                self.record_after(state, &folder)?;
            }
            self.record_after(state, path)
        });
    }

    /// A command that may write is about to run. Lists the files before the first one of a turn.
    pub fn before_command(&self) {
        self.attempt(|state| {
            if self.roots.is_empty() {
                return Ok(());
            }
            let Some(turn) = &state.turn else { return Ok(()) };
            let (id, is_listed) = (turn.id, turn.listing.is_some());
            if !is_listed {
                let listing = self.list(state)?;
                if let Some(turn) = &mut state.turn {
                    turn.listing = Some(listing);
                }
            }
            self.begin_log(state)?;
            let Some(open) = &mut state.open else { return Ok(()) };
            open.log.write(&LogLine::Command { turn: id })
        });
    }

    /// The command has ended: records what it changed.
    pub fn after_command(&self) {
        self.attempt(|state| self.settle(state));
    }

    /// The command goes on in the background: what it changes until the turn ends is recorded then.
    pub fn command_goes_on(&self) {
        if let Some(turn) = &mut self.state().turn {
            turn.has_background = true;
        }
    }

    /// The turn has ended.
    pub fn end_turn(&self) {
        let has_background = self.state().turn.as_ref().is_some_and(|turn| turn.has_background);
        if has_background {
            self.after_command();
        }
        self.attempt(|state| state.open.as_ref().map_or(Ok(()), |open| open.log.sync()));
    }

    /// What the user should know.
    pub fn take_notices(&self) -> Vec<String> {
        std::mem::take(&mut self.state().notices)
    }

    /// The folder of the session's checkpoints, if there is one.
    pub fn folder(&self) -> Option<Dir> {
        self.session.open_folder(&checkpoint_folder()).ok()
    }

    /// The first folder of the project, whose branch a rewind compares.
    pub fn checkout(&self) -> Option<&Path> {
        self.roots.first().map(PathBuf::as_path)
    }

    fn state(&self) -> MutexGuard<'_, RecorderState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn attempt(&self, work: impl FnOnce(&mut RecorderState) -> Result<(), CheckpointError>) {
        let state = &mut *self.state();
        if state.turn.is_none() {
            return;
        }
        if let Err(error) = work(state)
            && !std::mem::replace(&mut state.has_failed, true)
        {
            state.notices.push(format!(
                "no checkpoint of some files: {error}. /rewind cannot bring these back"
            ));
        }
    }

    /// Opens the log with the first change of the session, and begins the turn in it with the first change of the turn.
    fn begin_log(&self, state: &mut RecorderState) -> Result<(), CheckpointError> {
        if state.open.is_none() {
            let dir = self.session.create_folder(&checkpoint_folder())?;
            let log = LogWriter::open(&dir)?;
            state.open = Some(OpenLog { store: ContentStore::new(dir), log });
        }
        let (Some(turn), Some(open)) = (&mut state.turn, &mut state.open) else { return Ok(()) };
        if !turn.is_logged {
            open.log.write(&LogLine::Turn {
                id: turn.id,
                line: turn.line,
                head: self.checkout().and_then(branch::head),
                rewound_to: None,
            })?;
            turn.is_logged = true;
        }
        Ok(())
    }

    /// Records what was at a path before the turn, if that is not known yet. Without a state, what is there now.
    fn record_before(
        &self,
        state: &mut RecorderState,
        path: &Path,
        before: Option<FileState>,
    ) -> Result<(), CheckpointError> {
        if state.turn.as_ref().is_none_or(|turn| turn.recorded.contains(path)) {
            return Ok(());
        }
        self.begin_log(state)?;
        let (Some(turn), Some(open)) = (&mut state.turn, &mut state.open) else { return Ok(()) };
        let before = match before {
            Some(before) => before,
            None => FileState::keep(path, &open.store)?,
        };
        let line = LogLine::Before { turn: turn.id, path: path.to_owned(), state: before };
        open.log.write(&line)?;
        turn.recorded.insert(path.to_owned());
        Ok(())
    }

    fn record_after(&self, state: &mut RecorderState, path: &Path) -> Result<(), CheckpointError> {
        self.begin_log(state)?;
        let (Some(turn), Some(open)) = (&state.turn, &mut state.open) else { return Ok(()) };
        let after = FileState::keep(path, &open.store)?;
        open.log.write(&LogLine::After { turn: turn.id, path: path.to_owned(), state: after })
    }

    fn list(&self, state: &mut RecorderState) -> Result<ProjectListing, CheckpointError> {
        let begun = self.clock.elapsed();
        self.begin_log(state)?;
        let Some(open) = &state.open else { return Ok(ProjectListing::default()) };
        let listing = ProjectListing::make(&self.roots, &open.store, &mut state.cache)?;
        if listing.left_out.files > 0 && grew(&state.left_out, &listing.left_out) {
            state.notices.push(left_out_notice(&listing.left_out));
            state.left_out = listing.left_out.clone();
        }
        let took = self.clock.elapsed().saturating_sub(begun);
        let (Some(turn), Some(open)) = (&state.turn, &mut state.open) else { return Ok(listing) };
        open.log.write(&LogLine::Listed {
            turn: turn.id,
            files: listing.len() as u64,
            micros: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
        })?;
        Ok(listing)
    }

    /// Records what has changed since the last listing, which the new one replaces.
    fn settle(&self, state: &mut RecorderState) -> Result<(), CheckpointError> {
        let Some(earlier) = state.turn.as_mut().and_then(|turn| turn.listing.take()) else {
            return Ok(());
        };
        let later = self.list(state)?;
        let Some(open) = &state.open else { return Ok(()) };
        let changes = earlier.changed_in(&later, &open.store)?;
        let store = open.store.clone();
        for change in changes {
            let is_known =
                state.turn.as_ref().is_some_and(|turn| turn.recorded.contains(&change.path));
            if !is_known && FileState::keep(&change.path, &store)? == change.before {
                continue;
            }
            self.record_before(state, &change.path, Some(change.before))?;
            self.record_after(state, &change.path)?;
        }
        if let Some(turn) = &mut state.turn {
            turn.listing = Some(later);
        }
        Ok(())
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
