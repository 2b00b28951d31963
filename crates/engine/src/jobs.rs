//! The jobs that run beside a conversation: what each is doing, what it has touched, and a way to end it.
//!
//! Invariants: a job never holds up a turn; one that is killed or fails changes nothing but its own record;
//! whoever leaves can wait for all of them, for as long as they choose.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dormouse_base::Clock;
use dormouse_conversation::metrics::{JobMetric, JobOutcome, Metric, SessionMetrics};
use jiff::Timestamp;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// The kind of job that is a subagent in the background.
pub const AGENT_JOB: &str = "agent";
/// Of what a job said, so many turns are kept.
const TURNS_KEPT: usize = 30;
/// Of jobs that have ended, so many are kept.
const ENDED_KEPT: usize = 50;

/// Which job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobId(u64);

impl std::fmt::Display for JobId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// How a job stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobStatus {
    /// It works.
    Running,
    /// It has done its work.
    Completed,
    /// There was nothing to do.
    Skipped,
    /// It could not.
    Failed(String),
    /// Somebody ended it.
    Killed,
}

impl JobStatus {
    fn outcome(&self) -> JobOutcome {
        match self {
            Self::Running | Self::Completed => JobOutcome::Completed,
            Self::Skipped => JobOutcome::Skipped,
            Self::Failed(_) => JobOutcome::Failed,
            Self::Killed => JobOutcome::Killed,
        }
    }
}

/// A job, as it can be shown.
#[derive(Debug, Clone)]
pub struct Job {
    /// Which.
    pub id: JobId,
    /// What it is, such as `session_notes`.
    pub kind: &'static str,
    /// What it is doing.
    pub phase: String,
    /// How it stands.
    pub status: JobStatus,
    /// Since when.
    pub since: Timestamp,
    /// Requests it has made so far.
    pub requests: u64,
    /// What it said, turn by turn, the newest last.
    pub turns: VecDeque<String>,
    /// The files that it has changed.
    pub files: Vec<PathBuf>,
    cancel: CancellationToken,
}

/// What a job came to.
#[derive(Debug, Clone)]
pub struct JobEnd {
    /// How it stands now.
    pub status: JobStatus,
    /// Requests it made.
    pub turns: u64,
    /// Messages it looked at.
    pub messages: u64,
    /// Calls that its gate denied.
    pub denied: u64,
}

#[derive(Debug, Default)]
struct Inner {
    jobs: Vec<Job>,
    begun: u64,
    /// The failures that the user was told of.
    told: BTreeSet<JobFailure>,
}

