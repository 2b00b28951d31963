//! What compaction is asked for, and what it reports.

use std::fmt;

use dormouse_base::{MessageId, group_digits};
use dormouse_context::compact::notes::NotesSkipReason;
use dormouse_context::compact::{CompactionMethod, Fidelity};
use dormouse_conversation::transcript::CompactionTrigger;

/// The part of the conversation to compact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionScope {
    /// All of it.
    Whole,
    /// From this user message on. The messages before it stay, in the server's cache too.
    From(MessageId),
    /// Up to this user message, which stays.
    UpTo(MessageId),
}

/// A request to compact the conversation.
#[derive(Debug, Clone)]
pub struct CompactionRequest {
    /// The user, or the engine itself.
    pub trigger: CompactionTrigger,
    /// The user's instructions for the summary.
    pub instructions: Option<String>,
    /// The part to compact.
    pub scope: CompactionScope,
}

impl CompactionRequest {
    /// The engine compacts by itself.
    pub(crate) fn auto() -> Self {
        Self { trigger: CompactionTrigger::Auto, instructions: None, scope: CompactionScope::Whole }
    }
}

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

impl fmt::Display for CompactionReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.way {
            CompactionMethod::Notes => "from the session notes, without a request",
            CompactionMethod::Model => "with a summary by the model",
            CompactionMethod::Server => "with a summary by the server",
            CompactionMethod::Fold => "without a model",
        };
        let before = group_digits(self.before);
        let after = group_digits(self.after);
        write!(f, "compacted {how}: {before} tokens before, {after} after")?;
        let percent = (self.fidelity.identifiers.clamp(0.0, 1.0) * 100.0).round();
        write!(f, "; {percent} % of the names kept; the transcript has everything")?;
        if let Some(trouble) = &self.trouble {
            write!(f, " (no summary by the model: {trouble})")?;
        }
        Ok(())
    }
}
