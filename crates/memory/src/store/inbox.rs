//! The inbox: proposals that wait for the user (M-21).

use jiff::Timestamp;

use super::change::change;
use super::context::StoreContext;
use super::error::ChangeError;
use super::inbox_files;
use super::locked::Locked;
use super::outcome::ChangeOutcome;
use super::plan::Expected;
use super::proposal::{Proposal, ProposalId};

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
    /// All proposals with the time they were made, oldest first.
    pub fn list(&self) -> Result<Vec<(ProposalId, Timestamp, Proposal)>, ChangeError> {
        inbox_files::list(&self.store.state)
    }

    /// Puts a proposal into the inbox, when the policy requires a confirmation that the caller cannot ask for.
    pub fn propose(&self, proposal: Proposal) -> Result<ProposalId, ChangeError> {
        let locked = Locked::acquire(self.store)?;
        inbox_files::add(&self.store.state, proposal, locked.now)
    }

    /// Makes a change that the user has confirmed.
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

    /// Accepts a proposal from the inbox, unchanged or as edited by the user.
    pub fn accept(
        &self,
        id: ProposalId,
        edited: Option<&Proposal>,
    ) -> Result<ChangeOutcome, ChangeError> {
        let stored =
            inbox_files::read(&self.store.state, id)?.ok_or(ChangeError::NoProposal(id.0))?;
        let outcome = self.accept_now(edited.unwrap_or(&stored.proposal))?;
        self.refuse(id)?;
        Ok(outcome)
    }

    /// Removes a proposal from the inbox without making the change.
    pub fn refuse(&self, id: ProposalId) -> Result<(), ChangeError> {
        inbox_files::remove(&self.store.state, id)
    }
}
