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
pub(crate) mod texts;
mod user_texts;

pub use fidelity::{
    Fidelity, IDENTIFIERS_FLOOR, LAST_REQUEST_FLOOR, lost_user_texts, measure_fidelity,
};
pub use fold::{FoldInput, fold_messages};
pub use identifiers::{
    HeldIdentifiers, Identifier, IdentifierCensus, IdentifierKind, IdentifierUses,
    identifier_index, identifiers,
};
pub use message::{CompactionMethod, CompactionSummary, compose_summary};
pub use prompt::{
    FROM_MARK, SummaryDirection, SummaryError, parse_summary, partial_prompt, plain_summary_prompt,
    retry_prompt, summary_prompt,
};
pub use restored::{
    OpenTasks, RestoredFile, RestoredFiles, RestoredItem, RestoredPlan, RestoredSkills, fit_items,
};
pub use rounds::{Round, rounds};
pub use strip::{
    DropThinking, MediaRange, drop_thinking, strip_messages, without_media, without_oldest,
};
pub use tail::{KeptTail, TailRule, plan_tail};
pub use user_texts::{UserText, keep_user_texts, user_text_in};

/// The most characters of the index of what was dropped.
pub const INDEX_CHARS: usize = 3_000;
