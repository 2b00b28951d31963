//! One call as a task of its own: run, kept within bounds, counted, and what it prints on the way.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use dormouse_base::Redactor;
use dormouse_conversation::{Block, ResultContent, ToolUse, ToolUseId};
use dormouse_permissions::PermissionVerdict;
use dormouse_tools::{CallResult, CommandProgress};
use tokio::sync::Notify;

use super::Driver;
use crate::EngineEvent;
use crate::meter::CallMeter;
use crate::turn_state::PendingCall;

/// What a tool's task gives.
pub(super) struct FinishedCall {
    /// The result.
    pub(super) block: Block,
    /// What observers say besides.
    pub(super) notes: Vec<String>,
    /// Why an observer wants the turn to end.
    pub(super) halt: Option<String>,
    /// What the person should know of it.
    pub(super) events: Vec<EngineEvent>,
}

impl FinishedCall {
    pub(super) fn of(block: Block) -> Self {
        Self { block, notes: Vec::new(), halt: None, events: Vec::new() }
    }
}

impl Driver<'_> {
    pub(super) fn start_tool(&mut self, call: PendingCall) {
        let caller = self.engine.caller();
        let redactor = self.engine.config.redactor.clone();
        let store = self.engine.result_store();
        let bound = store.bound(&caller.tools, &call.name);
        let meter = CallMeter::start(self.engine, &call.name);
        let mut context = self.engine.call_context(self.outside.cancel_tools.clone());
        context.overflow = store.overflow(&call.id);
        context.progress = Some(Arc::new(self.outside.lines.of(&call.id)));
        if let Some(call) = call.block.as_tool_use() {
            (self.sink)(EngineEvent::ToolStarted {
                id: call.id.clone(),
                name: call.name.to_owned(),
                input: call.input.get().to_owned(),
            });
        }
        let id = call.id.clone();
        let task = self.outside.tools.spawn(async move {
            let Some(tool_use) = call.block.as_tool_use() else {
                return FinishedCall::of(Block::interrupted(&call.id));
            };
            let result = caller.run(tool_use, &context).await;
            let events = asides(tool_use, &result);
            let CallResult { content, spilled, is_error, verdict, notes, halt, .. } = result;
            let kept = match &spilled {
                Some(spilled) => store.stored(spilled),
                None => store.keep(&call.id, bound, without_secrets(content, &redactor)),
            };
            meter.stop(verdict, is_error, kept.stored_bytes);
            let notes = notes.iter().map(|note| redactor.redact(note)).collect();
            let block = Block::tool_result(&call.id, &kept.content, is_error);
            FinishedCall { block, notes, halt, events }
        });
        self.outside.calls.insert(task.id(), id);
    }
}

/// What the person should know of a call besides its result.
fn asides(call: ToolUse<'_>, result: &CallResult) -> Vec<EngineEvent> {
    let changed = result.changed.as_ref().map(|input| EngineEvent::ToolChanged {
        id: call.id.clone(),
        input: input.get().to_owned(),
    });
    let why = match &result.content {
        ResultContent::Text(text) => text.clone(),
        ResultContent::Blocks(_) => String::new(),
    };
    let denied =
        (result.verdict == Some(PermissionVerdict::Deny)).then(|| EngineEvent::ToolDenied {
            id: call.id.clone(),
            name: call.name.to_owned(),
            input: call.input.get().to_owned(),
            why,
        });
    changed.into_iter().chain(denied).collect()
}

/// The key itself is no part of a result: it would go into the transcript.
pub(crate) fn without_secrets(content: ResultContent, redactor: &Redactor) -> ResultContent {
    match content {
        ResultContent::Text(text) => ResultContent::Text(redactor.redact(&text)),
        blocks @ ResultContent::Blocks(_) => blocks,
    }
}

/// The newest line that each running call has printed, until somebody shows it.
#[derive(Debug, Clone, Default)]
pub(super) struct ProgressLines {
    newest: Arc<Mutex<BTreeMap<ToolUseId, String>>>,
    more: Arc<Notify>,
}

/// Longer lines are cut: this is a glimpse, not the result.
const LONGEST_LINE: usize = 200;

impl ProgressLines {
    fn of(&self, call: &ToolUseId) -> CallProgress {
        CallProgress { lines: self.clone(), call: call.clone() }
    }

    /// Waits until something was printed.
    pub(super) async fn next(&self) -> Vec<(ToolUseId, String)> {
        loop {
            self.more.notified().await;
            let mut newest = self.newest.lock().unwrap_or_else(PoisonError::into_inner);
            if !newest.is_empty() {
                return std::mem::take(&mut *newest).into_iter().collect();
            }
        }
    }
}

/// What one call prints.
struct CallProgress {
    lines: ProgressLines,
    call: ToolUseId,
}

impl CommandProgress for CallProgress {
    fn printed(&self, text: &str) {
        let Some(line) = text.lines().rev().find(|line| !line.trim().is_empty()) else { return };
        let line = line.chars().take(LONGEST_LINE).collect();
        let mut newest = self.lines.newest.lock().unwrap_or_else(PoisonError::into_inner);
        newest.insert(self.call.clone(), line);
        self.lines.more.notify_one();
    }
}
