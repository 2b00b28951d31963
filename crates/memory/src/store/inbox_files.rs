//! The inbox on disk: one JSON file per proposal, in the state folder.

use dormouse_base::{Dir, FileAction, FileError, RelPath};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::error::ChangeError;
use super::fixed_path::name;
use super::proposal::{Proposal, ProposalId};

/// Content of a proposal's file.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct StoredProposal {
    time: Timestamp,
    pub(super) proposal: Proposal,
}

const FOLDER: &str = "inbox";

fn path_of(id: ProposalId) -> RelPath {
    name(&format!("{FOLDER}/{id}.json"))
}

fn ids(state: &Dir) -> Result<Vec<ProposalId>, FileError> {
    let names = match state.open_folder(&name(FOLDER)) {
        Ok(folder) => folder.names()?,
        Err(error) if error.is_not_found() => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let id = |name: &String| Some(ProposalId(name.strip_suffix(".json")?.parse().ok()?));
    let mut ids: Vec<ProposalId> = names.iter().filter_map(id).collect();
    ids.sort();
    Ok(ids)
}

/// Writes a proposal. The caller holds the lock, so that numbers are unique.
pub(super) fn add(
    state: &Dir,
    proposal: Proposal,
    time: Timestamp,
) -> Result<ProposalId, ChangeError> {
    let id = ProposalId(ids(state)?.last().map_or(1, |last| last.0 + 1));
    let text = serde_json::to_vec(&StoredProposal { time, proposal }).map_err(|error| {
        FileError::new(FileAction::Write, path_of(id).as_path(), std::io::Error::from(error))
    })?;
    state.replace(&path_of(id), &text)?;
    Ok(id)
}

/// All proposals with the time they were made, oldest first.
pub(super) fn list(state: &Dir) -> Result<Vec<(ProposalId, Timestamp, Proposal)>, ChangeError> {
    let mut list = Vec::new();
    for id in ids(state)? {
        if let Some(stored) = read(state, id)? {
            list.push((id, stored.time, stored.proposal));
        }
    }
    Ok(list)
}

/// Reads a proposal. One that cannot be parsed is not listed; its file is kept for the user.
pub(super) fn read(state: &Dir, id: ProposalId) -> Result<Option<StoredProposal>, ChangeError> {
    match state.read(&path_of(id)) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Removes a proposal.
pub(super) fn remove(state: &Dir, id: ProposalId) -> Result<(), ChangeError> {
    match state.remove_file(&path_of(id)) {
        Err(error) if error.is_not_found() => Err(ChangeError::NoProposal(id.0)),
        other => Ok(other?),
    }
}
