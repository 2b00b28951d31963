//! A dream, from its locks to its report (B-20 to B-24).
//!
//! Invariants: only the drafts are written until the fork has ended and they are checked; then each memory directory
//! gets one change. A dream that ends before leaves the memories, and the time of the last dream, as they were.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::SessionId;
use dormouse_conversation::known_tools::{MEMORY_DELETE, MEMORY_LIST, MEMORY_SAVE, MEMORY_SEARCH};
use dormouse_engine::{
    ForkEnd, ForkGate, ForkOrder, ForkReport, ForkSource, JobHandle, Writes, memory_tools,
};
use dormouse_hooks::{DreamEndEvent, HookNotifier};
use dormouse_memory::{
    ApplyMode, ChangeAuthor, ChangeError, ChangeOrigin, DraftRejection, DreamLockError, FileDiff,
    Scope, Store,
};
use jiff::Timestamp;
use serde_json::value::{RawValue, to_raw_value};
use thiserror::Error;

use super::gates::{DreamBlocked, check_last};
use super::prompt::prompt;
use super::report::{DreamReport, DreamStatus, MemoryReport, presentable};
use super::setup::DreamSetup;
use super::source_check::{DreamProvenance, DreamSessions};
use super::workspace::DreamWorkspace;

/// The kind of the job.
pub(super) const KIND: &str = "dream";
/// The most requests of a dream.
const MOST_REQUESTS: u32 = 40;
/// The longest duration of a dream.
const TIME_LIMIT: Duration = Duration::from_mins(30);
/// The tools that it may call besides reading files.
const TOOLS: &[&str] =
    &[MEMORY_SAVE.name, MEMORY_DELETE.name, MEMORY_LIST.name, MEMORY_SEARCH.name];

/// Whether the time of the last dream matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DreamTiming {
    /// Only if a dream is due.
    IfDue,
    /// At once.
    Now,
}

/// A dream that has its locks.
pub(super) struct Dream {
    id: String,
    began: Timestamp,
    setup: Arc<DreamSetup>,
    workspaces: Vec<DreamWorkspace>,
    left_out: Vec<String>,
    sessions: Vec<SessionId>,
    prompt: String,
    trial: ApplyMode,
}

/// The result of a dream.
#[derive(Debug, Clone)]
pub struct DreamOutcome {
    /// The report.
    pub report: DreamReport,
    /// Its changes to each memory directory; in a preview, those it would make.
    pub diffs: Vec<(Scope, Vec<FileDiff>)>,
    /// Calls that were denied.
    pub(super) denied: u32,
}

impl Dream {
    /// Takes the locks and copies the memories. Fails if the project's memory is locked; the user's memory is left out
    /// while the dream of another project holds it.
    pub(super) fn begin(
        setup: &Arc<DreamSetup>,
        sessions: Vec<SessionId>,
        when: DreamTiming,
        trial: ApplyMode,
    ) -> Result<Self, DreamBlocked> {
        let now = setup.clock.now();
        let mut workspaces: Vec<DreamWorkspace> = Vec::new();
        let mut left_out: Vec<String> = Vec::new();
        let id = setup.new_id();
        let undone = setup.undone();
        for store in setup.stores() {
            match open_workspace(store, &id, when, now, &undone) {
                Ok(workspace) => workspaces.push(workspace),
                Err(blocked) if workspaces.is_empty() => return Err(blocked),
                Err(blocked) => left_out.push(format!("the {} memory: {blocked}", store.scope())),
            }
        }
        if workspaces.is_empty() {
            return Err(DreamBlocked::no_memory());
        }
        let prompt = prompt(&workspaces, setup.sessions.path(), &sessions, now)
            .map_err(DreamBlocked::cannot)?;
        let setup = Arc::clone(setup);
        Ok(Self { id, began: now, setup, workspaces, left_out, sessions, prompt, trial })
    }

    /// A folder that is removed with the dream.
    pub(super) fn folder(&self) -> PathBuf {
        self.workspaces
            .first()
            .map(|workspace| workspace.draft.folder().join("session"))
            .unwrap_or_default()
    }

