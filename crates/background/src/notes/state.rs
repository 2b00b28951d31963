//! The state of the notes in the current session.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::Dir;
use dormouse_engine::JobStatus;

use super::files::NotesFiles;
use super::thresholds::NotesReach;

/// After this many failures in a row there are no more runs in the session.
pub(super) const MOST_FAILURES: u32 = 3;

/// Shared by the task and its runs.
#[derive(Clone, Default)]
pub(super) struct SharedNotesState(Arc<Mutex<NotesState>>);

impl SharedNotesState {
    pub(super) fn lock(&self) -> MutexGuard<'_, NotesState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Default)]
pub(super) struct NotesState {
    /// The session's folder.
    session: PathBuf,
    /// Where the last run started.
    pub(super) last: Option<NotesReach>,
    /// Failures in a row.
    failures: u32,
}

impl NotesState {
    /// Switches to the session in this folder, whose notes an earlier process may have written.
    pub(super) fn switch_to(&mut self, session: &Dir) {
        if self.session != session.path() {
            let last = NotesFiles::of(session).reach();
            *self = Self { session: session.path().to_owned(), last, failures: 0 };
        }
    }

    /// Whether too many runs have failed in a row.
    pub(super) fn has_given_up(&self) -> bool {
        self.failures >= MOST_FAILURES
    }

    /// Counts the end of a run. Returns whether it was the last one that is tried.
    pub(super) fn count_end(&mut self, session: &Path, status: &JobStatus) -> bool {
        if self.session != session {
            return false;
        }
        match status {
            JobStatus::Failed(_) => self.failures += 1,
            JobStatus::Completed => self.failures = 0,
            JobStatus::Running | JobStatus::Skipped | JobStatus::Killed => {}
        }
        matches!(status, JobStatus::Failed(_)) && self.failures == MOST_FAILURES
    }
}
