//! What happens to each entry (T-3, T-4, T-5, T-7): decided from checksums alone, without I/O.

use std::collections::{BTreeMap, BTreeSet};

use crate::checksum::Checksum;
use crate::entry_name::EntryName;

/// The states that a sync compares.
#[derive(Debug, Clone, Copy)]
pub struct SyncStates<'a> {
    /// The local files.
    pub local: &'a BTreeMap<EntryName, Checksum>,
    /// The server's entries, without deleted ones.
    pub server: &'a BTreeMap<EntryName, Checksum>,
    /// What both sides had after the last sync.
    pub base: &'a BTreeMap<EntryName, Checksum>,
    /// Local contents that were sent as proposals to a repository under review (T-16).
    pub proposed: &'a BTreeMap<EntryName, Checksum>,
    /// The user's proposals that are still undecided.
    pub undecided: &'a BTreeMap<EntryName, Checksum>,
}

/// Why the local content is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PushReason {
    /// The server has no such entry.
    Added,
    /// Only the local content changed.
    Changed,
    /// Both sides changed it: ours wins, the server's version stays in its history (T-5).
    Conflict {
        /// The content that is replaced; none if the entry was deleted for all.
        replaced: Option<Checksum>,
    },
}

/// Why the server's content is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullReason {
    /// It is new here.
    Added,
    /// Only the server's content changed.
    Changed,
    /// It was deleted here, which does not delete it for the team (T-7).
    DeletedHere,
    /// The user's proposal was rejected, or replaced by another change.
    ProposalDecided,
}

/// Why the local file is removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemoveReason {
    /// Somebody deleted it for all.
    DeletedForAll,
    /// The user's proposal of a new entry was rejected.
    ProposalRejected,
}

/// What happens to an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SyncAction {
    /// Send the local content.
    Push(PushReason),
    /// Write the server's content.
    Pull(PullReason),
    /// Remove the local file.
    Remove(RemoveReason),
    /// Keep the local content: its proposal is undecided.
    AwaitReview,
    /// Both sides have the same: only the last common state changes.
    Agree,
}

/// Decides about every entry of which the states differ. The order of the names is the order of the uploads.
pub fn plan(states: SyncStates<'_>) -> BTreeMap<EntryName, SyncAction> {
    let SyncStates { local, server, base, .. } = states;
    let names: BTreeSet<&EntryName> =
        local.keys().chain(server.keys()).chain(base.keys()).collect();
    let decided = |name: &EntryName| Some((name.clone(), action(states, name)?));
    names.into_iter().filter_map(decided).collect()
}

fn action(states: SyncStates<'_>, name: &EntryName) -> Option<SyncAction> {
    let local = states.local.get(name);
    let server = states.server.get(name);
    let base = states.base.get(name);
    if local == server {
        return (base != server).then_some(SyncAction::Agree);
    }
    let Some(content) = local else {
        let reason = if base.is_some() { PullReason::DeletedHere } else { PullReason::Added };
        return Some(SyncAction::Pull(reason));
    };
    if states.proposed.get(name) == Some(content) {
        return Some(proposed(content, server, states.undecided.get(name)));
    }
    Some(match (base, server) {
        (None, None) => SyncAction::Push(PushReason::Added),
        (Some(base), None) if base == content => SyncAction::Remove(RemoveReason::DeletedForAll),
        (Some(base), Some(_)) if base == content => SyncAction::Pull(PullReason::Changed),
        (Some(base), Some(server)) if base == server => SyncAction::Push(PushReason::Changed),
        (Some(_), None) | (None | Some(_), Some(_)) => {
            SyncAction::Push(PushReason::Conflict { replaced: server.cloned() })
        }
    })
}

/// A proposal stays in its author's folder until it is decided; no pull replaces it.
fn proposed(
    content: &Checksum,
    server: Option<&Checksum>,
    undecided: Option<&Checksum>,
) -> SyncAction {
    match server {
        _ if undecided == Some(content) => SyncAction::AwaitReview,
        Some(_) => SyncAction::Pull(PullReason::ProposalDecided),
        None => SyncAction::Remove(RemoveReason::ProposalRejected),
    }
}
