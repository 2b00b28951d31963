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
    BETWEEN_DREAMS, BETWEEN_SCANS, Closed, Deed, DreamReport, DreamSetup, DreamStatus, Dreamer,
    Dreamt, MemoryReport, OTHER_SESSIONS, When, dream, dream_reports,
};
pub use extraction::{EXTRACTION, Extraction, ExtractionRules, Queue, Queueing};
pub use notes::{NotesError, SessionNotes, Sheets, kept_title};
