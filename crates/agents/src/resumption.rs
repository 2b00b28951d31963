//! Going on with a subagent that the end of the program has interrupted.

use std::sync::Arc;

use dormouse_engine::ForkPoint;

use crate::preparation::{
    Beginning, FORK, Preparation, PreparedSubagent, check_depth, own_spawner, unknown_agent,
};
use crate::preparation_error::PreparationError;
use crate::run_record::RunRecord;
use crate::runs::SubagentRun;
use crate::spawner::SubagentSpawner;
use crate::tool_input::AgentToolInput;
use crate::worktree::Worktree;

/// Prepares an interrupted subagent to go on.
pub(crate) async fn prepare_resumed(
    spawner: &Arc<SubagentSpawner>,
    branch: &Arc<ForkPoint>,
    input: &AgentToolInput,
    wanted: &str,
) -> Result<PreparedSubagent, PreparationError> {
    let interrupted = spawner.registry.runs.interrupted();
    let is_wanted = |run: &&SubagentRun| {
        run.name == wanted || (wanted.len() >= 8 && run.id.to_string().starts_with(wanted))
    };
    let found = interrupted.iter().rev().find(is_wanted);
    let found = found.and_then(|run| Some((run, RunRecord::read(&run.transcript)?)));
    let Some((run, record)) = found else {
        let known = if interrupted.is_empty() { "" } else { "; the list of them is above" };
        return Err(PreparationError::NotInterrupted {
            name: wanted.to_owned(),
            known: known.to_owned(),
        });
    };
    if record.agent_type == FORK {
        let transcript = run.transcript.display().to_string();
        return Err(PreparationError::InterruptedFork(run.name.clone(), transcript));
    }
    let agents = spawner.registry.agents();
    let agent = agents.get(&record.agent_type);
    let agent = agent.ok_or_else(|| unknown_agent(&record.agent_type, &agents))?.clone();
    check_depth(branch, Some(&agent))?;
    let (id, background) = (run.id, input.run_in_background || record.background);
    let parent = branch.config();
    let had_worktree = record.worktree.is_some();
    let worktree = record
        .worktree
        .and_then(|record| Worktree::existing(record, &parent.project, &parent.tools.environment));
    if had_worktree && worktree.is_none() {
        return Err(PreparationError::WorktreeGone(run.name.clone()));
    }
    let (name, own) = own_spawner(spawner, &run.name)?;
    let remarks = Vec::new();
    let draft =
        Preparation { spawner, own, name, branch, input, id, worktree, background, remarks };
    draft.fresh(&agent, Beginning::Resumed).await
}
