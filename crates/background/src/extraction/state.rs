//! The state of extraction in the current session.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::{Dir, FileAction, FileError, fault};

use super::cursor::Cursor;
use super::run::ExtractionRun;

/// Shared by the task and its worker.
#[derive(Clone, Default)]
pub(super) struct SharedState(Arc<Mutex<ExtractionState>>);

impl SharedState {
    pub(super) fn lock(&self) -> MutexGuard<'_, ExtractionState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Default)]
pub(super) struct ExtractionState {
    /// The session's folder.
    session: PathBuf,
    pub(super) cursor: Cursor,
    /// Turns that ended since the last run started.
    pub(super) turns: u32,
    pub(super) running: bool,
    /// The run for the newest turn that ended while another run was in progress.
    pub(super) next: Option<ExtractionRun>,
}

impl ExtractionState {
    /// Switches to the session in this folder, whose cursor an earlier process may have written.
    pub(super) fn switch_to(&mut self, session: &Dir) {
        if self.session != session.path() {
            let cursor = Cursor::read(session);
            *self = Self { session: session.path().to_owned(), cursor, ..Self::default() };
        }
    }

    /// Moves the cursor, in the session's file too. If that fails, messages are looked at a second time.
    pub(super) fn move_cursor(&mut self, session: &Dir, cursor: Cursor) -> Result<(), FileError> {
        const POINT: &str = "extraction.move_cursor";
        if self.session != session.path() {
            return Ok(());
        }
        self.cursor = cursor;
        fault::point(POINT).map_err(|error| FileError::new(FileAction::Write, POINT, error))?;
        cursor.write(session)
    }
}

/// Marks the session as running. When it is dropped, however the worker ended, nothing runs any more.
pub(super) struct RunningMark {
    state: SharedState,
    session: PathBuf,
    active: bool,
}

impl RunningMark {
    pub(super) fn new(state: SharedState, session: PathBuf) -> Self {
        Self { state, session, active: true }
    }

    /// Ends it under a lock that is held already, so that a turn that ends now starts a run of its own.
    pub(super) fn end(&mut self, state: &mut ExtractionState) {
        self.active = false;
        if state.session == self.session {
            state.running = false;
        }
    }
}

impl Drop for RunningMark {
    fn drop(&mut self) {
        if !self.active {
            return;
        }
        let mut state = self.state.lock();
        if state.session == self.session {
            state.running = false;
            state.next = None;
        }
    }
}
