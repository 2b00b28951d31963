//! Memory that grows by itself (B-5 to B-12, B-26): after a turn, a fork of the conversation looks at what was said
//! since it last looked, and saves what is worth keeping.
//!
//! When that is due is said here, the cheapest question first; what a proposal rests on in `evidence`; how far a
//! session was looked at in `cursor`. Invariants: nothing here holds up a turn or makes one fail; one run at a
//! time, and of the turns that end meanwhile the newest gets a run of its own; the cursor moves when a run has
//! come to its end, and when the model has saved by itself, never when a run failed.

mod already;
mod cursor;
mod evidence;
mod prompt;
mod run;
mod told;
mod window;
mod witness;
mod words;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::{Dir, MessageId};
use dormouse_engine::{Beside, JobEnd, JobHandle, Moment};

use cursor::Cursor;
use evidence::Guard;
use run::Run;

/// What the job is called.
pub const EXTRACTION: &str = KIND;
const KIND: &str = "extraction";
/// The tool without which nothing can be saved.
const TOOL: &str = "MemorySave";

/// How extraction is set up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtractionRules {
    /// After every so many turns; 1 unless set.
    pub every_turns: u32,
    /// What guards against echoes; off only to measure what it is good for.
    pub guarded: bool,
}

impl Default for ExtractionRules {
    fn default() -> Self {
        Self { every_turns: 1, guarded: true }
    }
}

/// Looks after every turn whether there is something to remember.
pub struct Extraction {
    rules: ExtractionRules,
    state: Arc<Mutex<State>>,
}

/// What is known of the session at hand.
#[derive(Default)]
struct State {
    /// Its folder.
    session: PathBuf,
    cursor: Cursor,
    /// Turns that ended since the last run began.
    turns: u32,
    running: bool,
    /// The newest turn that ended while a run was under way.
    waiting: Option<Run>,
}

impl State {
    /// Another session has a cursor of its own, which an earlier process may have left.
    fn turn_to(&mut self, session: &Dir) {
        if self.session != session.path() {
            let (session, cursor) = (session.path().to_owned(), Cursor::read(session));
            *self = Self { session, cursor, ..Self::default() };
        }
    }

    /// What was seen, in the file too. A disk that will not take it costs a second look, later.
    fn moves(&mut self, folder: &Dir, cursor: Cursor) -> Option<String> {
        if self.session != folder.path() {
            return None;
        }
        self.cursor = cursor;
        cursor.write(folder).err().map(|error| error.to_string())
    }
}

/// What follows from a turn that ended.
enum Due {
    Nothing,
    /// The model has saved by itself: there is nothing more to look at.
    Skip(MessageId),
    Run,
}

impl Extraction {
    /// Extraction by these rules.
    pub fn new(rules: ExtractionRules) -> Self {
        Self { rules, state: Arc::default() }
    }

    /// What is to be done now that a turn has ended. Nothing is read from a disk here.
    fn due(&self, moment: &Moment<'_>, state: &mut State) -> Due {
        let Some(last) = moment.messages().last() else { return Due::Nothing };
        let new = window::since(moment.messages(), state.cursor.seen);
        if window::counted(new) == 0 {
            return Due::Nothing;
        }
        let folders = moment.memory().map(|memory| run::folders(memory)).unwrap_or_default();
        if window::model_wrote(new, &folders) {
            return Due::Skip(last.id);
        }
        state.turns += 1;
        if state.turns < self.rules.every_turns && !state.running {
            return Due::Nothing;
        }
        if moment.quota_is_low() { Due::Nothing } else { Due::Run }
    }

    /// Runs now, or after the run that is under way.
    fn begin(&self, moment: &Moment<'_>, mut state: MutexGuard<'_, State>) {
        let Some(run) = self.run(moment, state.cursor.seen) else { return };
        if state.running {
            state.waiting = Some(run);
            return;
        }
        (state.running, state.turns) = (true, 0);
        let folder = moment.session_folder().clone();
        let due = Cursor { due: true, ..state.cursor };
        // Where this can not be written, a run that is lost with the process is not made up for.
        let _not_made_up_for = state.moves(&folder, due);
        drop(state);
        let shared = Arc::clone(&self.state);
        moment.jobs().spawn(KIND, |job| work(run, folder, shared, job));
    }

    fn run(&self, moment: &Moment<'_>, seen: Option<MessageId>) -> Option<Run> {
        Some(Run {
            seed: moment.seed(),
            access: Arc::clone(moment.memory()?),
            session: moment.session().to_string(),
            messages: moment.messages().to_vec(),
            own: true,
            seen,
            figures: moment.figures().clone(),
            guard: if self.rules.guarded { Guard::On } else { Guard::Off },
            window: moment.budget().effective.into(),
        })
    }

    fn possible(moment: &Moment<'_>) -> bool {
        moment.memory().is_some() && moment.has_tool(TOOL)
    }
}

impl Beside for Extraction {
    fn settled(&self, moment: &Moment<'_>) {
        if !moment.is_quiet() || !Self::possible(moment) {
            return;
        }
        let mut state = lock(&self.state);
        state.turn_to(moment.session_folder());
        match self.due(moment, &mut state) {
            Due::Nothing => {}
            Due::Skip(last) => {
                let seen = Cursor { seen: Some(last), due: false };
                // The next turn looks at the same messages again, and skips them again.
                let _again = state.moves(moment.session_folder(), seen);
            }
            Due::Run => self.begin(moment, state),
        }
    }

    /// What an earlier process did not come to is done now (B-12).
    fn opened(&self, moment: &Moment<'_>) {
        if !Self::possible(moment) {
            return;
        }
        let mut state = lock(&self.state);
        state.turn_to(moment.session_folder());
        let left = window::counted(window::since(moment.messages(), state.cursor.seen));
        if state.cursor.due && !state.running && left > 0 && !moment.quota_is_low() {
            self.begin(moment, state);
        }
    }
}

/// Runs, and runs again for the newest turn that has ended meanwhile.
async fn work(first: Run, folder: Dir, state: Arc<Mutex<State>>, job: JobHandle) -> JobEnd {
    let _running = Running { state: Arc::clone(&state), session: folder.path().to_owned() };
    let mut run = first;
    loop {
        let last = run.messages.last().map(|message| message.id);
        let outcome = run.go(&job).await;
        let mut state = lock(&state);
        if outcome.done
            && let Some(why) = state.moves(&folder, Cursor { seen: last, due: false })
        {
            job.said(&format!("how far this came could not be written down: {why}"));
        }
        match state.waiting.take() {
            Some(next) => run = Run { seen: state.cursor.seen, ..next },
            None => return outcome.end,
        }
        state.turns = 0;
        job.phase("starting");
    }
}

/// Says that nothing runs any more, however it came to its end.
struct Running {
    state: Arc<Mutex<State>>,
    session: PathBuf,
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut state = lock(&self.state);
        if state.session == self.session {
            (state.running, state.waiting) = (false, None);
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
