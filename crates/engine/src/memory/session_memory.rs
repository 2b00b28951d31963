//! Memory as a session has it: the memories in reach, and the record of the conversation that its changes come from.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use dormouse_base::{Clock, FileError, SessionId};
use dormouse_memory::recall::{MemoryQuery, QuarantineFilter};
use dormouse_memory::{
    ChangeAuthor, FoundMemory, MemoryDraft, RankingSetup, ReachableMemories, Saving, Store,
};
use dormouse_provenance::ProvenanceCheck;
use dormouse_tools::Confirmer;

use super::changed_memories::ChangedMemories;
use super::confirmation::ChangeConfirmation;
use super::hook_notify::MemoryHooks;
use super::notices::MemoryNotices;
use super::provenance_record::SessionProvenance;
use super::switch::MemorySwitch;
use super::vector_schedule::{VECTORS_AT_ONCE, VectorSchedule};
use dormouse_hooks::HookRunner;

/// The memories that a background task is told of.
#[derive(Debug, Clone, Default)]
pub struct MemoryManifest {
    /// A line each.
    pub lines: Vec<String>,
    /// Memories that are not listed.
    pub omitted: usize,
}

/// The memory of a session, or of one of its background tasks.
pub struct SessionMemory {
    memories: Arc<ReachableMemories>,
    saving: Saving,
    clock: Arc<dyn Clock>,
    provenance: SessionProvenance,
    notices: MemoryNotices,
    pub(super) confirmation: ChangeConfirmation,
    vectors: Arc<VectorSchedule>,
    pub(super) changed: Arc<ChangedMemories>,
    /// Checks what a background task writes; none where the model writes in its conversation.
    pub(super) check: Option<Arc<dyn ProvenanceCheck>>,
    /// Copies that are written to in place of the stores.
    pub(super) drafts: Vec<Arc<MemoryDraft>>,
    pub(super) hooks: Arc<MemoryHooks>,
    /// Whether the user wants memory in this session; shared with its background tasks.
    pub switch: Arc<MemorySwitch>,
}

impl std::fmt::Debug for SessionMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SessionMemory").field("memories", &self.memories).finish_non_exhaustive()
    }
}

impl SessionMemory {
    /// The memories of a session that saves like this.
    pub fn new(
        memories: Arc<ReachableMemories>,
        saving: Saving,
        clock: Arc<dyn Clock>,
    ) -> Arc<Self> {
        Arc::new(Self {
            memories,
            saving,
            clock,
            provenance: SessionProvenance::default(),
            notices: MemoryNotices::default(),
            confirmation: ChangeConfirmation::default(),
            vectors: Arc::default(),
            changed: Arc::default(),
            check: None,
            drafts: Vec::new(),
            hooks: Arc::default(),
            switch: Arc::default(),
        })
    }

    /// The memory of a dream: only these drafts are read and written, and its changes are no corrections by the user.
    pub fn for_drafts(
        &self,
        drafts: Vec<Arc<MemoryDraft>>,
        check: Arc<dyn ProvenanceCheck>,
    ) -> Arc<Self> {
        let stores: Vec<Arc<Store>> =
            drafts.iter().map(|draft| Arc::clone(draft.store())).collect();
        Arc::new(Self {
            memories: Arc::new(ReachableMemories::new(stores, RankingSetup::default())),
            saving: Saving::Entries,
            clock: Arc::clone(&self.clock),
            provenance: SessionProvenance::default(),
            notices: MemoryNotices::default(),
            confirmation: ChangeConfirmation::default(),
            vectors: Arc::default(),
            changed: Arc::default(),
            check: Some(check),
            drafts,
            hooks: Arc::default(),
            switch: Arc::default(),
        })
    }

