//! The result of a change.

use super::change_id::ChangeId;
use super::policy::PolicyAction;
use super::proposal::{Proposal, ProposalId};
use crate::names::MemoryFile;

/// How a change affects a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeKind {
    /// Created.
    Added,
    /// Text changed.
    Changed,
    /// Removed.
    Removed,
}

/// Result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChangeOutcome {
    /// The memories already had this content; nothing was written.
    Unchanged,
    /// Written.
    Written(Receipt),
    /// The policy requires the user's confirmation: call [`StoreInbox::accept_now`](super::StoreInbox::accept_now) or
    /// [`StoreInbox::propose`](super::StoreInbox::propose).
    Ask(Proposal),
    /// Put into the inbox.
    InInbox(ProposalId),
}

/// A written change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Receipt {
    /// Number, for undo.
    pub id: ChangeId,
    /// [`PolicyAction::Notify`] if the user must be notified.
    pub rule: PolicyAction,
    /// The affected memories.
    pub files: Vec<(MemoryFile, ChangeKind)>,
}
