//! Dreams (B-17 to B-25): the memories of many sessions are merged, in the background or by a command.
//!
//! Invariants: a dream works on copies, and is applied as one change or not at all; a turn never waits for it, and with
//! nothing due looks at one file; only the holder of the kernel's lock dreams.

mod gates;
mod prompt;
mod report;
mod run;
mod setup;
mod source_check;
mod workspace;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::SessionId;
use dormouse_conversation::known_tools::MEMORY_SAVE;
use dormouse_engine::{
    BackgroundTask, ForkSource, JobEnd, JobHandle, JobStatus, Jobs, TurnSnapshot,
};
use dormouse_memory::ApplyMode;
use jiff::Timestamp;

pub use gates::{BETWEEN_DREAMS, BETWEEN_SCANS, DreamBlocked, OTHER_SESSIONS};
use gates::{check_cheap_gates, check_session_gates};
pub use report::{DreamAction, DreamReport, DreamStatus, MemoryReport, dream_reports};
use run::{Dream, KIND};
pub use run::{DreamOutcome, DreamTiming};
use setup::CurrentFacts;
pub use setup::DreamSetup;

/// The tool that a conversation needs for a fork of it to dream.
const NEEDED_TOOL: &str = MEMORY_SAVE.name;

/// The background task that dreams.
pub struct DreamTask {
    setup: Arc<DreamSetup>,
    /// Why it does not start dreams itself, if it does not.
    disabled: Option<String>,
    /// When the sessions were last counted.
    scanned: Mutex<Option<Timestamp>>,
}

impl DreamTask {
    /// Starts dreams itself, unless it is disabled for a reason.
    pub fn new(setup: DreamSetup, disabled: Option<String>) -> Self {
        Self { setup: Arc::new(setup), disabled, scanned: Mutex::default() }
    }

    /// Starts a dream in the background at once. The list of jobs has its result, and the user gets a notice. `window` is
    /// the size of the context window in tokens.
    pub fn start(
        &self,
        jobs: &Jobs,
        seed: ForkSource,
        current: SessionId,
        window: u32,
    ) -> Result<(), DreamBlocked> {
        if jobs.is_running(KIND) {
            return Err(DreamBlocked::Held(None));
        }
        check_tools(&seed)?;
        let seed = without_long_conversation(seed, window);
        let setup = Arc::clone(&self.setup);
        jobs.spawn(KIND, |job| work(setup, seed, job, DreamTrigger::Requested(current)));
        Ok(())
    }

    fn facts(&self, current: SessionId) -> CurrentFacts<'_> {
        CurrentFacts {
            setup: &self.setup,
            disabled: self.disabled.clone(),
            scanned: *self.last_scan(),
            current: Some(current),
        }
    }

    fn last_scan(&self) -> MutexGuard<'_, Option<Timestamp>> {
        self.scanned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BackgroundTask for DreamTask {
    fn on_idle(&self, snapshot: &TurnSnapshot<'_>) {
        let busy = snapshot.jobs().is_running(KIND) || snapshot.quota_is_low();
        let has_memory = snapshot.memory().is_some() && snapshot.has_tool(NEEDED_TOOL);
        if !snapshot.is_turn_end() || busy || !has_memory {
            return;
        }
        let (current, now) = (snapshot.session(), self.setup.clock.now());
        let Ok(last) = check_cheap_gates(&mut self.facts(current), now) else { return };
        *self.last_scan() = Some(now);
        let seed = without_long_conversation(snapshot.fork_source(), snapshot.budget().window);
        let setup = Arc::clone(&self.setup);
        snapshot
            .jobs()
            .spawn(KIND, |job| work(setup, seed, job, DreamTrigger::IfSessions(current, last)));
    }
}

/// A dream has no use for a long conversation, which every request would read.
fn without_long_conversation(seed: ForkSource, window: u32) -> ForkSource {
    let is_long = seed.tokens() * 2 > u64::from(window);
    if is_long { seed.with_messages([]) } else { seed }
}

fn check_tools(seed: &ForkSource) -> Result<(), DreamBlocked> {
    if seed.has_tool(NEEDED_TOOL) {
        return Ok(());
    }
    Err(DreamBlocked::Cannot(format!(
        "this conversation has no {NEEDED_TOOL} tool, which a dream needs; run `dormouse dream` instead"
    )))
}

