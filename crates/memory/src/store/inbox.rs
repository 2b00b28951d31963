//! Proposals that wait for the person (M-21): small files in the state folder, applied when accepted.

use std::fmt;

use dormouse_base::{Dir, FileAction, FileError, RelPath};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::change::change;
use super::change_origin::ChangeOrigin;
use super::content::ContentHash;
use super::context::StoreContext;
use super::error::ChangeError;
use super::fixed_path::name;
use super::locked::Locked;
use super::outcome::ChangeOutcome;
use super::plan::Expected;
use crate::names::MemoryFile;

/// The number of a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProposalId(pub u64);

impl fmt::Display for ProposalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A change that somebody would like to make.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Proposal {
    /// Who, why, from which messages.
    pub by: ChangeOrigin,
    /// What.
    pub files: Vec<ProposedFile>,
}

/// One file of a proposal: the two texts are its diff.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProposedFile {
    /// Which.
    pub file: MemoryFile,
    /// Its text when it was proposed.
    pub before: Option<String>,
    /// The hash of that.
    pub expected: Option<ContentHash>,
    /// Its text to be; none: it is to go.
    pub after: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredProposal {
    time: Timestamp,
    proposal: Proposal,
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

/// Keeps a proposal; the caller holds the lock.
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

/// Proposals that wait for the user: one file each in the state folder, removed when accepted or refused.
pub struct StoreInbox<'a> {
    store: &'a StoreContext,
}

impl<'a> StoreInbox<'a> {
    pub(super) fn new(store: &'a StoreContext) -> Self {
        Self { store }
    }
}

impl StoreInbox<'_> {
    /// All proposals, oldest first, with the time when they were proposed.
    pub fn list(&self) -> Result<Vec<(ProposalId, Timestamp, Proposal)>, ChangeError> {
        list(self.store)
    }

    /// Puts a proposal into the inbox: for those who were to ask and can not.
    pub fn propose(&self, proposal: Proposal) -> Result<ProposalId, ChangeError> {
        let locked = Locked::acquire(self.store)?;
        add(&self.store.state, proposal, locked.now)
    }

    /// Makes a change that the person was asked about and wants.
    pub fn accept_now(&self, proposal: &Proposal) -> Result<ChangeOutcome, ChangeError> {
        change(self.store, &proposal.by.clone().with_consent(), |plan| {
            for file in &proposal.files {
                let expected = match &file.expected {
                    Some(hash) => Expected::Content(hash.clone()),
                    None => Expected::Absent,
                };
                match &file.after {
                    Some(text) => plan.write(&file.file, text.as_bytes(), &expected)?,
                    None => plan.delete(&file.file, &expected)?,
                }
            }
            Ok(())
        })
    }

    /// Accepts a proposal from the inbox, as it is or with the texts that the person made of it.
    pub fn accept(
        &self,
        id: ProposalId,
        edited: Option<&Proposal>,
    ) -> Result<ChangeOutcome, ChangeError> {
        let stored = read(&self.store.state, id)?.ok_or(ChangeError::NoProposal(id.0))?;
        let outcome = self.accept_now(edited.unwrap_or(&stored.proposal))?;
        self.refuse(id)?;
        Ok(outcome)
    }

    /// Takes a proposal out of the inbox without making it.
    pub fn refuse(&self, id: ProposalId) -> Result<(), ChangeError> {
        match self.store.state.remove_file(&path_of(id)) {
            Err(error) if error.is_not_found() => Err(ChangeError::NoProposal(id.0)),
            other => Ok(other?),
        }
    }
}

/// All proposals, oldest first, with the time when they were proposed.
pub(super) fn list(
    store: &StoreContext,
) -> Result<Vec<(ProposalId, Timestamp, Proposal)>, ChangeError> {
    let mut list = Vec::new();
    for id in ids(&store.state)? {
        if let Some(stored) = read(&store.state, id)? {
            list.push((id, stored.time, stored.proposal));
        }
    }
    Ok(list)
}

/// Reads a proposal. One that cannot be parsed is not listed; its file is kept for the user.
fn read(state: &Dir, id: ProposalId) -> Result<Option<StoredProposal>, ChangeError> {
    match state.read(&path_of(id)) {
        Ok(bytes) => Ok(serde_json::from_slice(&bytes).ok()),
        Err(error) if error.is_not_found() => Ok(None),
        Err(error) => Err(error.into()),
    }
}