    /// Runs the dream. Dropping the future ends it without changes.
    pub(super) async fn run(mut self, source: ForkSource, job: Option<JobHandle>) -> DreamOutcome {
        let hooks = source.hook_notifier().clone();
        let scopes: Vec<String> =
            self.workspaces.iter().map(|workspace| workspace.store.scope().to_string()).collect();
        hooks.dream_start(&self.id, self.sessions.len(), &scopes).await;
        let report = self.report(DreamStatus::Killed);
        let mut killed = KillReport {
            report: Some(report),
            store: self.report_store(),
            hooks: hooks.clone(),
            job: job.clone(),
        };
        let drafts: Vec<_> =
            self.workspaces.iter().map(|workspace| Arc::clone(&workspace.draft)).collect();
        let logs = self.workspaces.iter().flat_map(|workspace| workspace.logs.clone()).collect();
        let sessions =
            DreamSessions { folder: self.setup.sessions.clone(), ids: self.sessions.clone() };
        let memory = Arc::clone(&self.setup.access);
        let check =
            Arc::new(DreamProvenance::new(memory, drafts.clone(), logs, sessions, job.clone()));
        let order = ForkOrder {
            purpose: KIND,
            message: std::mem::take(&mut self.prompt),
            gate: ForkGate { reads: true, writes: Writes::Nowhere, tools: TOOLS },
            tools: memory_tools(&self.setup.access.for_drafts(drafts, Arc::clone(&check) as _)),
            most_turns: MOST_REQUESTS,
            ends_after_changes: false,
        };
        let fork = tokio::time::timeout(TIME_LIMIT, source.run(order, job.as_ref())).await.ok();
        killed.report = None;
        // Runs to its end even if the future is dropped: it owns the locks.
        let finished =
            tokio::task::spawn_blocking(move || self.finish(fork.as_ref(), check.rejected()));
        let outcome = match finished.await {
            Ok(outcome) => outcome,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        let notice = ReportNotice::of(&outcome.report);
        hooks.dream_end(notice.news(&outcome.report)).await;
        outcome
    }

    /// Checks and applies the drafts, and makes the report.
    fn finish(self, fork: Option<&ForkReport>, refused: Vec<String>) -> DreamOutcome {
        let mut report = self.report(DreamStatus::Failed);
        report.refused = refused;
        let denied = fork.map_or(0, |fork| fork.denied);
        if let Some(fork) = fork {
            report.turns = fork.turns;
            report.said = presentable(fork.text.trim());
            report.refused.extend(fork.denials.iter().map(|why| presentable(why)));
        }
        let mut diffs = Vec::new();
        let applied =
            check_fork_end(fork).and_then(|()| self.apply(&mut report.memories, &mut diffs));
        match applied {
            Ok(()) if self.trial == ApplyMode::Preview => report.status = DreamStatus::Previewed,
            Ok(()) => report.status = DreamStatus::Completed,
            Err(error) => report.why = Some(error.to_string()),
        }
        report.ended = self.setup.clock.now();
        if self.trial == ApplyMode::Apply {
            save_report(self.report_store().as_ref(), &mut report);
        }
        DreamOutcome { report, diffs, denied }
    }

    /// Applies all drafts, or none: if one is bad, the others may be too.
    fn apply(
        &self,
        memories: &mut Vec<MemoryReport>,
        diffs: &mut Vec<(Scope, Vec<FileDiff>)>,
    ) -> Result<(), DreamError> {
        let mut drawn = Vec::new();
        for workspace in &self.workspaces {
            drawn.push(workspace.draft.plan()??);
        }
        let by = ChangeOrigin::new(ChangeAuthor::Dream, "merged what many sessions learned")
            .part_of(&self.id);
        for (workspace, drawn) in self.workspaces.iter().zip(drawn) {
            let (report, applied) = workspace.apply(&by, drawn, self.trial)?;
            memories.push(report);
            diffs.push((workspace.store.scope(), applied.diffs));
        }
        if self.trial == ApplyMode::Apply {
            let now = self.setup.clock.now();
            self.workspaces
                .iter()
                .try_for_each(|workspace| workspace.mark_completed(&self.id, now))?;
        }
        Ok(())
    }

    fn report(&self, status: DreamStatus) -> DreamReport {
        DreamReport {
            id: self.id.clone(),
            began: self.began,
            ended: self.began,
            status,
            why: None,
            sessions: self.sessions.len(),
            turns: 0,
            memories: Vec::new(),
            refused: Vec::new(),
            left_out: self.left_out.clone(),
            said: String::new(),
        }
    }

    /// The store that the report is saved in: the project's.
    fn report_store(&self) -> Option<Arc<Store>> {
        self.workspaces
            .first()
            .map(|workspace| Arc::clone(&workspace.store))
            .filter(|_| self.trial == ApplyMode::Apply)
    }
}

fn open_workspace(
    store: &Arc<Store>,
    dream: &str,
    when: DreamTiming,
    now: Timestamp,
    undone: &BTreeSet<String>,
) -> Result<DreamWorkspace, DreamBlocked> {
    let check = || match when {
        DreamTiming::Now => Ok(()),
        DreamTiming::IfDue => {
            let last = store.dream_records().last_success().map_err(DreamBlocked::cannot)?;
            check_last(last, now)
        }
    };
    check()?;
    let workspace = DreamWorkspace::open(store, dream, undone).map_err(|error| match error {
        DreamLockError::Held(holder) => DreamBlocked::Held(holder),
        other => DreamBlocked::Cannot(other.to_string()),
    })?;
    // Another dream may have ended just before this one got the lock.
    check().map(|()| workspace)
}

/// Why a dream is not applied.
#[derive(Debug, Error)]
enum DreamError {
    #[error("its last response was truncated at its token limit")]
    Truncated,
    #[error("it was not done after {MOST_REQUESTS} requests")]
    TooManyRequests,
    #[error("the request failed: {0}")]
    RequestFailed(String),
    #[error("it was not done after {} minutes", TIME_LIMIT.as_secs() / 60)]
    TimedOut,
    #[error(transparent)]
    DraftRejection(#[from] DraftRejection),
    #[error(transparent)]
    Change(#[from] ChangeError),
}

fn check_fork_end(fork: Option<&ForkReport>) -> Result<(), DreamError> {
    match fork.map(|fork| &fork.end) {
        Some(ForkEnd::Completed) => Ok(()),
        Some(ForkEnd::Cut | ForkEnd::Repeated) => Err(DreamError::Truncated),
        Some(ForkEnd::MaxTurns) => Err(DreamError::TooManyRequests),
        Some(ForkEnd::Failed(error)) => Err(DreamError::RequestFailed(error.to_string())),
        None => Err(DreamError::TimedOut),
    }
}

fn save_report(store: Option<&Arc<Store>>, report: &mut DreamReport) {
    let Some(store) = store else { return };
    // Texts and numbers always serialize.
    let bytes = serde_json::to_vec(report).unwrap_or_default();
    if let Err(error) = store.dream_records().save_report(&report.id, &bytes) {
        report.left_out.push(format!("this report could not be saved: {error}"));
    }
}

/// Reports a dream that was ended from outside, when it is dropped.
struct KillReport {
    report: Option<DreamReport>,
    store: Option<Arc<Store>>,
    hooks: HookNotifier,
    job: Option<JobHandle>,
}

impl Drop for KillReport {
    fn drop(&mut self) {
        if let Some(mut report) = self.report.take() {
            let requests = self.job.as_ref().map_or(0, JobHandle::requests);
            report.turns = u32::try_from(requests).unwrap_or(u32::MAX);
            save_report(self.store.as_ref(), &mut report);
            let notice = ReportNotice::of(&report);
            self.hooks.dream_end_in_background(notice.news(&report));
        }
    }
}

/// A report as hooks get it.
struct ReportNotice {
    headline: String,
    status: String,
    json: Box<RawValue>,
}

impl ReportNotice {
    fn of(report: &DreamReport) -> Self {
        // Texts and numbers always serialize.
        let json = to_raw_value(report).unwrap_or_default();
        let status = serde_json::to_value(report.status).unwrap_or_default();
        let status = status.as_str().unwrap_or_default().to_owned();
        Self { headline: report.headline(), status, json }
    }

    fn news<'a>(&'a self, report: &'a DreamReport) -> DreamEndEvent<'a> {
        DreamEndEvent {
            id: &report.id,
            status: &self.status,
            improved: report.improved(),
            headline: &self.headline,
            report: &self.json,
        }
    }
}
