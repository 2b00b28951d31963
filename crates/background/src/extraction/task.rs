//! When extraction runs (B-28): when the user said something worth keeping, when much was said, after a pause, when the session
//! ends, and when a session is opened that an earlier process left unfinished. A setting makes it run after every so many turns.

use std::sync::{Arc, MutexGuard};

use dormouse_base::MessageId;
use dormouse_conversation::known_tools::MEMORY_SAVE;
use dormouse_conversation::transcript::PendingTranscript;
use dormouse_conversation::{Message, estimate_text};
use dormouse_engine::{BackgroundTask, TurnSnapshot};
use dormouse_provenance::{AttributedText, Attribution, EchoGuard, attribute};

use super::cursor::Cursor;
use super::queue::TranscriptQueue;
use super::run::{EXTRACTION, ExtractionRun};
use super::signals::has_signal;
use super::state::{ExtractionState, SharedState};
use super::window;
use super::worker::{QueuedRuns, work};

/// The tool without which nothing can be saved.
const NEEDED_TOOL: &str = MEMORY_SAVE.name;

/// So many tokens that the user and the model wrote are looked at even if nothing in them stands out. What tools brought does not
/// count: it is no source, and most of a conversation.
const MUCH_SAID: u64 = 8_000;
/// Close to a compaction, which takes messages away that no run has looked at, all tokens count.
const NEARLY_FULL_PERCENT: u64 = 90;

/// The settings of extraction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExtractionRules {
    /// Turns from one run to the next; none where it depends on what was said.
    pub every_turns: Option<u32>,
    /// Whether echoes of memory are rejected; off only to measure the guard.
    pub guarded: bool,
}

impl Default for ExtractionRules {
    fn default() -> Self {
        Self { every_turns: None, guarded: true }
    }
}

/// The background task that extracts memories.
pub struct Extraction {
    rules: ExtractionRules,
    state: SharedState,
    queue: Option<TranscriptQueue>,
}

enum TurnDecision {
    Nothing,
    /// The model has saved memories itself: the messages count as looked at.
    Skip(MessageId),
    Run,
}

impl Extraction {
    /// Extraction by these rules.
    pub fn new(rules: ExtractionRules) -> Self {
        Self { rules, state: SharedState::default(), queue: None }
    }

    /// Also works through queued transcripts when a session is opened.
    #[must_use]
    pub fn with_queue(self, queue: TranscriptQueue) -> Self {
        Self { queue: Some(queue), ..self }
    }

    /// Decides what follows from a turn that ended. Reads nothing from disk.
    fn decide(&self, snapshot: &TurnSnapshot<'_>, state: &mut ExtractionState) -> TurnDecision {
        let Some(last) = snapshot.messages().last() else { return TurnDecision::Nothing };
        let new = window::messages_since(snapshot.messages(), state.cursor.seen);
        if window::count_written(new) == 0 {
            return TurnDecision::Nothing;
        }
        let folders = snapshot.memory().map(|memory| memory.memories().folders());
        let folders = folders.unwrap_or_default();
        if window::model_saved(new, &folders) {
            return TurnDecision::Skip(last.id);
        }
        state.turns += 1;
        if !self.is_due(snapshot, new, &folders, state) {
            return TurnDecision::Nothing;
        }
        Self::run_if_affordable(snapshot)
    }

    /// Whether a turn that ended calls for a run.
    fn is_due(
        &self,
        snapshot: &TurnSnapshot<'_>,
        new: &[Arc<Message>],
        folders: &[String],
        state: &ExtractionState,
    ) -> bool {
        if let Some(turns) = self.rules.every_turns {
            return state.turns >= turns || state.running;
        }
        let texts = attribute(new.iter().map(AsRef::as_ref), folders);
        let mut typed = texts.iter().filter(|text| text.attribution == Attribution::User);
        typed.any(|text| has_signal(&text.text))
            || written_tokens(&texts) >= MUCH_SAID
            || is_lost_soon(snapshot, new)
    }

    fn run_if_affordable(snapshot: &TurnSnapshot<'_>) -> TurnDecision {
        let can_pay = snapshot.has_background_room() && !snapshot.quota_is_low();
        if can_pay { TurnDecision::Run } else { TurnDecision::Nothing }
    }

    /// Starts a run, or leaves it to the worker that is running.
    fn start(&self, snapshot: &TurnSnapshot<'_>, mut state: MutexGuard<'_, ExtractionState>) {
        let Some(run) = self.run(snapshot, state.cursor.seen) else { return };
        state.next = Some(run);
        if !state.running {
            self.spawn_worker(snapshot, state, Vec::new());
        }
    }

