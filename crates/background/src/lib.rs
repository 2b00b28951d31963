//! What is done beside a conversation, through forks of it: notes about the session (`notes`), memories that it is
//! worth having of it (`extraction`), and dreams over the memories (`dream`).
//!
//! Invariant: nothing here holds up a turn or makes one fail; what does not come to its end leaves things as
//! they were.

#![forbid(unsafe_code)]

mod dream;
mod extraction;
mod notes;

pub use dream::{
    BETWEEN_DREAMS, BETWEEN_SCANS, DreamAction, DreamBlocked, DreamOutcome, DreamReport,
    DreamSetup, DreamStatus, DreamTask, DreamTiming, MemoryReport, OTHER_SESSIONS, dream,
    dream_reports,
};
pub use extraction::{EXTRACTION, Extraction, ExtractionRules, QueueTranscript, TranscriptQueue};
pub use notes::{NotesConfig, NotesError, SessionNotes, kept_title};
