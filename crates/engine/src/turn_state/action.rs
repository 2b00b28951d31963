//! The events of a turn, and the actions that follow from them.

use std::time::Duration;

use dormouse_conversation::{Block, Response, ToolUseId};
use dormouse_model::{ClearedContext, ModelError, StreamEvent};
use dormouse_tools::ToolClass;

use super::partial_response::PendingCall;
use super::recovery::Recovery;
use crate::event::{EngineEvent, TurnEnd};
use crate::notice::EngineNotice;

/// An event of a turn.
#[derive(Debug, Clone)]
pub(crate) enum TurnEvent {
    /// The user's prompt is in the history: the turn begins.
    Begin,
    /// A step of the response. For a block that is a call, its class.
    Stream(StreamEvent, Option<ToolClass>),
    /// The request or its response failed; the delay before a retry, if there may be one.
    Failed(ModelError, Option<Duration>),
    /// The window is full and no room could be made: nothing was sent.
    WindowFull(ModelError),
    /// A recovery was tried: whether it changed anything, and whether the user interrupted it.
    Recovered { helped: bool, interrupted: bool },
    /// The wait before a retry is over.
    Retry,
    /// A call has its result; an observer may ask for the turn to end with it.
    ToolDone { id: ToolUseId, block: Block, halt: Option<String> },
    /// All results are in the history; a hook may ask for the turn to end with them.
    RoundCommitted { halt: Option<String> },
    /// The user interrupts.
    Interrupt,
}

/// An action for the driver.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TurnAction {
    /// Make room where that is due, and send the conversation.
    Send,
    /// Recover from a refused request before it is sent again.
    Recover(Recovery),
    /// Wait, then report [`TurnEvent::Retry`].
    Wait(Duration),
    /// Close the response that is coming in.
    DropResponse,
    /// Record a complete block of the response.
    RecordBlock(Response, Block),
    /// Record that the recorded blocks of this response do not count.
    RecordWithdrawn,
    /// Record that the server has cleared something by itself.
    RecordCleared(ClearedContext),
    /// Start a tool call.
    StartTool(PendingCall),
    /// Stop the running calls.
    StopTools,
    /// Record the result of a call.
    RecordResult(Block),
    /// Add the complete response to the history.
    CommitResponse(Response, Vec<Block>),
    /// Add the results to the history, in call order, then report [`TurnEvent::RoundCommitted`].
    CommitResults(Vec<Block>),
    /// Add a note in the place of a missing response, so that roles alternate.
    CommitClosing(&'static str),
    /// Tell background tasks that no call waits for its result.
    NotifyIdle { turn_end: bool },
    /// Report to the interface.
    Emit(StepOutput),
    /// End the turn.
    End(TurnEnd),
}

/// What a step reports; the driver turns it into an [`EngineEvent`].
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StepOutput {
    ResponseStarted,
    Text(String),
    Thinking(String),
    Withdrawn,
    ToolFinished { id: ToolUseId, name: String, result: Block },
    Retrying { error: ModelError, delay: Duration, retry: u32 },
    Notice(EngineNotice),
}

impl StepOutput {
    pub(crate) fn into_event(self, retries: u32) -> EngineEvent {
        match self {
            Self::ResponseStarted => EngineEvent::Answering,
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
