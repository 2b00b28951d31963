//! What is done beside a conversation, through forks of it: notes about the session (`notes`).
//!
//! Invariant: nothing here holds up a turn or makes one fail; what does not come to its end leaves things as
//! they were.

#![forbid(unsafe_code)]

mod notes;

pub use notes::{NotesError, SessionNotes, Sheets, kept_title};
