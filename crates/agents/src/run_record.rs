//! The record of a run on disk, beside its transcript. It is there while the run goes on: what is left of a program that ended
//! was interrupted.

use std::path::{Path, PathBuf};

use dormouse_base::{AgentId, Dir, FileError, RelPath};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::runs::{RunActivity, RunStatus, SubagentRun};
use crate::worktree::WorktreeRecord;

const FILE: &str = "run.json";
const SIDE_CHAINS: &str = "subagents";

/// What is kept of a run, to list it and to go on with it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct RunRecord {
    id: AgentId,
    name: String,
    pub(crate) agent_type: String,
    description: String,
    depth: u8,
    pub(crate) background: bool,
    since: Timestamp,
    pub(crate) worktree: Option<WorktreeRecord>,
}

impl RunRecord {
    pub(crate) fn of(run: &SubagentRun, worktree: Option<WorktreeRecord>) -> Self {
        Self {
            id: run.id,
            name: run.name.clone(),
            agent_type: run.agent_type.clone(),
            description: run.description.clone(),
            depth: run.depth,
            background: run.background,
            since: run.since,
            worktree,
        }
    }

    /// Writes it into the folder of the run's conversation.
    pub(crate) fn write(&self, folder: &Dir) -> Result<(), FileError> {
        // Texts and numbers have no way to fail to serialize.
        folder.replace(&file(), &serde_json::to_vec_pretty(self).unwrap_or_default())
    }

    /// The record of a run that was interrupted.
    pub(crate) fn read(transcript: &Path) -> Option<Self> {
        let folder = Dir::open(transcript.with_extension("")).ok()?;
        serde_json::from_slice(&folder.read(&file()).ok()?).ok()
    }

    /// The run as it is listed.
    fn interrupted(self, transcript: PathBuf) -> SubagentRun {
        SubagentRun {
            id: self.id,
            name: self.name,
            agent_type: self.agent_type,
            description: self.description,
            depth: self.depth,
            background: self.background,
            since: self.since,
            status: RunStatus::Interrupted,
            activity: RunActivity::default(),
            requests: 0,
            usage: dormouse_conversation::Usage::default(),
            cost_usd: None,
            transcript,
            stop: CancellationToken::new(),
        }
    }
}

/// The run has ended.
pub(crate) fn remove_record(transcript: &Path) {
    let removed =
        Dir::open(transcript.with_extension("")).and_then(|folder| folder.remove_file(&file()));
    // At worst the run is listed as interrupted.
    drop(removed);
}

/// The runs below a session that were interrupted, oldest first. Nothing of the session may be running.
pub(crate) fn interrupted_runs(session: &Dir) -> Vec<SubagentRun> {
    let folder = session.path().join(SIDE_CHAINS);
    let names = Dir::open(&folder).and_then(|dir| dir.names()).unwrap_or_default();
    let transcripts = names.iter().map(|name| folder.join(name));
    let transcripts = transcripts.filter(|path| path.extension().is_some_and(|end| end == "jsonl"));
    let mut runs: Vec<SubagentRun> = transcripts
        .filter_map(|path| RunRecord::read(&path).map(|record| record.interrupted(path)))
        .collect();
    runs.sort_by_key(|run| run.since);
    runs
}

#[expect(clippy::expect_used, reason = "a fixed plain name")]
fn file() -> RelPath {
    RelPath::new(FILE).expect("a plain name")
}
