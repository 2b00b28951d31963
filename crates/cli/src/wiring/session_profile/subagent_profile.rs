//! The subagents of a profiled session: each has a transcript of its own, in the session's folder.

use std::path::Path;

use dormouse_context::profile::{LayerProfile, LayerStatus, ProfileRules, ProfileTotals, profile};
use dormouse_conversation::transcript::replay_abridged_subagent;
use serde::Serialize;

use crate::wiring::exit::Failure;

/// A subagent's conversation.
#[derive(Serialize)]
pub(crate) struct SubagentProfile {
    /// The name of its transcript, without the ending.
    pub(crate) agent: String,
    pub(crate) total: ProfileTotals,
    /// The layers that acted in it.
    pub(crate) layers: Vec<LayerProfile>,
}

/// The subagents of a session, in the order of their names. A transcript of another agent has none.
pub(crate) fn subagents(
    transcript: &Path,
    rules: &ProfileRules<'_>,
) -> Result<Vec<SubagentProfile>, Failure> {
    let folder = transcript.with_extension("").join("subagents");
    // A session without subagents has no such folder.
    let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(Vec::new()) };
    let mut paths: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    paths.sort();
    let mut found = Vec::new();
    for path in paths {
        let mut file = std::fs::File::open(&path).map_err(Failure::failed)?;
        let replay = replay_abridged_subagent(&mut file).map_err(Failure::failed)?;
        let profile = profile(&replay, rules);
        let agent = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let acted = |layer: &LayerProfile| layer.status == LayerStatus::Fired;
        let layers = profile.layers.into_iter().filter(acted).collect();
        found.push(SubagentProfile { agent, total: profile.total, layers });
    }
    Ok(found)
}
