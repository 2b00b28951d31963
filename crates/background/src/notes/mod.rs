//! Session notes, kept while the session goes on so that its compaction needs no request (B-13 to B-16).
//!
//! After every response `thresholds` decides whether an update is due; then a fork of the conversation makes it
//! (`run`), in files that a failed run leaves as they were (`files`). Template and prompt can be the user's own
//! (`config`). Invariants: one run at a time; notes never claim to cover more messages than they do.

mod config;
mod files;
mod run;
mod state;
mod task;
mod thresholds;

pub use config::NotesConfig;
pub use files::NotesError;
pub use run::SESSION_NOTES;
pub use task::{SessionNotes, saved_title};
