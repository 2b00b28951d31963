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
mod notice;
mod prompt;
mod provenance;
mod queue;
mod run;
mod window;
mod words;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::{Dir, MessageId, fault};
use dormouse_conversation::transcript::PendingTranscript;
use dormouse_engine::{BackgroundTask, JobEnd, JobHandle, JobStatus, TurnSnapshot};

use cursor::Cursor;
use evidence::EchoGuard;
use queue::QueuedTranscript;
pub use queue::{QueueTranscript, TranscriptQueue};
use run::ExtractionRun;

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
    /// Transcripts that wait for an occasion such as this.
    queue: Option<TranscriptQueue>,
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
    waiting: Option<ExtractionRun>,
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
        // A process that dies here has saved, perhaps, and will look again.
        if let Err(error) = fault::point("extraction.move_cursor") {
            return Some(error.to_string());
        }
        cursor.write(folder).err().map(|error| error.to_string())
    }
}

/// What follows from a turn that ended.
enum TurnDecision {
    Nothing,
    /// The model has saved by itself: there is nothing more to look at.
    Skip(MessageId),
    Run,
}

impl Extraction {
    /// Extraction by these rules.
    pub fn new(rules: ExtractionRules) -> Self {
        Self { rules, state: Arc::default(), queue: None }
    }

    /// The same, which looks through what waits as well when a conversation is opened.
    #[must_use]
    pub fn with_queue(self, queue: TranscriptQueue) -> Self {
        Self { queue: Some(queue), ..self }
    }

    /// What is to be done now that a turn has ended. Nothing is read from a disk here.
    fn due(&self, snapshot: &TurnSnapshot<'_>, state: &mut State) -> TurnDecision {
        let Some(last) = snapshot.messages().last() else { return TurnDecision::Nothing };
        let new = window::since(snapshot.messages(), state.cursor.seen);
        if window::counted(new) == 0 {
            return TurnDecision::Nothing;
        }
        let folders = snapshot.memory().map(|memory| run::folders(memory)).unwrap_or_default();
        if window::model_wrote(new, &folders) {
            return TurnDecision::Skip(last.id);
        }
        state.turns += 1;
        if state.turns < self.rules.every_turns && !state.running {
            return TurnDecision::Nothing;
        }
        if snapshot.quota_is_low() { TurnDecision::Nothing } else { TurnDecision::Run }
    }

    /// Runs now, or after the run that is under way.
    fn begin(&self, snapshot: &TurnSnapshot<'_>, mut state: MutexGuard<'_, State>) {
        let Some(run) = self.run(snapshot, state.cursor.seen) else { return };
        if state.running {
            state.waiting = Some(run);
            return;
        }
        state.waiting = Some(run);
        self.spawn(snapshot, state, Vec::new());
    }

    fn spawn(
        &self,
        snapshot: &TurnSnapshot<'_>,
        mut state: MutexGuard<'_, State>,
        queued: Vec<PendingTranscript>,
    ) {
        (state.running, state.turns) = (true, 0);
        drop(state);
        // A copy of the conversation is made only where it is needed.
        let like = if queued.is_empty() { None } else { self.run(snapshot, None) };
        let through = like.zip(self.queue.clone());
        let through = through.map(|(like, queue)| QueuedRuns { queue, queued, like });
        let (shared, folder) = (Arc::clone(&self.state), snapshot.session_folder().clone());
        snapshot.jobs().spawn(KIND, |job| work(through, folder, shared, job));
    }

    fn run(&self, snapshot: &TurnSnapshot<'_>, seen: Option<MessageId>) -> Option<ExtractionRun> {
        Some(ExtractionRun {
            seed: snapshot.fork_source(),
            access: Arc::clone(snapshot.memory()?),
            session: snapshot.session().to_string(),
            messages: snapshot.messages().to_vec(),
            own: true,
            seen,
            figures: snapshot.figures().clone(),
            guard: if self.rules.guarded { EchoGuard::On } else { EchoGuard::Off },
            window: snapshot.budget().effective.into(),
        })
    }

    fn possible(snapshot: &TurnSnapshot<'_>) -> bool {
        snapshot.memory().is_some() && snapshot.has_tool(TOOL)
    }
}

impl BackgroundTask for Extraction {
    fn on_idle(&self, snapshot: &TurnSnapshot<'_>) {
        if !snapshot.is_turn_end() || !Self::possible(snapshot) {
            return;
        }
        let mut state = lock(&self.state);
        state.turn_to(snapshot.session_folder());
        match self.due(snapshot, &mut state) {
            TurnDecision::Nothing => {}
            TurnDecision::Skip(last) => {
                let seen = Cursor { seen: Some(last), due: false };
                // The next turn looks at the same messages again, and skips them again.
                let _again = state.moves(snapshot.session_folder(), seen);
            }
            TurnDecision::Run => self.begin(snapshot, state),
        }
    }

