//! What is done beside a conversation, through forks of it: notes about the session (`notes`), and memories that
//! it is worth having of it (`extraction`).
//!
//! Invariant: nothing here holds up a turn or makes one fail; what does not come to its end leaves things as
//! they were.

#![forbid(unsafe_code)]

mod extraction;
mod notes;

pub use extraction::{EXTRACTION, Extraction, ExtractionRules};
pub use notes::{NotesError, SessionNotes, Sheets, kept_title};
