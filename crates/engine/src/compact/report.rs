//! The outcome of a compaction. The notice for the user is in the message catalog of `cli`.

use dormouse_context::compact::notes::NotesSkipReason;
use dormouse_context::compact::{CompactionMethod, Fidelity};
use dormouse_conversation::transcript::CompactionTrigger;

/// The result of a compaction.
#[derive(Debug, Clone)]
pub struct CompactionReport {
    /// The user, or the engine itself.
    pub trigger: CompactionTrigger,
    /// Where the summary came from.
    pub way: CompactionMethod,
    /// The tokens before.
    pub before: u64,
    /// The tokens after, estimated.
    pub after: u64,
    /// How much of the removed part the summary preserves.
    pub fidelity: Fidelity,
    /// Why the session notes were not used as the summary.
    pub stepped_aside: Option<NotesSkipReason>,
    /// Why the model did not write the summary, if it should have.
    pub trouble: Option<String>,
}

/// The outcome of a request to compact.
#[derive(Debug, Clone)]
pub enum CompactionOutcome {
    /// The conversation was compacted.
    Done(CompactionReport),
    /// There was nothing to compact.
    Nothing,
    /// No summary would be smaller: the conversation is unchanged.
    NotSmaller,
    /// A hook refused it, for this reason.
    Blocked(String),
    /// The user interrupted it.
    Interrupted,
}
