//! Checks what an extraction run wants to save, and counts the proposals that it rejects.

use std::sync::atomic::{AtomicU64, Ordering};

use dormouse_engine::JobHandle;
use dormouse_memory::{ChangeAuthor, MemoryFile, MessageSource};
use dormouse_provenance::{ConversationEvidence, ProposedMemory, ProvenanceCheck, ProvenanceError};

pub(super) struct ExtractionProvenance {
    evidence: ConversationEvidence,
    job: JobHandle,
    rejected: AtomicU64,
}

impl ExtractionProvenance {
    pub(super) fn new(evidence: ConversationEvidence, job: JobHandle) -> Self {
        Self { evidence, job, rejected: AtomicU64::new(0) }
    }

    /// How many proposals were rejected.
    pub(super) fn rejected(&self) -> u64 {
        self.rejected.load(Ordering::Relaxed)
    }
}

impl ProvenanceCheck for ExtractionProvenance {
    fn author(&self) -> ChangeAuthor {
        ChangeAuthor::Extraction
    }

    fn sources(
        &self,
        proposed: &ProposedMemory<'_>,
    ) -> Result<Vec<MessageSource>, ProvenanceError> {
        self.evidence.sources(proposed).inspect_err(|error| {
            self.job.said(&format!("dropped ({}): {}", error.kind(), proposed.memory.name));
            self.rejected.fetch_add(1, Ordering::Relaxed);
        })
    }

    fn check_removal(
        &self,
        file: &MemoryFile,
        reason: Option<&str>,
    ) -> Result<(), ProvenanceError> {
        match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
            Some(_) => Ok(()),
            None => Err(ProvenanceError::NoReason(file.clone())),
        }
    }

    fn on_saved(&self, proposed: &ProposedMemory<'_>) {
        self.evidence.add_saved(proposed);
    }
}
