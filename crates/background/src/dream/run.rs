//! A dream, from its locks to its report (B-20 to B-24).
//!
//! Invariants: nothing but the copies is touched until the fork has come to its end and its draft is judged; then
//! each memory gets one change. Whatever ends a dream before leaves the memories, and the time of the last dream, as
//! they were.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::SessionId;
use dormouse_engine::{
    Bell, DreamNews, ForkEnd, ForkGate, ForkOrder, ForkReport, ForkSource, JobHandle, Writes,
    memory_tools,
};
use dormouse_memory::{Author, By, ChangeError, DreamLockError, FileDiff, Scope, Store, Trial};
use jiff::Timestamp;
use serde_json::value::{RawValue, to_raw_value};

use super::gates::{DreamBlocked, check_last};
use super::prompt::prompt;
use super::provenance::DreamProvenance;
use super::report::{DreamReport, DreamStatus, MemoryReport, presentable};
use super::setup::DreamSetup;
use super::workspace::DreamWorkspace;

/// What the job is called.
pub(super) const KIND: &str = "dream";
/// The most requests that a dream makes.
const TURNS: u32 = 40;
/// The longest that it takes.
const LONGEST: Duration = Duration::from_mins(30);
/// The tools that change the copies, and those that look at them.
const TOOLS: &[&str] = &["MemorySave", "MemoryDelete", "MemoryList", "MemorySearch"];

/// Whether the time of the last dream matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DreamTiming {
    /// Where a dream is due.
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
    trial: Trial,
}

/// A dream, afterwards.
#[derive(Debug, Clone)]
pub struct DreamOutcome {
    /// What it came to.
    pub report: DreamReport,
    /// What it did to each memory, or would do.
    pub diffs: Vec<(Scope, Vec<FileDiff>)>,
    /// Calls that were denied.
    pub(super) denied: u32,
}

impl Dream {
    /// Takes the locks and copies the memories. The project's memory has to be free; where another project's dream
    /// has the person's, that is left out.
    pub(super) fn begin(
        setup: &Arc<DreamSetup>,
        sessions: Vec<SessionId>,
        when: DreamTiming,
        trial: Trial,
    ) -> Result<Self, DreamBlocked> {
        let now = setup.clock.now();
        let (mut workspaces, mut left_out): (Vec<DreamWorkspace>, Vec<String>) =
            (Vec::new(), Vec::new());
        let (id, undone) = (setup.new_id(), setup.undone());
        for store in setup.stores() {
            match workspace(store, &id, (when, now), &undone) {
                Ok(workspace) => workspaces.push(workspace),
                Err(closed) if workspaces.is_empty() => return Err(closed),
                Err(closed) => left_out.push(format!("the {} memory: {closed}", store.scope())),
            }
        }
        if workspaces.is_empty() {
            return Err(DreamBlocked::Cannot("there is no memory here to dream about".to_owned()));
        }
        let prompt = prompt(&workspaces, (setup.sessions.path(), &sessions), now)
            .map_err(|error| DreamBlocked::Cannot(error.to_string()))?;
        let setup = Arc::clone(setup);
        Ok(Self { id, began: now, setup, workspaces, left_out, sessions, prompt, trial })
    }

    /// A folder that goes with the dream.
    pub(super) fn folder(&self) -> PathBuf {
        self.workspaces
            .first()
            .map(|workspace| workspace.draft.folder().join("session"))
            .unwrap_or_default()
    }

    /// Dreams. Dropping this ends it, and nothing has changed.
    pub(super) async fn run(mut self, seed: ForkSource, job: Option<JobHandle>) -> DreamOutcome {
        let bell = seed.bell().clone();
        let scopes: Vec<String> =
            self.workspaces.iter().map(|workspace| workspace.store.scope().to_string()).collect();
        bell.dream_starts(&self.id, self.sessions.len(), &scopes).await;
        let report = self.report(DreamStatus::Killed);
        let mut killed = KillReport(Some(report), self.keeper(), bell.clone());
        let drafts: Vec<_> =
            self.workspaces.iter().map(|workspace| Arc::clone(&workspace.draft)).collect();
        let logs = self.workspaces.iter().flat_map(|workspace| workspace.logs.clone()).collect();
        let said = (self.setup.sessions.clone(), self.sessions.clone());
        let access = Arc::clone(&self.setup.access);
        let ground =
            Arc::new(DreamProvenance::new(access, drafts.clone(), logs, said, job.clone()));
        let order = ForkOrder {
            purpose: KIND,
            message: std::mem::take(&mut self.prompt),
            gate: ForkGate { reads: true, writes: Writes::Nowhere, tools: TOOLS },
            tools: memory_tools(&self.setup.access.over_drafts(drafts, Arc::clone(&ground) as _)),
            most_turns: TURNS,
        };
        let fork = tokio::time::timeout(LONGEST, seed.run(order, job.as_ref())).await.ok();
        killed.0 = None;
        // What is begun now comes to its end, whoever stops waiting for it: the locks go with it.
        let finished =
            tokio::task::spawn_blocking(move || self.finish(fork.as_ref(), ground.refused()));
        let outcome = match finished.await {
            Ok(outcome) => outcome,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        };
        let told = ReportNotice::of(&outcome.report);
        bell.dream_ends(told.news(&outcome.report)).await;
        outcome
    }