/// Why a dream starts.
#[derive(Clone, Copy)]
enum DreamTrigger {
    /// The user asked for it in this session.
    Requested(SessionId),
    /// Enough other sessions may have been active since the last dream.
    IfSessions(SessionId, Option<Timestamp>),
}

/// A dream as a job.
async fn work(
    setup: Arc<DreamSetup>,
    seed: ForkSource,
    job: JobHandle,
    due: DreamTrigger,
) -> JobEnd {
    let begun = {
        let setup = Arc::clone(&setup);
        tokio::task::spawn_blocking(move || begin(&setup, due)).await
    };
    let dream = match begun {
        Ok(Ok(dream)) => dream,
        Ok(Err(closed)) => {
            job.said(&closed.to_string());
            return JobEnd::of(JobStatus::Skipped);
        }
        Err(error) => return JobEnd::of(JobStatus::Failed(error.to_string())),
    };
    let DreamOutcome { report, denied, .. } = dream.run(seed, Some(job.clone())).await;
    job.said(&report.headline());
    // Without a change there is nothing to undo and nothing to report.
    if report.improved() > 0 {
        setup.access.notices().add(notice(&report));
    }
    let status = match (report.status, &report.why) {
        (DreamStatus::Failed, Some(why)) => JobStatus::Failed(why.clone()),
        (DreamStatus::Failed, None) => JobStatus::Failed("failed for an unknown reason".to_owned()),
        (DreamStatus::Killed, _) => JobStatus::Killed,
        (DreamStatus::Completed | DreamStatus::Previewed, _) => JobStatus::Completed,
    };
    JobEnd {
        status,
        turns: report.turns.into(),
        messages: report.sessions as u64,
        denied: denied.into(),
    }
}

/// The notice about a dream.
fn notice(report: &DreamReport) -> String {
    let waiting = report.deeds().filter(|deed| deed.fate == "waits").count();
    let waiting =
        if waiting > 0 { format!("; {waiting} more in the inbox") } else { String::new() };
    format!("{} in a dream{waiting}", report.headline())
}

fn begin(setup: &Arc<DreamSetup>, due: DreamTrigger) -> Result<Dream, DreamBlocked> {
    match due {
        DreamTrigger::Requested(current) => now(setup, Some(current), ApplyMode::Apply),
        DreamTrigger::IfSessions(current, last) => {
            let current = Some(current);
            let mut facts = CurrentFacts { setup, disabled: None, scanned: None, current };
            let sessions = check_session_gates(&mut facts, last)?;
            Dream::begin(setup, sessions, DreamTiming::IfDue, ApplyMode::Apply)
        }
    }
}

/// Starts a dream that needs nothing but the lock.
fn now(
    setup: &Arc<DreamSetup>,
    current: Option<SessionId>,
    trial: ApplyMode,
) -> Result<Dream, DreamBlocked> {
    let last =
        setup.stores().next().and_then(|store| store.dream_records().last_success().ok().flatten());
    let sessions = setup.sessions_since(last, current)?;
    Dream::begin(setup, sessions, DreamTiming::Now, trial)
}

/// Dreams without a session (B-25). `source` opens a conversation to fork, in a folder that is removed with the dream,
/// once the gates are open. Only the gates about time count; with [`DreamTiming::Now`] not even these.
pub async fn dream<E: std::fmt::Display>(
    setup: DreamSetup,
    source: impl AsyncFnOnce(&Path) -> Result<ForkSource, E>,
    when: DreamTiming,
    trial: ApplyMode,
) -> Result<DreamOutcome, DreamBlocked> {
    let setup = Arc::new(setup);
    let begun = match when {
        DreamTiming::Now => now(&setup, None, trial)?,
        DreamTiming::IfDue => {
            let mut facts =
                CurrentFacts { setup: &setup, disabled: None, scanned: None, current: None };
            let last = check_cheap_gates(&mut facts, setup.clock.now())?;
            let sessions = check_session_gates(&mut facts, last)?;
            Dream::begin(&setup, sessions, DreamTiming::IfDue, trial)?
        }
    };
    let source = source(&begun.folder()).await.map_err(DreamBlocked::cannot)?;
    Ok(begun.run(source, None).await)
}
