//! Background tasks of a session, each through forks of its conversation: session notes (`notes`), extraction of
//! memories (`extraction`), and dreams that merge memories (`dream`).
//!
//! Invariant: nothing here delays a turn or makes one fail; a task that does not finish leaves things as they were.

#![forbid(unsafe_code)]

mod dream;
mod extraction;
mod notes;

pub use dream::{
    BETWEEN_DREAMS, BETWEEN_SCANS, DreamAction, DreamBlocked, DreamOutcome, DreamReport,
    DreamSetup, DreamStatus, DreamTask, DreamTiming, MemoryReport, OTHER_SESSIONS, dream,
    dream_reports,
};
pub use extraction::{
    EXTRACTION, Extraction, ExtractionRules, QueueTranscript, TranscriptQueue, WAITS_FOR_PAUSE,
};
pub use notes::{NotesConfig, NotesError, SESSION_NOTES, SessionNotes, saved_title};