    /// Judges, applies, reports.
    fn finish(self, fork: Option<&ForkReport>, refused: Vec<String>) -> DreamOutcome {
        let mut report = self.report(DreamStatus::Failed);
        report.refused = refused;
        let denied = fork.map_or(0, |fork| fork.denied);
        if let Some(fork) = fork {
            (report.turns, report.said) = (fork.turns, presentable(fork.text.trim()));
            report.refused.extend(fork.denials.iter().map(|why| presentable(why)));
        }
        let mut diffs = Vec::new();
        match check_fork_end(fork).and_then(|()| self.apply(&mut report.memories, &mut diffs)) {
            Ok(()) if self.trial == Trial::Preview => report.status = DreamStatus::Previewed,
            Ok(()) => report.status = DreamStatus::Completed,
            Err(why) => report.why = Some(why),
        }
        report.ended = self.setup.clock.now();
        if self.trial == Trial::Make {
            keep(self.keeper().as_ref(), &mut report);
        }
        DreamOutcome { report, diffs, denied }
    }

    /// Applies all drafts, or none: one that went wrong says something about the others.
    fn apply(
        &self,
        memories: &mut Vec<MemoryReport>,
        diffs: &mut Vec<(Scope, Vec<FileDiff>)>,
    ) -> Result<(), String> {
        let said = |error: ChangeError| error.to_string();
        let mut drawn = Vec::new();
        for workspace in &self.workspaces {
            drawn.push(
                workspace.draft.drawn().map_err(said)?.map_err(|rejected| rejected.to_string())?,
            );
        }
        let by = By::new(Author::Dream, "merged what many sessions learned").part_of(&self.id);
        for (workspace, drawn) in self.workspaces.iter().zip(drawn) {
            let (report, applied) = workspace.apply(&by, drawn, self.trial).map_err(said)?;
            memories.push(report);
            diffs.push((workspace.store.scope(), applied.diffs));
        }
        if self.trial == Trial::Make {
            let now = self.setup.clock.now();
            self.workspaces
                .iter()
                .try_for_each(|workspace| workspace.mark_completed(&self.id, now))
                .map_err(said)?;
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

    /// The store that keeps the reports: the project's.
    fn keeper(&self) -> Option<Arc<Store>> {
        self.workspaces
            .first()
            .map(|workspace| Arc::clone(&workspace.store))
            .filter(|_| self.trial == Trial::Make)
    }
}

fn workspace(
    store: &Arc<Store>,
    dream: &str,
    (when, now): (DreamTiming, Timestamp),
    undone: &BTreeSet<String>,
) -> Result<DreamWorkspace, DreamBlocked> {
    let check = || match when {
        DreamTiming::Now => Ok(()),
        DreamTiming::IfDue => {
            let last =
                store.last_dream().map_err(|error| DreamBlocked::Cannot(error.to_string()))?;
            check_last(last, now)
        }
    };
    check()?;
    let workspace = DreamWorkspace::open(store, dream, undone).map_err(|error| match error {
        DreamLockError::Held(holder) => DreamBlocked::Held(holder),
        other => DreamBlocked::Cannot(other.to_string()),
    })?;
    // Another dream may have come to its end just before this one got the lock.
    check().map(|()| workspace)
}

fn check_fork_end(fork: Option<&ForkReport>) -> Result<(), String> {
    match fork.map(|fork| &fork.end) {
        Some(ForkEnd::Completed) => Ok(()),
        Some(ForkEnd::Cut) => Err("its last answer reached the token limit".to_owned()),
        Some(ForkEnd::MaxTurns) => Err(format!("it was not done after {TURNS} requests")),
        Some(ForkEnd::Failed(error)) => Err(format!("the model could not be asked: {error}")),
        None => Err(format!("it was not done after {} minutes", LONGEST.as_secs() / 60)),
    }
}

fn keep(store: Option<&Arc<Store>>, report: &mut DreamReport) {
    let Some(store) = store else { return };
    // Texts and numbers have no way to fail to serialise.
    let bytes = serde_json::to_vec(report).unwrap_or_default();
    if let Err(error) = store.keep_dream(&report.id, &bytes) {
        report.left_out.push(format!("this report is not kept: {error}"));
    }
}

/// Reports a dream that somebody ended, when it goes.
struct KillReport(Option<DreamReport>, Option<Arc<Store>>, Bell);

impl Drop for KillReport {
    fn drop(&mut self) {
        if let Some(mut report) = self.0.take() {
            keep(self.1.as_ref(), &mut report);
            let told = ReportNotice::of(&report);
            self.2.dream_is_ended(told.news(&report));
        }
    }
}

/// A report, as hooks are told it.
struct ReportNotice {
    headline: String,
    status: String,
    json: Box<RawValue>,
}

impl ReportNotice {
    fn of(report: &DreamReport) -> Self {
        // Texts and numbers have no way to fail to serialise.
        let json = to_raw_value(report).unwrap_or_default();
        let status = serde_json::to_value(report.status).unwrap_or_default();
        let status = status.as_str().unwrap_or_default().to_owned();
        Self { headline: report.headline(), status, json }
    }

    fn news<'a>(&'a self, report: &'a DreamReport) -> DreamNews<'a> {
        DreamNews {
            id: &report.id,
            status: &self.status,
            improved: report.improved(),
            headline: &self.headline,
            report: &self.json,
        }
    }
}
