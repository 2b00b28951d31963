//! The running and finished subagents of a session, with their activity, cost and transcript.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dormouse_base::AgentId;
use dormouse_conversation::Usage;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

/// The number of recent tool calls kept of a run.
const MAX_RECENT_CALLS: usize = 5;
/// The number of finished runs kept.
const MAX_FINISHED: usize = 200;

/// The status of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunStatus {
    /// Not finished.
    Running,
    /// Finished with an answer.
    Done,
    /// Failed for this reason.
    Failed(String),
    /// Stopped by the user or with its parent.
    Stopped,
    /// The program ended while it ran; the Agent tool can go on with it.
    Interrupted,
}

/// One run of a subagent.
#[derive(Debug, Clone)]
pub struct SubagentRun {
    /// The run's id.
    pub id: AgentId,
    /// The name in lists, and for messages.
    pub name: String,
    /// The name of the agent definition, or `fork`.
    pub agent_type: String,
    /// The task in a few words.
    pub description: String,
    /// The number of conversations above it.
    pub depth: u8,
    /// Whether the parent conversation continues meanwhile.
    pub background: bool,
    /// The start time.
    pub since: Timestamp,
    /// Its status.
    pub status: RunStatus,
    /// Its activity.
    pub activity: RunActivity,
    /// The number of requests made.
    pub requests: u32,
    /// The tokens of all requests.
    pub usage: Usage,
    /// The cost in dollars, as far as prices are known.
    pub cost_usd: Option<f64>,
    /// The path of its transcript.
    pub transcript: PathBuf,
    /// Stops the run.
    pub(crate) stop: CancellationToken,
}

/// The tool calls of a run, and its activity in words.
#[derive(Debug, Clone, Default)]
pub struct RunActivity {
    /// The current activity, in a few words.
    pub text: String,
    /// The last calls, oldest first.
    pub recent_calls: VecDeque<String>,
    /// The number of all calls.
    pub call_count: u64,
}

/// The runs of a session. Clones share the list.
#[derive(Debug, Clone, Default)]
pub struct SubagentRuns(Arc<Mutex<Vec<SubagentRun>>>);

impl SubagentRuns {
    /// Returns all runs, oldest first.
    pub fn list(&self) -> Vec<SubagentRun> {
        self.lock().clone()
    }

    /// Returns the number of unfinished runs.
    pub fn running(&self) -> usize {
        self.lock().iter().filter(|run| run.status == RunStatus::Running).count()
    }

    /// Stops the newest unfinished run with this name or id prefix. Returns whether there was one.
    pub fn stop(&self, name_or_id: &str) -> bool {
        let runs = self.lock();
        let matches = |run: &&SubagentRun| {
            run.status == RunStatus::Running
                && (run.name == name_or_id || run.id.to_string().starts_with(name_or_id))
        };
        runs.iter().rev().find(matches).inspect(|run| run.stop.cancel()).is_some()
    }

    /// The interrupted runs.
    pub fn interrupted(&self) -> Vec<SubagentRun> {
        let mut runs = self.list();
        runs.retain(|run| run.status == RunStatus::Interrupted);
        runs
    }

    /// Adds a run; in the place of the one that it goes on with.
    pub(crate) fn add(&self, run: SubagentRun) {
        let mut runs = self.lock();
        runs.retain(|known| known.id != run.id);
        let finished = runs.iter().filter(|run| run.status != RunStatus::Running).count();
        if finished >= MAX_FINISHED
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

    pub(crate) fn get(&self, id: AgentId) -> Option<SubagentRun> {
        self.lock().iter().find(|run| run.id == id).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, Vec<SubagentRun>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunActivity {
    pub(crate) fn add_call(&mut self, call: String) {
        if self.recent_calls.len() >= MAX_RECENT_CALLS {
            self.recent_calls.pop_front();
        }
        self.text.clone_from(&call);
        self.recent_calls.push_back(call);
        self.call_count += 1;
    }
}