    /// The same memories for a background task, whose changes pass `check`. The user is not asked: changes that need a
    /// confirmation go to the inbox.
    pub fn for_background(&self, check: Arc<dyn ProvenanceCheck>) -> Arc<Self> {
        Arc::new(Self {
            memories: Arc::clone(&self.memories),
            saving: self.saving,
            clock: Arc::clone(&self.clock),
            provenance: SessionProvenance::default(),
            notices: MemoryNotices::default(),
            confirmation: ChangeConfirmation::default(),
            vectors: Arc::clone(&self.vectors),
            changed: Arc::clone(&self.changed),
            check: Some(check),
            drafts: self.drafts.clone(),
            hooks: Arc::clone(&self.hooks),
            switch: Arc::clone(&self.switch),
        })
    }

    /// The memories in reach.
    pub fn memories(&self) -> &Arc<ReachableMemories> {
        &self.memories
    }

    /// How the model saves.
    pub fn saving(&self) -> Saving {
        self.saving
    }

    /// What the user is to be told, and which changes were made.
    pub fn notices(&self) -> &MemoryNotices {
        &self.notices
    }

    pub(crate) fn clock(&self) -> &dyn Clock {
        &*self.clock
    }

    /// The record of the conversation.
    pub(crate) fn provenance(&self) -> &SessionProvenance {
        &self.provenance
    }

    /// A session begins: the record, notices and confirmations of the one before are dropped.
    pub(crate) fn begin(&self, session: SessionId) {
        self.provenance.begin(session);
        self.notices.clear();
        self.confirmation.reset();
        drop(self.changed.take());
    }

    /// Changes can be confirmed here from now on.
    pub(crate) fn set_confirmer(&self, confirmer: Arc<dyn Confirmer>) {
        self.confirmation.set_confirmer(confirmer);
    }

    /// Notifies these hooks of changes from now on.
    pub(crate) fn set_hooks(&self, hooks: Option<&Arc<HookRunner>>) {
        self.hooks.set(hooks);
    }

    /// The author that changes are recorded under.
    pub(super) fn author(&self) -> ChangeAuthor {
        self.check.as_ref().map_or(ChangeAuthor::Model, |check| check.author())
    }

    /// Whether a text has words from outside: of this session, or of a memory that the user has not confirmed.
    pub fn is_from_outside(&self, text: &str) -> bool {
        let quarantined = self.memories.quarantined(self.clock.now());
        self.provenance.repeats_outside(text, &quarantined)
    }

    /// A line for each memory that the model may see, scope by scope, newest first (M-10). Of more than `most` those that match
    /// a text best, then the newest.
    pub fn manifest(&self, text: &str, most: usize) -> Result<MemoryManifest, FileError> {
        let now = self.clock.now();
        let found = self.memories.list(None, QuarantineFilter::Exclude)?;
        let lines =
            |found: &[FoundMemory]| found.iter().map(|one| one.manifest_line(now)).collect();
        if found.len() <= most {
            return Ok(MemoryManifest { lines: lines(&found), omitted: 0 });
        }
        let hits = self.memories.recall().candidates(&MemoryQuery::new(text, most, now))?;
        let best: Vec<FoundMemory> =
            hits.iter().filter_map(|hit| self.memories.found(hit)).collect();
        Ok(MemoryManifest { lines: lines(&best), omitted: found.len().saturating_sub(best.len()) })
    }

    /// Takes the files of the memories that were changed.
    pub(crate) fn take_changed(&self) -> HashSet<PathBuf> {
        self.changed.take()
    }

    /// Takes up changes by other programs, and makes vectors of them where a model for it is set up. It may take long:
    /// for a thread in the background.
    pub(crate) fn refresh_index(&self) {
        let recall = self.memories.recall();
        // An index that cannot be refreshed stays as it was; a search reports the reason.
        let _stays_as_it_was = recall.rescan(self.clock.now());
        if recall.embedder_location().is_some() && self.vectors.take_turn(self.clock.elapsed()) {
            let filled = recall.fill(self.clock.now(), VECTORS_AT_ONCE);
            self.vectors.finished(filled.is_ok());
        }
    }
}
