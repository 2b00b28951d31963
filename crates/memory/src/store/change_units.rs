//! A change made of units, each applied completely or not at all: the result of a dream (B-21, B-23).
//!
//! Every unit is first tried alone. Units with a memory that was changed in the meantime are skipped, those that need
//! confirmation go to the inbox, and forbidden ones are refused. The others become one change, which also corrects the
//! index.

use super::change_origin::{ChangeAuthor, ChangeOrigin, MessageSource};
use super::content::ContentHash;
use super::error::ChangeError;
use super::inbox_files;
use super::locked::Locked;
use super::log::FileDiff;
use super::options::IndexUpkeep;
use super::outcome::Receipt;
use super::plan::Expected;
use super::plan::{ChangePlan, Inherited};
use super::policy::PolicyAction;
use super::prepare::prepare;
use super::prepared_change::PreparedChange;
use super::proposal::ProposalId;
use super::store::Store;
use super::trash::purge;
use crate::doctor::corrected_index;
use crate::entry::MemoryEntry;
use crate::kind::{MemoryType, Trust};
use crate::names::MemoryFile;
use crate::scan::ScanCache;

/// A unit of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeUnit {
    /// Memories with a new text, and new memories.
    pub writes: Vec<UnitWrite>,
    /// Memories to remove, with their expected content.
    pub removals: Vec<(MemoryFile, ContentHash)>,
}

/// A memory with a new text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitWrite {
    /// File of the memory.
    pub file: MemoryFile,
    /// Expected content; `None` for a new memory.
    pub before: Option<ContentHash>,
    /// The new text.
    pub text: Vec<u8>,
    /// Other memories of the unit that the text is made of: their provenance is inherited.
    pub made_of: Vec<MemoryFile>,
    /// Additional source messages.
    pub sources: Vec<MessageSource>,
}

/// Whether units are applied or only checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApplyMode {
    /// Write the change.
    Apply,
    /// Write nothing.
    Preview,
}

/// The result of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnitOutcome {
    /// Applied, or would be in a preview.
    Made,
    /// The memories already had this content.
    Unchanged,
    /// Waits in the inbox; without a number in a preview.
    Waits(Option<ProposalId>),
    /// Skipped, because this memory was changed in the meantime.
    Overtaken(MemoryFile),
    /// Refused, with the reason.
    Refused(String),
}

/// The result of applying units.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedUnits {
    /// The change, if one was made.
    pub receipt: Option<Receipt>,
    /// The result of each unit, in order.
    pub fates: Vec<UnitOutcome>,
    /// The contents before and after, file by file.
    pub diffs: Vec<FileDiff>,
}

impl Store {
    /// Makes one change of all applicable units, and corrects the index.
    pub fn apply(
        &self,
        by: &ChangeOrigin,
        units: &[ChangeUnit],
        trial: ApplyMode,
    ) -> Result<AppliedUnits, ChangeError> {
        let mut locked = Locked::acquire(&self.context)?;
        let mut fates = Vec::new();
        for unit in units {
            fates.push(locked.tried(by, unit, trial)?);
        }
        let mut plan = ChangePlan::new(&locked, by);
        for (unit, _) in units.iter().zip(&fates).filter(|(_, fate)| **fate == UnitOutcome::Made) {
            plan.take(unit)?;
        }
        self.correct_index(&mut plan)?;
        let (prepared, rule) = prepare(&locked, by, plan.finish())?;
        let diffs = prepared.diffs();
        let receipt = if trial == ApplyMode::Preview || prepared.is_empty() {
            None
        } else {
            Some(locked.commit(prepared, rule)?)
        };
        drop(locked);
        if receipt.is_some() {
            // The change is written: a purge that fails is tried again after the next change.
            let _failed = purge(&self.context);
        }
        Ok(AppliedUnits { receipt, fates, diffs })
    }

    fn correct_index(&self, plan: &mut ChangePlan<'_>) -> Result<(), ChangeError> {
        if self.context.options.index == IndexUpkeep::Leave {
            return Ok(());
        }
        let memories = self.scan(&mut ScanCache::default())?.memories;
        let text = self.index_text()?;
        let correct = corrected_index(&text, &memories, |file| Ok(self.read(file)?.0))?;
        if correct == text { Ok(()) } else { plan.write_index(&correct, &Expected::Anything) }
    }
}

