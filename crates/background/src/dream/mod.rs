//! Dreaming (B-17 to B-25): what many sessions learned is merged, beside a conversation or by hand.
//!
//! Invariants: a dream works on copies, and is applied as one change or not at all; nobody waits for it, and a turn
//! with nothing due looks at one file; the kernel's lock, and nothing else, says who dreams.

mod gates;
mod prompt;
mod provenance;
mod report;
mod run;
mod setup;
mod workspace;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::SessionId;
use dormouse_engine::{
    BackgroundTask, ForkSource, JobEnd, JobHandle, JobStatus, Jobs, TurnSnapshot,
};
use dormouse_memory::Trial;
use jiff::Timestamp;

pub use gates::{BETWEEN_DREAMS, BETWEEN_SCANS, DreamBlocked, OTHER_SESSIONS};
use gates::{check_cheap_gates, check_session_gates};
pub use report::{DreamAction, DreamReport, DreamStatus, MemoryReport, dream_reports};
use run::{Dream, KIND};
pub use run::{DreamOutcome, DreamTiming};
use setup::CurrentFacts;
pub use setup::DreamSetup;

/// The tool that a conversation must have for a fork of it to dream.
const NEEDED: &str = "MemorySave";

/// Dreams beside conversations.
pub struct DreamTask {
    setup: Arc<DreamSetup>,
    /// Why it does not dream by itself, where it does not.
    switches: Result<(), String>,
    /// DreamTiming the sessions were last counted.
    scanned: Mutex<Option<Timestamp>>,
}

impl DreamTask {
    /// Dreams by itself, unless `switches` says why not.
    pub fn new(setup: DreamSetup, switches: Result<(), String>) -> Self {
        Self { setup: Arc::new(setup), switches, scanned: Mutex::default() }
    }

    /// Starts a dream beside a conversation, at once. What it came to is in the list of jobs, and the person is told.
    pub fn start(
        &self,
        jobs: &Jobs,
        seed: ForkSource,
        current: SessionId,
    ) -> Result<(), DreamBlocked> {
        if jobs.is_running(KIND) {
            return Err(DreamBlocked::Held(None));
        }
        check_tools(&seed)?;
        let setup = Arc::clone(&self.setup);
        jobs.spawn(KIND, |job| work(setup, seed, job, DreamTrigger::Anyway(current)));
        Ok(())
    }

    fn facts(&self, current: SessionId) -> CurrentFacts<'_> {
        let (switches, scanned) = (self.switches.clone(), *self.last_scan());
        CurrentFacts { setup: &self.setup, switches, scanned, current: Some(current) }
    }

    fn last_scan(&self) -> MutexGuard<'_, Option<Timestamp>> {
        self.scanned.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BackgroundTask for DreamTask {
    fn on_idle(&self, snapshot: &TurnSnapshot<'_>) {
        let busy = snapshot.jobs().is_running(KIND) || snapshot.quota_is_low();
        if !snapshot.is_turn_end() || busy || !snapshot.has_tool(NEEDED) {
            return;
        }
        let (current, now) = (snapshot.session(), self.setup.clock.now());
        let Ok(last) = check_cheap_gates(&mut self.facts(current), now) else { return };
        *self.last_scan() = Some(now);
        let seed = snapshot.fork_source();
        // A long conversation would be read with every request: the dream has no use for it.
        let is_long = snapshot.tokens() * 2 > u64::from(snapshot.budget().window);
        let seed = if is_long { seed.with_messages([]) } else { seed };
        let setup = Arc::clone(&self.setup);
        snapshot
            .jobs()
            .spawn(KIND, |job| work(setup, seed, job, DreamTrigger::IfSessions(current, last)));
    }
}

fn check_tools(seed: &ForkSource) -> Result<(), DreamBlocked> {
    if seed.has_tool(NEEDED) {
        return Ok(());
    }
    Err(DreamBlocked::Cannot(format!(
        "this conversation has no {NEEDED}, which a dream beside it needs; `dormouse dream` works on its own"
    )))
}

/// Why a dream begins.
#[derive(Clone, Copy)]
enum DreamTrigger {
    /// Somebody wants it, in this session.
    Anyway(SessionId),
    /// If enough other sessions have gone on since the last dream.
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
    // Where nothing was changed there is nothing to take back, and nobody needs to hear of it.
    if report.improved() > 0 {
        setup.access.say(notice(&report));
    }
    let status = match (report.status, &report.why) {
        (DreamStatus::Failed, Some(why)) => JobStatus::Failed(why.clone()),
        (DreamStatus::Failed, None) => JobStatus::Failed("it came to nothing".to_owned()),
        (DreamStatus::Killed, _) => JobStatus::Killed,
        (DreamStatus::Completed | DreamStatus::Previewed, _) => JobStatus::Completed,
    };
    let (turns, messages) = (report.turns.into(), report.sessions as u64);
    JobEnd { status, turns, messages, denied: denied.into() }
}

/// What the person is told about a dream.
fn notice(report: &DreamReport) -> String {
    let waiting = report.deeds().filter(|deed| deed.fate == "waits").count();
    let waiting =
        if waiting > 0 { format!("; {waiting} more in the inbox") } else { String::new() };
    format!("{} in a dream{waiting}", report.headline())
}

fn begin(setup: &Arc<DreamSetup>, due: DreamTrigger) -> Result<Dream, DreamBlocked> {
    match due {
        DreamTrigger::Anyway(current) => now(setup, Some(current), Trial::Make),
        DreamTrigger::IfSessions(current, last) => {
            let switches = Ok(());
            let mut facts = CurrentFacts { setup, switches, scanned: None, current: Some(current) };
            let sessions = check_session_gates(&mut facts, last)?;
            Dream::begin(setup, sessions, DreamTiming::IfDue, Trial::Make)
        }
    }
}

/// A dream that asks for nothing but the lock.
fn now(
    setup: &Arc<DreamSetup>,
    current: Option<SessionId>,
    trial: Trial,
) -> Result<Dream, DreamBlocked> {
    let last = setup.stores().next().and_then(|store| store.last_dream().ok().flatten());
    let sessions = setup.sessions_since(last, current).map_err(DreamBlocked::Cannot)?;
    Dream::begin(setup, sessions, DreamTiming::Now, trial)
}

/// A dream by hand (B-25), without a conversation: `seed` makes one that nobody has, in a folder that goes with the
/// dream, once it is sure that there is one. Only the gates that say when count, and with
/// [`DreamTiming::Now`] not even these.
pub async fn dream(
    setup: DreamSetup,
    seed: impl AsyncFnOnce(&Path) -> Result<ForkSource, String>,
    when: DreamTiming,
    trial: Trial,
) -> Result<DreamOutcome, DreamBlocked> {
    let setup = Arc::new(setup);
    let begun = match when {
        DreamTiming::Now => now(&setup, None, trial)?,
        DreamTiming::IfDue => {
            let mut facts =
                CurrentFacts { setup: &setup, switches: Ok(()), scanned: None, current: None };
            let last = check_cheap_gates(&mut facts, setup.clock.now())?;
            let sessions = check_session_gates(&mut facts, last)?;
            Dream::begin(&setup, sessions, DreamTiming::IfDue, trial)?
        }
    };
    let seed = seed(&begun.folder()).await.map_err(DreamBlocked::Cannot)?;
    Ok(begun.run(seed, None).await)
}
