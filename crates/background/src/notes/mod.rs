//! Notes about a session, kept while it goes on, so that its compaction costs nothing (B-13 to B-16).
//!
//! After every answer it is asked whether they are due (`due`); if so a fork of the conversation brings them
//! up to date (`run`), in files that a run which fails leaves as they were (`files`). What they begin as and
//! what the fork is told can be the person's own (`config`). Invariant: one run at a time, and the notes that
//! are given out go exactly as far as they say.

mod config;
mod files;
mod run;
mod thresholds;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::{Dir, SessionNotesSettings};
use dormouse_context::compact::notes;
use dormouse_conversation::Message;
use dormouse_engine::{BackgroundTask, JobStatus, SavedNotes, TurnSnapshot};

pub use config::NotesConfig;
pub use files::NotesError;
use files::NotesFiles;
use run::NotesRun;
use thresholds::{NotesReach, Thresholds};

/// What the job is called.
const KIND: &str = "session_notes";
/// After so many failures in a row it rests until the session ends.
const FAILURES: u32 = 3;

/// Keeps the notes of sessions.
pub struct SessionNotes {
    config: Arc<NotesConfig>,
    settings: SessionNotesSettings,
    state: Arc<Mutex<State>>,
}

/// What is known of the session at hand.
#[derive(Debug, Default)]
struct State {
    /// Its folder.
    session: PathBuf,
    /// Where the last run began.
    last: Option<NotesReach>,
    /// Failures in a row.
    failures: u32,
}

impl State {
    /// Another session has notes of its own, which may go back to an earlier process.
    fn turn_to(&mut self, session: &Dir) {
        if self.session != session.path() {
            let (session, last) = (session.path().to_owned(), NotesFiles::of(session).reach());
            *self = Self { session, last, failures: 0 };
        }
    }

    /// Counts how a run ended; whether it was the last that is tried.
    fn has_ended(&mut self, session: &Path, status: &JobStatus) -> bool {
        if self.session != session {
            return false;
        }
        match status {
            JobStatus::Failed(_) => self.failures += 1,
            JobStatus::Completed => self.failures = 0,
            JobStatus::Running | JobStatus::Skipped | JobStatus::Killed => {}
        }
        matches!(status, JobStatus::Failed(_)) && self.failures == FAILURES
    }
}

impl SessionNotes {
    /// Notes by these config, as often as the settings say.
    pub fn new(config: NotesConfig, settings: SessionNotesSettings) -> Self {
        Self { config: Arc::new(config), settings, state: Arc::default() }
    }

    /// Where a run that begins now would begin, if one is due.
    fn due(&self, snapshot: &TurnSnapshot<'_>) -> Option<NotesReach> {
        let message = snapshot.messages().last()?.id;
        let tokens = snapshot.tokens();
        let mut state = lock(&self.state);
        state.turn_to(snapshot.session_folder());
        if state.failures >= FAILURES {
            return None;
        }
        // A conversation that was compacted is smaller than it was.
        if let Some(last) = &mut state.last {
            last.tokens = last.tokens.min(tokens);
        }
        let thresholds = Thresholds::of(self.settings, snapshot.budget());
        let calls = |last: &NotesReach| calls_since(snapshot.messages(), last);
        if !thresholds.are_met(state.last.as_ref(), tokens, snapshot.is_turn_end(), calls) {
            return None;
        }
        let mark = NotesReach { message, tokens };
        state.last = Some(mark);
        Some(mark)
    }
}

/// Tool calls behind a message; all of them, where it is no longer there.
fn calls_since(messages: &[Arc<Message>], last: &NotesReach) -> usize {
    let newer = messages.iter().rev().take_while(|message| message.id != last.message);
    newer.map(|message| message.tool_calls().count()).sum()
}

impl BackgroundTask for SessionNotes {
    fn on_idle(&self, snapshot: &TurnSnapshot<'_>) {
        if snapshot.jobs().is_running(KIND) || snapshot.quota_is_low() {
            return;
        }
        let Some(mark) = self.due(snapshot) else { return };
        let run = NotesRun {
            seed: snapshot.fork_source(),
            mark,
            budget: *snapshot.budget(),
            config: Arc::clone(&self.config),
            session: snapshot.session_folder().clone(),
            state: Arc::clone(&self.state),
            figures: snapshot.figures().clone(),
        };
        snapshot.jobs().spawn(KIND, |job| run.work(job));
    }

    fn session_notes(&self, session: &Dir) -> Option<SavedNotes> {
        let _held = lock(&self.state);
        let files = NotesFiles::of(session);
        // Notes that can not be read are none: the next run says why, and mends it.
        let current = files.read(&self.config.template).ok()??;
        let reach = files.reach().map(|mark| mark.message);
        Some(SavedNotes {
            text: current.text,
            template: current.template,
            path: files.path(),
            reach,
        })
    }
}

/// The title that the notes of a session give it, if there are notes with one.
pub fn kept_title(session: &Dir) -> Option<String> {
    // A list of sessions is no place to complain about notes.
    let current = NotesFiles::of(session).read(&NotesConfig::default().template).ok()??;
    notes::notes_title(&current.text)
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
