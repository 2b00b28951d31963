//! Extraction (B-5 to B-12, B-26): after a turn, a fork of the conversation looks at the messages since the last run
//! and saves memories worth keeping.
//!
//! `task` decides when a run is due, `worker` runs, `run` is one run, `cursor` says how far a session was looked at,
//! `queue` holds transcripts for later. Invariants: extraction never delays a turn or makes one fail; one run at a
//! time, and of the turns that end meanwhile only the newest gets a run; the cursor moves when a run has ended, and
//! when the model has saved memories itself, never when a run failed.

mod cursor;
mod notice;
mod prompt;
mod queue;
mod run;
mod signals;
mod source_check;
mod state;
mod task;
mod window;
mod worker;

pub use queue::{QueueTranscript, TranscriptQueue};
pub use run::{EXTRACTION, WAITS_FOR_PAUSE};
pub use task::{Extraction, ExtractionRules};