    fn spawn_worker(
        &self,
        snapshot: &TurnSnapshot<'_>,
        mut state: MutexGuard<'_, ExtractionState>,
        queued: Vec<PendingTranscript>,
    ) {
        state.running = true;
        state.turns = 0;
        drop(state);
        // The conversation is copied only where queued transcripts need it.
        let template = if queued.is_empty() { None } else { self.run(snapshot, None) };
        let queued_runs = template.zip(self.queue.clone()).map(|(template, queue)| QueuedRuns {
            queue,
            queued,
            template,
        });
        let state = self.state.clone();
        let session = snapshot.session_folder().clone();
        snapshot.jobs().spawn(EXTRACTION, |job| work(queued_runs, session, state, job));
    }

    fn run(&self, snapshot: &TurnSnapshot<'_>, seen: Option<MessageId>) -> Option<ExtractionRun> {
        Some(ExtractionRun {
            source: snapshot.fork_source(),
            memory: Arc::clone(snapshot.memory()?),
            session: snapshot.session().to_string(),
            messages: snapshot.messages().to_vec(),
            is_own_conversation: true,
            seen,
            metrics: snapshot.figures().clone(),
            guard: if self.rules.guarded { EchoGuard::On } else { EchoGuard::Off },
            window: snapshot.budget().effective.into(),
        })
    }

    fn is_possible(snapshot: &TurnSnapshot<'_>) -> bool {
        snapshot.memory().is_some() && snapshot.has_tool(NEEDED_TOOL)
    }
}

/// The tokens of what the user and the model wrote.
fn written_tokens(texts: &[AttributedText]) -> u64 {
    let is_source =
        |text: &&AttributedText| matches!(text.attribution, Attribution::User | Attribution::Model);
    texts.iter().filter(is_source).map(|text| u64::from(estimate_text(&text.text))).sum()
}

/// Whether a compaction is near that would take much of the new messages away.
fn is_lost_soon(snapshot: &TurnSnapshot<'_>, new: &[Arc<Message>]) -> bool {
    let compacts_at = u64::from(snapshot.budget().auto_compact);
    let all: u64 = new.iter().map(|message| message.tokens()).sum();
    snapshot.tokens() * 100 >= compacts_at * NEARLY_FULL_PERCENT
        && all >= MUCH_SAID.min(compacts_at / 10)
}

impl BackgroundTask for Extraction {
    fn on_idle(&self, snapshot: &TurnSnapshot<'_>) {
        if !snapshot.is_turn_end() || !Self::is_possible(snapshot) {
            return;
        }
        let mut state = self.state.lock();
        state.switch_to(snapshot.session_folder());
        match self.decide(snapshot, &mut state) {
            TurnDecision::Nothing => {}
            TurnDecision::Skip(last) => {
                let cursor = Cursor { seen: Some(last), due: false };
                // If this fails, the next turn skips the same messages again.
                let _skipped_again = state.move_cursor(snapshot.session_folder(), cursor);
            }
            TurnDecision::Run => self.start(snapshot, state),
        }
    }

    /// Looks at what was said since the last run, whatever it is.
    fn on_pause(&self, snapshot: &TurnSnapshot<'_>) {
        if !Self::is_possible(snapshot) {
            return;
        }
        let mut state = self.state.lock();
        state.switch_to(snapshot.session_folder());
        let new = window::messages_since(snapshot.messages(), state.cursor.seen);
        let waits = state.running || state.next.is_some();
        if waits || window::count_written(new) == 0 {
            return;
        }
        if let TurnDecision::Run = Self::run_if_affordable(snapshot) {
            self.start(snapshot, state);
        }
    }

    /// Makes up for the run that an earlier process did not finish (B-12).
    fn on_open(&self, snapshot: &TurnSnapshot<'_>) {
        if !Self::is_possible(snapshot) {
            return;
        }
        let mut state = self.state.lock();
        state.switch_to(snapshot.session_folder());
        if state.running || snapshot.quota_is_low() {
            return;
        }
        let unseen = window::messages_since(snapshot.messages(), state.cursor.seen);
        let was_put_off = state.cursor.due || state.cursor.seen.is_some();
        if was_put_off && window::count_written(unseen) > 0 {
            state.next = self.run(snapshot, state.cursor.seen);
        }
        let queued = self.queue.as_ref().map(TranscriptQueue::list).unwrap_or_default();
        if state.next.is_some() || !queued.is_empty() {
            self.spawn_worker(snapshot, state, queued);
        }
    }
}
