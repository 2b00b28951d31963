//! An answer on its way in: its blocks, its calls, and the text that is not a block yet.

use dormouse_conversation::{Block, Response, StopReason, ToolUseId, Usage};
use dormouse_tools::{CallStatus, ResponseState, Scheduled, ToolClass, startable};

/// What closes a text that the person interrupted.
pub(crate) const INTERRUPTED_MARK: &str = "[interrupted]";

/// A call to carry out.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PendingCall {
    pub(crate) id: ToolUseId,
    pub(crate) name: String,
    pub(crate) block: Block,
}

#[derive(Debug, Clone)]
struct Tracked {
    call: PendingCall,
    class: ToolClass,
    status: CallStatus,
    result: Option<Block>,
}

/// The state of an answer.
#[derive(Debug, Clone)]
pub(crate) struct PartialResponse {
    pub(crate) response: Response,
    pub(crate) blocks: Vec<Block>,
    /// Text of the block that is still coming.
    pub(crate) open_text: String,
    calls: Vec<Tracked>,
}

impl PartialResponse {
    pub(crate) fn new() -> Self {
        let response = Response {
            id: String::new(),
            model: String::new(),
            stop_reason: None,
            usage: Usage::default(),
            request_id: None,
        };
        Self { response, blocks: Vec::new(), open_text: String::new(), calls: Vec::new() }
    }

    /// Takes a complete block in; gives it back if it counts. A text of white space only would be
    /// refused when sent back, and a second call of one id can not be answered.
    pub(crate) fn add(&mut self, block: &Block, class: Option<ToolClass>) -> bool {
        self.open_text.clear();
        if block.as_text().is_some_and(|text| text.trim().is_empty()) {
            return false;
        }
        if let Some(call) = block.as_tool_use() {
            if self.calls.iter().any(|known| known.call.id == *call.id) {
                return false;
            }
            self.calls.push(Tracked {
                call: PendingCall {
                    id: call.id.clone(),
                    name: call.name.to_owned(),
                    block: block.clone(),
                },
                class: class.unwrap_or(ToolClass::Exclusive),
                status: CallStatus::Waiting,
                result: None,
            });
        }
        self.blocks.push(block.clone());
        true
    }

    /// The calls that may start now; they count as running from here on.
    pub(crate) fn start_calls(&mut self, state: ResponseState) -> Vec<PendingCall> {
        let scheduled: Vec<Scheduled> = self
            .calls
            .iter()
            .map(|call| Scheduled { class: call.class, status: call.status })
            .collect();
        let mut started = Vec::new();
        for index in startable(&scheduled, state) {
            if let Some(tracked) = self.calls.get_mut(index) {
                tracked.status = CallStatus::Running;
                started.push(tracked.call.clone());
            }
        }
        started
    }

    /// Whether any call was started: then the answer can not be asked for again.
    pub(crate) fn has_started_calls(&self) -> bool {
        self.calls.iter().any(|call| call.status != CallStatus::Waiting)
    }

    pub(crate) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    pub(crate) fn all_done(&self) -> bool {
        self.calls.iter().all(|call| call.status == CallStatus::Done)
    }

    /// Takes a result in; gives the tool's name, or none for a call that is unknown or answered.
    pub(crate) fn finish_call(&mut self, id: &ToolUseId, result: Block) -> Option<String> {
        let tracked = self.calls.iter_mut().find(|tracked| tracked.call.id == *id)?;
        if tracked.status == CallStatus::Done {
            return None;
        }
        tracked.status = CallStatus::Done;
        tracked.result = Some(result);
        Some(tracked.call.name.clone())
    }

    /// The results in call order. Calls without one are closed as interrupted; those results are given
    /// apart as well, for they are not written down yet.
    pub(crate) fn take_results(&mut self) -> (Vec<Block>, Vec<Block>) {
        let mut closed = Vec::new();
        let results = self
            .calls
            .iter_mut()
            .map(|tracked| {
                tracked.status = CallStatus::Done;
                tracked.result.take().unwrap_or_else(|| {
                    let block = Block::interrupted(&tracked.call.id);
                    closed.push(block.clone());
                    block
                })
            })
            .collect();
        (results, closed)
    }

    /// Closes the text that was coming where it stands, and marks it.
    pub(crate) fn close_text(&mut self) -> Option<Block> {
        let text = std::mem::take(&mut self.open_text);
        if text.trim().is_empty() {
            return None;
        }
        let block = Block::text(&format!("{}\n{INTERRUPTED_MARK}", text.trim_end()));
        self.blocks.push(block.clone());
        Some(block)
    }

    pub(crate) fn stopped_by(&self, reason: &StopReason) -> bool {
        self.response.stop_reason.as_ref() == Some(reason)
    }
}
