//! A change made of parts, each right as a whole or not at all: what a dream has made of the memories (B-21, B-23).
//!
//! Every part is first tried alone. What somebody has changed meanwhile is left to them, what a person has to see
//! waits in the inbox, what may not be is refused; the rest is one change, and the index is made true with it.

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
use crate::doctor::true_index;
use crate::entry::MemoryEntry;
use crate::kind::{MemoryType, Trust};
use crate::names::MemoryFile;
use crate::scan::ScanCache;

/// A part of a change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangeUnit {
    /// Memories that get another text, or are new.
    pub writes: Vec<UnitWrite>,
    /// Memories that go, each as it was.
    pub removals: Vec<(MemoryFile, ContentHash)>,
}

/// A memory that gets another text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitWrite {
    /// Which.
    pub file: MemoryFile,
    /// What it was; none: it is new.
    pub before: Option<ContentHash>,
    /// Its text to be.
    pub text: Vec<u8>,
    /// The memories of the unit that it is made of besides itself: it inherits where they came from.
    pub made_of: Vec<MemoryFile>,
    /// Messages that it comes from besides.
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

/// What became of a unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnitOutcome {
    /// It is made, or would be.
    Made,
    /// Everything was so already.
    Unchanged,
    /// It waits for the person; without a number where it was only looked at.
    Waits(Option<ProposalId>),
    /// Somebody else has changed this memory meanwhile: theirs counts.
    Overtaken(MemoryFile),
    /// It may not be made, and why.
    Refused(String),
}

/// What became of the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppliedUnits {
    /// The change, if one was made.
    pub receipt: Option<Receipt>,
    /// What became of each unit, in their order.
    pub fates: Vec<UnitOutcome>,
    /// What the change does, file by file.
    pub diffs: Vec<FileDiff>,
}

impl Store {
    /// Makes one change of all units that can be made, with a true index.
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
        self.mend_with(&mut plan)?;
        let (prepared, rule) = prepare(&locked, by, plan.finish())?;
        let diffs = prepared.diffs();
        let receipt = if trial == ApplyMode::Preview || prepared.is_empty() {
            None
        } else {
            Some(locked.commit(prepared, rule)?)
        };
        drop(locked);
        if receipt.is_some() {
            // The change is made: a purge that fails is tried again after the next one.
            let _failed = purge(&self.context);
        }
        Ok(AppliedUnits { receipt, fates, diffs })
    }

    fn mend_with(&self, plan: &mut ChangePlan<'_>) -> Result<(), ChangeError> {
        if self.context.options.index == IndexUpkeep::Leave {
            return Ok(());
        }
        let memories = self.scan(&mut ScanCache::default())?.memories;
        let text = self.index_text()?;
        let mended = true_index(&text, &memories, |file| Ok(self.read(file)?.0))?;
        if mended == text { Ok(()) } else { plan.write_index(&mended, &Expected::Anything) }
    }
}

impl Locked<'_> {
    /// What would become of a unit if it were alone; what has to wait is put into the inbox.
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

    /// Puts it into the inbox, unless a proposal of the same author about one of these memories waits there: the
    /// same is not proposed every night.
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
    /// Takes a unit in: everything in it is still as it was.
    fn take(&mut self, unit: &ChangeUnit) -> Result<(), ChangeError> {
        for write in &unit.writes {
            let expected = write.before.clone().map_or(Expected::Absent, Expected::Content);
            self.expect(&write.file, &expected)?;
        }
        for (file, hash) in &unit.removals {
            self.expect(file, &Expected::Content(hash.clone()))?;
        }
        // Before anything is changed: what a memory is made of may go in the same unit.
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

    /// Where the words of a write come from: the memories it is made of, and messages.
    fn comes_from(&mut self, write: &UnitWrite) -> Result<Option<Inherited>, ChangeError> {
        let kind = MemoryEntry::read(&write.text, write.text.len() as u64).header.kind;
        self.check_person(write, kind)?;
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

    /// What is said about the person was said by them: in a message, or in a memory that says so already (M-17).
    fn check_person(
        &mut self,
        write: &UnitWrite,
        kind: Option<MemoryType>,
    ) -> Result<(), ChangeError> {
        let about_the_person = |kind| matches!(kind, MemoryType::User | MemoryType::Feedback);
        let Some(kind) = kind.filter(|kind| about_the_person(*kind)) else { return Ok(()) };
        if write.sources.iter().any(|source| source.trust == Trust::Typed) {
            return Ok(());
        }
        for file in write.made_of.iter().chain([&write.file]) {
            let bytes = self.read(file)?.unwrap_or_default();
            let known = MemoryEntry::read(&bytes, bytes.len() as u64).header.kind;
            if known.is_some_and(about_the_person) {
                return Ok(());
            }
        }
        Err(ChangeError::NeedsPerson(kind))
    }
}
