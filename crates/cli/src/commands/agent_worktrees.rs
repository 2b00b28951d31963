//! `dormouse agents --worktrees`: lists the worktrees that subagents have left, and removes them.

use std::io::IsTerminal;

use dormouse_agents::{LeftWorktree, left_worktrees, remove_left_worktree};
use serde_json::json;

use crate::args::AgentsArguments;
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input;
use crate::wiring::print;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project, environment_for_children};

pub(super) async fn run(arguments: &AgentsArguments, world: &World) -> Result<Exit, Failure> {
    let (project, home) = (current_project()?, world.home()?);
    let in_force = settings::load(world, None, &project, Untrusted::Pass)?;
    let environment = environment_for_children(&world.environment, &in_force.settings);
    let left = left_worktrees(&home, &project, &environment).await.map_err(Failure::failed)?;
    if arguments.json && !arguments.removal.remove {
        let list: Vec<_> = left.iter().map(to_json).collect();
        print::data_line(&serde_json::to_string_pretty(&list).map_err(Failure::failed)?);
        return Ok(Exit::Done);
    }
    if left.is_empty() {
        print::data_line(&msg!("worktrees-none"));
    }
    let mut kept = 0;
    for worktree in &left {
        for line in lines(worktree) {
            print::data_line(&line);
        }
        if !arguments.removal.remove {
            continue;
        }
        if worktree.is_clean() || arguments.removal.yes || is_confirmed() {
            let removed = remove_left_worktree(worktree, &project, &environment).await;
            removed.map_err(Failure::failed)?;
            print::data_line(&msg!("worktree-removed"));
        } else {
            kept += 1;
        }
    }
    if kept > 0 {
        return Err(Failure::failed(anyhow::anyhow!(msg!("worktrees-kept", count = kept)))
            .hint(msg!("worktrees-kept-hint")));
    }
    Ok(Exit::Done)
}

/// Asks at the terminal whether what was listed may be lost. Without a terminal it may not.
fn is_confirmed() -> bool {
    if !std::io::stdin().is_terminal() {
        return false;
    }
    print::note(&msg!("worktree-confirm"));
    input::confirm()
}

/// Where it is, and what would be lost with it.
fn lines(worktree: &LeftWorktree) -> Vec<String> {
    let state = if worktree.is_clean() {
        msg!("worktree-clean")
    } else {
        let (files, commits) = (worktree.changes.len(), worktree.commits.len());
        msg!("worktree-would-lose", files = files, commits = commits)
    };
    let lost = worktree.changes.iter().chain(&worktree.commits);
    let lost = lost.map(|line| format!("    {line}"));
    std::iter::once(format!("{} ({state})", worktree.folder.display())).chain(lost).collect()
}

fn to_json(worktree: &LeftWorktree) -> serde_json::Value {
    json!({
        "agent": worktree.agent,
        "path": worktree.folder,
        "branch": worktree.branch,
        "clean": worktree.is_clean(),
        "changes": worktree.changes,
        "commits": worktree.commits,
    })
}
