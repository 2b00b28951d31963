//! The events that the engine sends to the interface.

use std::sync::Arc;
use std::time::Duration;

use dormouse_conversation::transcript::CompactionTrigger;
use dormouse_conversation::{Block, Message, ToolUseId, Usage};
use dormouse_model::ModelError;

use crate::compact::CompactionReport;
use crate::notice::EngineNotice;
use crate::recall::RecallReceipt;
use crate::repeated_correction::RepeatedCorrection;
use crate::session_account::SessionAccount;
use crate::submitted_plan::SubmittedPlan;

/// An event of a session.
#[derive(Debug, Clone)]
pub enum EngineEvent {
    /// The server has begun to respond: the request is in its cache from now on.
    Answering,
    /// Text, as it arrives.
    Text(String),
    /// Thinking, as it arrives.
    Thinking(String),
    /// The partial response is withdrawn: the request is sent again.
    Withdrawn,
    /// A message is complete.
    Message(Arc<Message>),
    /// A response was counted: what the session has used so far.
    Counted(Box<SessionAccount>),
    /// A tool has started.
    ToolStarted {
        /// The call.
        id: ToolUseId,
        /// The tool.
        name: String,
        /// Its arguments, as JSON.
        input: String,
    },
    /// A running call has printed output: its newest line.
    ToolPrinted {
        /// The call.
        id: ToolUseId,
        /// The line, without secrets, cut if it is long.
        line: String,
    },
    /// A hook has changed the arguments of a call.
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
        /// The result, as it is sent to the model.
        result: Block,
    },
    /// A message that the user sent during the turn goes with the next request.
    Steered(String),
    /// A request failed and is retried.
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
    /// The result of a recall.
    Recalled(RecallReceipt),
    /// Memory was changed: a notice for the user, who may want to undo it.
    Remembered(String),
    /// The user repeated a correction often enough for a guard to be offered.
    Corrected(RepeatedCorrection),
    /// The conversation is being compacted.
    Compacting(CompactionTrigger),
    /// The conversation was compacted.
    Compacted(CompactionReport),
    /// A plan was submitted in a session without a user: it is the result.
    Planned(SubmittedPlan),
    /// Control sequences that a hook has for the terminal: whoever writes them checks which are allowed.
    TerminalSequence(String),
    /// A notice for the user.
    Notice(EngineNotice),
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model was done.
    Completed,
    /// The response reached its token limit and was cut.
    Cut,
    /// The model declined.
    Refused,
    /// The response was empty.
    Empty,
    /// The largest number of requests was reached, with work left.
    MaxTurns,
    /// The cost limit was reached, with work left.
    MaxCost,
    /// The user interrupted.
    Interrupted,
    /// The model made the same call of this tool again and again, with the same result.
    Repeating(String),
    /// A hook ended it, for this reason.
    Halted(String),
    /// A hook blocked the prompt, for this reason. It was neither sent nor recorded.
    Blocked(String),
    /// The prompt of an MCP server that the user called cannot be had, for this reason. Nothing was sent or recorded.
    NoPrompt(String),
    /// A request failed.
    Failed(ModelError),
}

/// The result of a turn.
#[derive(Debug, Clone)]
pub struct TurnReport {
    /// How it ended.
    pub end: TurnEnd,
    /// The model's last text.
    pub answer: String,
    /// Requests made.
    pub requests: u32,
    /// Their tokens in total.
    pub usage: Usage,
    /// Their cost in dollars; none if the price is unknown.
    pub cost_usd: Option<f64>,
}

impl TurnReport {
    /// A turn without a request.
    pub(crate) fn not_sent(end: TurnEnd) -> Self {
        let usage = Usage::default();
        Self { end, answer: String::new(), requests: 0, usage, cost_usd: Some(0.0) }
    }

    /// Adds another run of the loop, which decides how the turn ended.
    pub(crate) fn plus(self, next: Self) -> Self {
        Self {
            requests: self.requests + next.requests,
            usage: self.usage.plus(next.usage),
            cost_usd: self.cost_usd.zip(next.cost_usd).map(|(before, more)| before + more),
            ..next
        }
    }
}