/// A kind of job that failed, and why.
pub type JobFailure = (&'static str, String);

/// The jobs of a session. Clones are the same list. What still runs when the last of them goes is ended.
#[derive(Clone)]
pub struct Jobs {
    ledger: Ledger,
    tasks: Arc<Mutex<JoinSet<()>>>,
}

/// What is written down about them.
#[derive(Clone)]
struct Ledger {
    inner: Arc<Mutex<Inner>>,
    running: watch::Sender<usize>,
    clock: Arc<dyn Clock>,
    figures: SessionMetrics,
}

/// A job, for whoever does it.
#[derive(Clone)]
pub struct JobHandle {
    id: JobId,
    ledger: Ledger,
    /// Fires when the job is to end.
    pub cancel: CancellationToken,
}

impl Jobs {
    /// None yet.
    pub fn new(clock: Arc<dyn Clock>, figures: SessionMetrics) -> Self {
        let (inner, running) = (Arc::default(), watch::Sender::new(0));
        Self { ledger: Ledger { inner, running, clock, figures }, tasks: Arc::default() }
    }

    /// Starts a job beside the conversation. What it comes to is written down.
    pub fn spawn<F>(&self, kind: &'static str, work: impl FnOnce(JobHandle) -> F)
    where
        F: Future<Output = JobEnd> + Send + 'static,
    {
        let handle = self.ledger.begin(kind);
        let work = work(handle.clone());
        let since = self.ledger.clock.elapsed();
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(async move {
            let end = tokio::select! {
                biased;
                end = work => end,
                () = handle.cancel.cancelled() => {
                    JobEnd { turns: handle.requests(), ..JobEnd::of(JobStatus::Killed) }
                }
            };
            handle.end(end, since);
        });
    }

    /// All of them, the oldest first.
    pub fn list(&self) -> Vec<Job> {
        self.ledger.lock().jobs.clone()
    }

    /// Whether one of this kind runs.
    pub fn is_running(&self, kind: &str) -> bool {
        let running = |job: &Job| job.kind == kind && job.status == JobStatus::Running;
        self.ledger.lock().jobs.iter().any(running)
    }

    /// The failures that were not returned before: what fails again for the same reason is told once.
    pub fn take_failures(&self) -> Vec<JobFailure> {
        let mut inner = self.ledger.lock();
        let failure = |job: &Job| match &job.status {
            JobStatus::Failed(why) => Some((job.kind, why.clone())),
            _ => None,
        };
        let mut failures: Vec<JobFailure> = inner.jobs.iter().filter_map(failure).collect();
        failures.retain(|failure| inner.told.insert(failure.clone()));
        failures
    }

    /// Ends a job; false if there is none of this number that runs.
    pub fn kill(&self, id: JobId) -> bool {
        let running = |job: &&Job| job.id == id && job.status == JobStatus::Running;
        self.ledger.lock().jobs.iter().find(running).inspect(|job| job.cancel.cancel()).is_some()
    }

    /// Ends all of them.
    pub fn kill_all(&self) {
        self.ledger.lock().jobs.iter().for_each(|job| job.cancel.cancel());
    }

    /// Waits until none of these kinds runs; false if that took too long.
    pub async fn drained(&self, kinds: &[&str], patience: Duration) -> bool {
        let mut running = self.ledger.running.subscribe();
        let busy = || kinds.iter().any(|kind| self.is_running(kind));
        let none = async {
            while busy() {
                // Whoever counts them lives as long as this.
                if running.changed().await.is_err() {
                    return false;
                }
            }
            true
        };
        tokio::time::timeout(patience, none).await.unwrap_or(false)
    }
}

impl Ledger {
    fn begin(&self, kind: &'static str) -> JobHandle {
        let mut inner = self.lock();
        inner.begun += 1;
        let (id, cancel) = (JobId(inner.begun), CancellationToken::new());
        inner.jobs.push(Job {
            id,
            kind,
            phase: "starting".to_owned(),
            status: JobStatus::Running,
            since: self.clock.now(),
            requests: 0,
            turns: VecDeque::new(),
            files: Vec::new(),
            cancel: cancel.clone(),
        });
        self.running.send_modify(|running| *running += 1);
        JobHandle { id, ledger: self.clone(), cancel }
    }

    fn forget_old(&self) {
        let mut inner = self.lock();
        let ended = inner.jobs.iter().filter(|job| job.status != JobStatus::Running).count();
        let mut surplus = ended.saturating_sub(ENDED_KEPT);
        inner.jobs.retain(|job| {
            let forget = surplus > 0 && job.status != JobStatus::Running;
            surplus -= usize::from(forget);
            !forget
        });
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl JobEnd {
    /// An end of which there is nothing more to tell.
    pub fn of(status: JobStatus) -> Self {
        Self { status, turns: 0, messages: 0, denied: 0 }
    }
}

impl JobHandle {
    fn end(&self, end: JobEnd, since: Duration) {
        let ledger = &self.ledger;
        let took = ledger.clock.elapsed().saturating_sub(since);
        let mut figure = JobMetric {
            outcome: end.status.outcome(),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            turns: end.turns,
            messages: end.messages,
            denied: end.denied,
            ..JobMetric::default()
        };
        self.update(|job| {
            job.kind.clone_into(&mut figure.name);
            figure.changed = u64::try_from(job.files.len()).unwrap_or(u64::MAX);
            job.status = end.status;
        });
        ledger.figures.record(&Metric::Job(figure));
        ledger.forget_old();
        ledger.running.send_modify(|running| *running = running.saturating_sub(1));
    }

    /// What the job is doing now.
    pub fn phase(&self, phase: &str) {
        self.update(|job| phase.clone_into(&mut job.phase));
    }

    /// It makes a request.
    pub(crate) fn requested(&self) {
        self.update(|job| job.requests += 1);
    }

    /// How many requests it has made.
    pub fn requests(&self) -> u64 {
        let mut requests = 0;
        self.update(|job| requests = job.requests);
        requests
    }

    /// What it said in a turn.
    pub fn said(&self, turn: &str) {
        self.update(|job| {
            if job.turns.len() >= TURNS_KEPT {
                job.turns.pop_front();
            }
            job.turns.push_back(turn.to_owned());
        });
    }

    /// It has changed a file.
    pub fn touched(&self, file: PathBuf) {
        self.update(|job| {
            if !job.files.contains(&file) {
                job.files.push(file);
            }
        });
    }

    fn update(&self, change: impl FnOnce(&mut Job)) {
        if let Some(job) = self.ledger.lock().jobs.iter_mut().find(|job| job.id == self.id) {
            change(job);
        }
    }
}
