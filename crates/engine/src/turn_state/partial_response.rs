//! A response on its way in: its blocks, its calls, and the text that is not a block yet.

use dormouse_conversation::{
    Block, ImitatedReminderFilter, Response, StopReason, ToolUseId, Usage,
};
use dormouse_tools::{CallStatus, ResponseState, Scheduled, ToolClass, startable};

/// Closes a text that the user interrupted.
pub(crate) const INTERRUPTED_MARK: &str = "[interrupted]";

/// A call to run.
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

/// A response as far as it has come.
#[derive(Debug, Clone)]
pub(crate) struct PartialResponse {
    pub(crate) response: Response,
    pub(crate) blocks: Vec<Block>,
    /// Text of the block that is not complete.
    pub(crate) open_text: String,
    /// Keeps imitated reminders from the user.
    shown: ImitatedReminderFilter,
    /// Whether anything of it has come.
    pub(crate) has_begun: bool,
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
        Self {
            response,
            blocks: Vec::new(),
            open_text: String::new(),
            shown: ImitatedReminderFilter::default(),
            has_begun: false,
            calls: Vec::new(),
        }
    }

    /// Adds text of a block that is not complete; what of it the user sees by now.
    pub(crate) fn add_text(&mut self, text: &str) -> String {
        self.open_text.push_str(text);
        self.shown.push(text)
    }

    /// The block is complete: what of its text the user has not seen.
    pub(crate) fn rest_of_text(&mut self) -> String {
        self.shown.finish()
    }

    /// Adds a complete block; whether it counts. Servers refuse a text of white space only, and a second call of one
    /// id cannot have a result.
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

    /// The calls that may start now, which count as running from here on.
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

    /// Whether any call was started: then the request cannot be repeated.
    pub(crate) fn has_started_calls(&self) -> bool {
        self.calls.iter().any(|call| call.status != CallStatus::Waiting)
    }

    /// The calls in order, with their results as far as there are any.
    pub(crate) fn calls(&self) -> impl Iterator<Item = (&PendingCall, Option<&Block>)> {
        self.calls.iter().map(|tracked| (&tracked.call, tracked.result.as_ref()))
    }

    /// The call with this id.
    pub(crate) fn call(&self, id: &ToolUseId) -> Option<&PendingCall> {
        self.calls().map(|(call, _)| call).find(|call| call.id == *id)
    }

    pub(crate) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    pub(crate) fn all_done(&self) -> bool {
        self.calls.iter().all(|call| call.status == CallStatus::Done)
    }

    /// Adds a result; the tool's name, or none for a call that is unknown or has a result.
    pub(crate) fn finish_call(&mut self, id: &ToolUseId, result: Block) -> Option<String> {
        let tracked = self.calls.iter_mut().find(|tracked| tracked.call.id == *id)?;
        if tracked.status == CallStatus::Done {
            return None;
        }
        tracked.status = CallStatus::Done;
        tracked.result = Some(result);
        Some(tracked.call.name.clone())
    }

    /// The results in call order, and those among them that closed a call as interrupted: they are not recorded yet.
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

    /// Closes the incomplete text and marks it.
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
