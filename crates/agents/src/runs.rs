//! Who runs, and who ran: what each is doing, what it has cost, where its side chain is.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::AgentId;
use dormouse_conversation::Usage;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

/// Of what an agent called, so many are kept.
const CALLS_KEPT: usize = 5;
/// Of agents that have ended, so many are kept.
const ENDED_KEPT: usize = 200;

/// How a run stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunStatus {
    /// It works.
    Running,
    /// It has answered.
    Done,
    /// It could not, for this reason.
    Failed(String),
    /// Somebody ended it.
    Stopped,
}

/// One run of an agent.
#[derive(Debug, Clone)]
pub struct SubagentRun {
    /// Which.
    pub id: AgentId,
    /// What it is called: by messages, and in lists.
    pub name: String,
    /// What kind of agent it is; `fork` for a fork.
    pub agent_type: String,
    /// What it is for, in a few words.
    pub description: String,
    /// How many conversations are above it.
    pub depth: u8,
    /// Whether the conversation above goes on meanwhile.
    pub background: bool,
    /// Since when.
    pub since: Timestamp,
    /// How it stands.
    pub status: RunStatus,
    /// What it is doing, in a few words.
    pub doing: String,
    /// Its last calls, the newest last.
    pub calls: VecDeque<String>,
    /// How many calls it has made.
    pub calls_made: u64,
    /// Requests made.
    pub requests: u32,
    /// The tokens they took together.
    pub usage: Usage,
    /// What those cost, in dollars, as far as prices are known.
    pub cost_usd: Option<f64>,
    /// Its side chain.
    pub transcript: PathBuf,
    /// Ends it.
    pub(crate) stop: CancellationToken,
}

/// The runs of a session. Clones are the same list.
#[derive(Debug, Clone, Default)]
pub struct SubagentRuns(Arc<Mutex<Vec<SubagentRun>>>);

impl SubagentRuns {
    /// All of them, the oldest first.
    pub fn list(&self) -> Vec<SubagentRun> {
        self.lock().clone()
    }

    /// Those that run.
    pub fn running(&self) -> usize {
        self.lock().iter().filter(|run| run.status == RunStatus::Running).count()
    }

    /// Ends a run, by its name or the beginning of its id; false if none such runs.
    pub fn stop(&self, which: &str) -> bool {
        let runs = self.lock();
        let it = |run: &&SubagentRun| {
            run.status == RunStatus::Running
                && (run.name == which || run.id.to_string().starts_with(which))
        };
        runs.iter().rev().find(it).inspect(|run| run.stop.cancel()).is_some()
    }

    pub(crate) fn add(&self, run: SubagentRun) {
        let mut runs = self.lock();
        let ended = runs.iter().filter(|run| run.status != RunStatus::Running).count();
        if ended >= ENDED_KEPT
            && let Some(oldest) = runs.iter().position(|run| run.status != RunStatus::Running)
        {
            runs.remove(oldest);
        }
        runs.push(run);
    }

    pub(crate) fn update(&self, id: AgentId, change: impl FnOnce(&mut SubagentRun)) {
        if let Some(run) = self.lock().iter_mut().find(|run| run.id == id) {
            change(run);
        }
    }

    pub(crate) fn of(&self, id: AgentId) -> Option<SubagentRun> {
        self.lock().iter().find(|run| run.id == id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SubagentRun>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SubagentRun {
    pub(crate) fn called(&mut self, call: String) {
        if self.calls.len() >= CALLS_KEPT {
            self.calls.pop_front();
        }
        self.doing.clone_from(&call);
        self.calls.push_back(call);
        self.calls_made += 1;
    }
}
