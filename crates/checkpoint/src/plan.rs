//! What a rewind would do to each file, before anything is done.
//!
//! Invariant: a file that is not as the session left it is never restored without being named as such.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use dormouse_base::MessageId;

use crate::branch;
use crate::error::CheckpointError;
use crate::log::{LoggedChange, LoggedTurn};
use crate::state::FileState;

/// Where a rewind goes back to: the state before a message was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RewindTarget {
    /// The user's message, or an earlier rewind.
    pub message: MessageId,
    /// Its line in the transcript.
    pub line: u64,
}

/// Why a file cannot simply be restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RewindObstacle {
    /// Somebody else changed it after or between the session's changes.
    ChangedSince,
    /// What it was has not been kept, or what somebody made of it since cannot be: too large, or no file.
    NotKept,
}

/// What a rewind would do to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedChange {
    /// The file.
    pub path: PathBuf,
    /// What it is now.
    pub now: FileState,
    /// What it becomes.
    pub becomes: FileState,
    /// Why it needs a confirmation, or cannot be restored.
    pub obstacle: Option<RewindObstacle>,
}

/// What a rewind would do.
#[derive(Debug, Clone, Default)]
pub struct RewindPlan {
    /// The files that would change, by path.
    pub changes: Vec<PlannedChange>,
    /// The branch and commit that are checked out; none without git.
    pub head: Option<String>,
    /// The branch and commit of then, if they were others: git itself is not changed back.
    pub moved_from: Option<String>,
    /// Whether a crash cut off a command, so that some of its changes are not known.
    pub is_incomplete: bool,
}

impl RewindPlan {
    /// What going back to this line of the transcript would do.
    pub fn make(
        turns: &[LoggedTurn],
        line: u64,
        checkout: Option<&Path>,
    ) -> Result<Self, CheckpointError> {
        let undone: Vec<&LoggedTurn> = turns.iter().filter(|turn| turn.line >= line).collect();
        let head = checkout.and_then(branch::head);
        let then = undone.first().and_then(|turn| turn.head.clone());
        let mut plan = Self {
            is_incomplete: undone.iter().any(|turn| turn.is_cut_off),
            moved_from: then.filter(|then| head.as_ref().is_some_and(|now| now != then)),
            head,
            ..Self::default()
        };
        for net in histories(&undone) {
            let now = FileState::look(&net.path)?;
            if now == net.before {
                continue;
            }
            let is_as_left = !net.is_interrupted && net.after.as_ref() == Some(&now);
            let obstacle = if !net.before.is_kept() || (!is_as_left && !now.is_kept()) {
                Some(RewindObstacle::NotKept)
            } else {
                (!is_as_left).then_some(RewindObstacle::ChangedSince)
            };
            plan.changes.push(PlannedChange { path: net.path, now, becomes: net.before, obstacle });
        }
        plan.changes.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(plan)
    }

    /// The changes with this obstacle.
    pub fn with_obstacle(&self, obstacle: RewindObstacle) -> impl Iterator<Item = &PlannedChange> {
        self.changes.iter().filter(move |change| change.obstacle == Some(obstacle))
    }
}

/// One file over several turns.
struct FileHistory {
    path: PathBuf,
    before: FileState,
    after: Option<FileState>,
    /// Whether somebody else changed it between two turns.
    is_interrupted: bool,
}

fn histories(turns: &[&LoggedTurn]) -> Vec<FileHistory> {
    let mut positions: HashMap<&Path, usize> = HashMap::new();
    let mut histories: Vec<FileHistory> = Vec::new();
    for change in turns.iter().flat_map(|turn| &turn.changes) {
        match positions.get(change.path.as_path()).and_then(|at| histories.get_mut(*at)) {
            Some(history) => {
                history.is_interrupted |= history.after.as_ref() != Some(&change.before);
                history.after.clone_from(&change.after);
            }
            None => {
                positions.insert(&change.path, histories.len());
                histories.push(FileHistory {
                    path: change.path.clone(),
                    before: change.before.clone(),
                    after: change.after.clone(),
                    is_interrupted: false,
                });
            }
        }
    }
    histories
}

/// What these turns changed together: files that ended as they began are left out.
pub fn net_changes<'a>(turns: impl IntoIterator<Item = &'a LoggedTurn>) -> Vec<LoggedChange> {
    let turns: Vec<&LoggedTurn> = turns.into_iter().collect();
    let changed =
        histories(&turns).into_iter().filter(|net| net.after.as_ref() != Some(&net.before));
    let mut changes: Vec<LoggedChange> = changed
        .map(|net| LoggedChange { path: net.path, before: net.before, after: net.after })
        .collect();
    changes.sort_by(|one, other| one.path.cmp(&other.path));
    changes
}
