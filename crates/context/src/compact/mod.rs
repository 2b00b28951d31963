//! The arithmetic of compaction (C-14 to C-23): what is kept, what is dropped, and what is said of it.
//!
//! Plain functions over messages and texts; the calls to a model, the files and the transcript are the
//! driver's. Invariants: a tool call is never parted from its result; every text made here has a bound
//! and says what it left out; all of it is linear in what it reads.

mod fidelity;
mod fold;
mod identifiers;
mod message;
pub mod notes;
mod prompt;
mod restored;
mod rounds;
mod strip;
mod tail;
#[cfg(test)]
mod testing;
mod texts;
mod words;

pub use fidelity::{Fidelity, IDENTIFIERS_FLOOR, LAST_REQUEST_FLOOR, lost_words, measure};
pub use fold::{FoldInput, fold};
pub use identifiers::{Census, Held, Identifier, Kind, Uses, identifiers, index};
pub use message::{Summary, Way, compose};
pub use prompt::{
    BadSummary, Direction, FROM_MARK, partial_prompt, read_summary, retry_prompt, summary_prompt,
};
pub use restored::{
    Item, OpenTasks, RestoredFile, RestoredFiles, RestoredPlan, RestoredSkills, fit,
};
pub use rounds::{Round, rounds};
pub use strip::{stripped, without_media, without_oldest, without_thinking};
pub use tail::{Tail, TailRule, kept_from};
pub use words::{Said, keep_words, said_in};

/// The most characters of the index of what was dropped.
pub const INDEX_CHARS: usize = 3_000;