impl Locked<'_> {
    /// Tries a unit alone; puts it into the inbox if it needs confirmation.
    fn tried(
        &self,
        by: &ChangeOrigin,
        unit: &ChangeUnit,
        trial: ApplyMode,
    ) -> Result<UnitOutcome, ChangeError> {
        let mut plan = ChangePlan::new(self, by);
        let tried = plan.take(unit).and_then(|()| prepare(self, by, plan.finish()));
        match tried {
            Ok((prepared, _)) if prepared.change.files.is_empty() => Ok(UnitOutcome::Unchanged),
            Ok((_, PolicyAction::Auto | PolicyAction::Notify)) => Ok(UnitOutcome::Made),
            Ok((_, PolicyAction::Ask | PolicyAction::Inbox)) if trial == ApplyMode::Preview => {
                Ok(UnitOutcome::Waits(None))
            }
            Ok((prepared, PolicyAction::Ask | PolicyAction::Inbox)) => {
                Ok(UnitOutcome::Waits(Some(self.proposed(by, &prepared)?)))
            }
            Err(ChangeError::Stale { file, .. } | ChangeError::Missing(file)) => {
                Ok(UnitOutcome::Overtaken(file))
            }
            Err(ChangeError::Exists { file, .. }) => Ok(UnitOutcome::Overtaken(file)),
            Err(
                error @ (ChangeError::File(_)
                | ChangeError::Lock(_)
                | ChangeError::Journal(_)
                | ChangeError::Interrupted(_)),
            ) => Err(error),
            Err(other) => Ok(UnitOutcome::Refused(other.to_string())),
        }
    }

    /// Puts a unit into the inbox, unless a proposal by the same author for one of its memories waits there: otherwise
    /// every dream would propose it again.
    fn proposed(
        &self,
        by: &ChangeOrigin,
        prepared: &PreparedChange,
    ) -> Result<ProposalId, ChangeError> {
        let proposal = prepared.proposal(by);
        let about = |known: &MemoryFile| proposal.files.iter().any(|file| file.file == *known);
        let same = |author: &ChangeAuthor| *author == by.author;
        for (id, _, waiting) in inbox_files::list(&self.store.state)? {
            if same(&waiting.by.author) && waiting.files.iter().any(|file| about(&file.file)) {
                return Ok(id);
            }
        }
        inbox_files::add(&self.store.state, proposal, self.now)
    }
}

impl ChangePlan<'_> {
    /// Adds a unit to the plan if all its memories have the expected content.
    fn take(&mut self, unit: &ChangeUnit) -> Result<(), ChangeError> {
        for write in &unit.writes {
            let expected = write.before.clone().map_or(Expected::Absent, Expected::Content);
            self.expect(&write.file, &expected)?;
        }
        for (file, hash) in &unit.removals {
            self.expect(file, &Expected::Content(hash.clone()))?;
        }
        // Before any change: a source memory may be removed by the same unit.
        let mut inherited = Vec::new();
        for write in &unit.writes {
            inherited.push(self.comes_from(write)?);
        }
        for (write, inherits) in unit.writes.iter().zip(inherited) {
            let staged = self.stage(&write.file)?;
            staged.after = Some(write.text.clone());
            staged.inherits = inherits;
        }
        for (file, _) in &unit.removals {
            self.stage(file)?.after = None;
        }
        Ok(())
    }

    /// The provenance of a written text: from the memories it is made of, and from messages.
    fn comes_from(&mut self, write: &UnitWrite) -> Result<Option<Inherited>, ChangeError> {
        let kind = MemoryEntry::read(&write.text, write.text.len() as u64).header.kind;
        self.check_about_user(write, kind)?;
        let inherits = self.inherited(&write.file, &write.made_of)?;
        if write.sources.is_empty() {
            return Ok(inherits);
        }
        let trust = write.sources.iter().map(|source| source.trust).min();
        let own = Inherited {
            trust: trust.unwrap_or(Trust::Concluded),
            quarantined: write.sources.iter().all(|source| source.trust == Trust::Outside),
            sources: write.sources.iter().map(ToString::to_string).collect(),
        };
        match inherits {
            None => Ok(Some(own)),
            Some(known) if known.quarantined != own.quarantined => {
                Err(ChangeError::Quarantine(write.file.clone()))
            }
            Some(mut known) => {
                known.sources.extend(own.sources);
                Ok(Some(Inherited { trust: known.trust.min(own.trust), ..known }))
            }
        }
    }

    /// A memory about the user must come from a message by the user, or from a memory about the user (M-17).
    fn check_about_user(
        &mut self,
        write: &UnitWrite,
        kind: Option<MemoryType>,
    ) -> Result<(), ChangeError> {
        let is_about_user = |kind| matches!(kind, MemoryType::User | MemoryType::Feedback);
        let Some(kind) = kind.filter(|kind| is_about_user(*kind)) else { return Ok(()) };
        if write.sources.iter().any(|source| source.trust == Trust::Typed) {
            return Ok(());
        }
        for file in write.made_of.iter().chain([&write.file]) {
            let bytes = self.read(file)?.unwrap_or_default();
            let known = MemoryEntry::read(&bytes, bytes.len() as u64).header.kind;
            if known.is_some_and(is_about_user) {
                return Ok(());
            }
        }
        Err(ChangeError::NeedsUserMessage(kind))
    }
}
