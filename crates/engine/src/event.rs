//! What the engine tells the interface.

use std::sync::Arc;
use std::time::Duration;

use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_conversation::{Block, Message, ToolUseId, Usage};
use dormouse_model::ModelError;

use crate::compact::CompactionReport;
use crate::recall::RecallReceipt;
use crate::repeated_correction::RepeatedCorrection;
use crate::submitted_plan::SubmittedPlan;

/// Something to show, or to pass on to a program.
#[derive(Debug, Clone)]
pub enum EngineEvent {
    /// The server has begun to answer: from now on what was sent is in its cache.
    Answering,
    /// Text, as it arrives.
    Text(String),
    /// Thinking, as it arrives.
    Thinking(String),
    /// What had arrived of this answer is withdrawn: it comes anew.
    Withdrawn,
    /// A message is complete.
    Message(Arc<Message>),
    /// A tool has started.
    ToolStarted {
        /// The call.
        id: ToolUseId,
        /// The tool.
        name: String,
        /// Its arguments, as JSON.
        input: String,
    },
    /// A call that runs has printed something: its newest line.
    ToolPrinted {
        /// The call.
        id: ToolUseId,
        /// The line, without secrets, cut if it is long.
        line: String,
    },
    /// A hook has given a call other arguments: it ran with these.
    ToolChanged {
        /// The call.
        id: ToolUseId,
        /// The arguments, as JSON.
        input: String,
    },
    /// A call was denied.
    ToolDenied {
        /// The call.
        id: ToolUseId,
        /// The tool.
        name: String,
        /// Its arguments, as JSON.
        input: String,
        /// Why, and how to allow it.
        why: String,
    },
    /// A tool has finished.
    ToolFinished {
        /// The call.
        id: ToolUseId,
        /// The tool.
        name: String,
        /// Whether it failed.
        is_error: bool,
        /// What it answered, as it goes to the model.
        result: Block,
    },
    /// A request failed and will be tried again.
    Retrying {
        /// Why.
        error: ModelError,
        /// After this long.
        delay: Duration,
        /// The number of this retry, from 1.
        retry: u32,
        /// The most retries there will be.
        of: u32,
    },
    /// Memories were looked for, to be put beside what the person said; what came of it.
    Recalled(RecallReceipt),
    /// Memory was changed, and the person is to know: they may want to take it back.
    Remembered(String),
    /// The person had to say the same thing again and again: a guard is offered.
    Corrected(RepeatedCorrection),
    /// The conversation is being compacted.
    Compacting(CompactionTrigger),
    /// It was.
    Compacted(CompactionReport),
    /// A plan was handed in where nobody could be asked about it: it is the answer.
    Planned(SubmittedPlan),
    /// Something worth knowing.
    Notice(String),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model was done.
    Completed,
    /// The answer reached its token limit and was cut.
    Cut,
    /// The model declined.
    Refused,
    /// The model said nothing.
    Empty,
    /// The largest number of requests was reached, with work left.
    MaxTurns,
    /// What may be spent was spent, with work left.
    MaxCost,
    /// The person interrupted.
    Interrupted,
    /// A hook ended it, for this reason.
    Halted(String),
    /// A hook would not have the prompt, for this reason. It was not sent and is not kept.
    Blocked(String),
    /// The model could not be asked, or not to the end.
    Failed(ModelError),
}

/// A turn, afterwards.
#[derive(Debug, Clone)]
pub struct TurnReport {
    /// How it ended.
    pub end: TurnEnd,
    /// The model's last text.
    pub answer: String,
    /// Requests made.
    pub requests: u32,
    /// The tokens they took together.
    pub usage: Usage,
    /// What those cost, in dollars; none where the price is not known.
    pub cost_usd: Option<f64>,
}

impl TurnReport {
    /// A turn without a request.
    pub(crate) fn not_sent(end: TurnEnd) -> Self {
        let usage = Usage::default();
        Self { end, answer: String::new(), requests: 0, usage, cost_usd: Some(0.0) }
    }

    /// The turn so far and another run of the loop, which says how it ended.
    pub(crate) fn plus(self, next: Self) -> Self {
        Self {
            requests: self.requests + next.requests,
            usage: self.usage.plus(next.usage),
            cost_usd: self.cost_usd.zip(next.cost_usd).map(|(before, more)| before + more),
            ..next
        }
    }
}