    /// What an earlier process did not come to is done now (B-12).
    fn on_open(&self, snapshot: &TurnSnapshot<'_>) {
        if !Self::possible(snapshot) {
            return;
        }
        let mut state = lock(&self.state);
        state.turn_to(snapshot.session_folder());
        if state.running || snapshot.quota_is_low() {
            return;
        }
        let left = window::counted(window::since(snapshot.messages(), state.cursor.seen));
        if state.cursor.due && left > 0 {
            state.waiting = self.run(snapshot, state.cursor.seen);
        }
        let queued = self.queue.as_ref().map(TranscriptQueue::list).unwrap_or_default();
        if state.waiting.is_some() || !queued.is_empty() {
            self.spawn(snapshot, state, queued);
        }
    }
}

/// The transcripts that are looked through first.
struct QueuedRuns {
    queue: TranscriptQueue,
    queued: Vec<PendingTranscript>,
    /// A run of the conversation at hand: theirs are like it, but for the messages.
    like: ExtractionRun,
}

impl QueuedRuns {
    async fn go(self, job: &JobHandle) -> JobEnd {
        let mut end = JobEnd::of(JobStatus::Skipped);
        let queue = self.queue;
        let ExtractionRun { seed, access, figures, guard, window, .. } = self.like;
        for waiting in self.queued {
            let (what, outcome) = match queue.open(&waiting) {
                Err(why) => (why, None),
                Ok(None) => ("nothing new".to_owned(), None),
                Ok(Some(QueuedTranscript { messages, seen, session, place })) => {
                    let last = messages.last().map(|message| message.id);
                    let run = ExtractionRun {
                        seed: seed.clone().with_messages([]),
                        access: Arc::clone(&access),
                        session,
                        messages,
                        own: false,
                        seen,
                        figures: figures.clone(),
                        guard,
                        window,
                    };
                    let outcome = run.go(job).await;
                    let seen = Cursor { seen: last, due: false };
                    let kept = if outcome.done { place.write(seen) } else { Ok(()) };
                    (kept.err().unwrap_or_default(), Some(outcome))
                }
            };
            let failed = outcome.as_ref().is_some_and(|outcome| !outcome.done);
            if let Some(outcome) = outcome {
                end = outcome.end;
            }
            let path = waiting.transcript_path.display();
            if !what.is_empty() {
                job.said(&format!("{path}: {what}"));
            }
            // What could not be looked at for want of an answer waits for the next occasion.
            if !failed && let Err(why) = queue.done(&waiting) {
                job.said(&format!("{path} still waits: {why}"));
            }
        }
        end
    }
}

/// Runs, and runs again for the newest turn that has ended meanwhile.
async fn work(
    through: Option<QueuedRuns>,
    folder: Dir,
    state: Arc<Mutex<State>>,
    job: JobHandle,
) -> JobEnd {
    let (shared, session) = (Arc::clone(&state), folder.path().to_owned());
    let mut running = Running { state: shared, session, armed: true };
    let mut end = match through {
        Some(through) => through.go(&job).await,
        None => JobEnd::of(JobStatus::Skipped),
    };
    loop {
        let next = {
            let mut state = lock(&state);
            state.turns = 0;
            let next =
                state.waiting.take().map(|next| ExtractionRun { seen: state.cursor.seen, ..next });
            if next.is_some() {
                let due = Cursor { due: true, ..state.cursor };
                // Where this can not be written, a run that is lost with the process is not made up for.
                let _not_made_up_for = state.moves(&folder, due);
            } else {
                // Under the same lock: a turn that ends from now on starts a run of its own.
                running.disarm(&mut state);
            }
            next
        };
        let Some(run) = next else { return end };
        job.phase("starting");
        let last = run.messages.last().map(|message| message.id);
        let outcome = run.go(&job).await;
        end = outcome.end;
        if outcome.done
            && let Some(why) = lock(&state).moves(&folder, Cursor { seen: last, due: false })
        {
            job.said(&format!("how far this came could not be written down: {why}"));
        }
    }
}

/// Says that nothing runs any more, however it came to its end.
struct Running {
    state: Arc<Mutex<State>>,
    session: PathBuf,
    armed: bool,
}

impl Running {
    fn disarm(&mut self, state: &mut State) {
        self.armed = false;
        if state.session == self.session {
            state.running = false;
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        let mut state = lock(&self.state);
        if state.session == self.session {
            (state.running, state.waiting) = (false, None);
        }
    }
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
