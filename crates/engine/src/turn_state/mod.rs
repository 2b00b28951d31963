//! A turn as a pure step: `(state, event) → effects`. No I/O, no clock: a test can walk through any
//! order of events.
//!
//! Invariants: every call gets exactly one result, whatever happens; nothing half-finished reaches the
//! history; after the end nothing more is done.

mod partial_response;
mod step;

pub(crate) use partial_response::{INTERRUPTED_MARK, PendingCall};
pub(crate) use step::{CostBudget, TurnState};

use std::time::Duration;

use dormouse_conversation::{Block, Response, ToolUseId};
use dormouse_model::{ModelError, StreamEvent};
use dormouse_tools::ToolClass;

use crate::compact::Recovery;
use crate::{EngineEvent, TurnEnd};

/// Something that happened.
#[derive(Debug, Clone)]
pub(crate) enum TurnEvent {
    /// The person's message is in the history: the turn begins.
    Begin,
    /// A step of the answer. For a block that is a call, its class.
    Stream(StreamEvent, Option<ToolClass>),
    /// The request or its answer failed; the delay before another try, if there may be one.
    Failed(ModelError, Option<Duration>),
    /// The window is full and nothing could be done about it: nothing was sent.
    Full(ModelError),
    /// What was to help was done, or could not be.
    Mended(bool),
    /// The wait before another try is over.
    Retry,
    /// A tool has answered; or an observer has, and wants the turn to end with it.
    ToolDone { id: ToolUseId, block: Block, halt: Option<String> },
    /// The person wants it to stop.
    Interrupt,
}

/// Something to do.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TurnAction {
    /// Send the conversation as it stands.
    Send,
    /// Do something about what the server refused, before it is sent again.
    Recovery(Recovery),
    /// Wait, then send it again.
    Wait(Duration),
    /// Let go of the answer that is coming in.
    DropAnswer,
    /// Write down a block of the answer, as it completes.
    RecordBlock(Response, Block),
    /// Write down that what was written of this answer does not count.
    RecordWithdrawn,
    /// Start a tool.
    StartTool(PendingCall),
    /// Stop the tools that run.
    StopTools,
    /// Write down a result, as it completes.
    RecordResult(Block),
    /// The answer is complete: it joins the history.
    CommitAnswer(Response, Vec<Block>),
    /// The results are complete: they join the history, in call order.
    CommitResults(Vec<Block>),
    /// There was no answer: a note in its place joins the history, so that roles alternate.
    CommitClosing(&'static str),
    /// Tell the interface.
    Tell(StepOutput),
    /// The turn is over.
    End(TurnEnd),
}

/// What a step tells the interface; the driver turns it into an [`EngineEvent`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StepOutput {
    Text(String),
    Thinking(String),
    Withdrawn,
    ToolFinished { id: ToolUseId, name: String, result: Block },
    Retrying { error: ModelError, delay: Duration, retry: u32 },
    Notice(String),
}

impl StepOutput {
    pub(crate) fn into_event(self, retries: u32) -> EngineEvent {
        match self {
            Self::Text(text) => EngineEvent::Text(text),
            Self::Thinking(text) => EngineEvent::Thinking(text),
            Self::Withdrawn => EngineEvent::Withdrawn,
            Self::ToolFinished { id, name, result } => {
                EngineEvent::ToolFinished { id, name, is_error: result.is_error(), result }
            }
            Self::Retrying { error, delay, retry } => {
                EngineEvent::Retrying { error, delay, retry, of: retries }
            }
            Self::Notice(text) => EngineEvent::Notice(text),
        }
    }
}
