//! A tool call as a task of its own.

use std::sync::Arc;

use dormouse_conversation::{Block, ResultContent, ToolUse};
use dormouse_permissions::PermissionVerdict;
use dormouse_tools::CallResult;

use super::Driver;
use super::event_sources::FinishedCall;
use crate::event::EngineEvent;
use crate::meter::CallMeter;
use crate::stored_results::without_secrets;
use crate::tool_state::caller;
use crate::turn_state::PendingCall;

impl Driver<'_, '_> {
    pub(super) fn start_tool(&mut self, call: PendingCall) {
        let engine = &*self.engine;
        let caller = caller(&engine.config, engine.hooks.runner());
        let redactor = engine.config.tools.redactor.clone();
        let store = engine.config.result_store(&engine.conversation, &engine.figures);
        let bound = store.bound(&caller.tools, &call.name);
        let meter = CallMeter::start(engine, &call.name);
        let mut context =
            engine.tool_state.call_context(&engine.config, self.sources.cancel_tools.clone());
        context.overflow = store.overflow(&call.id);
        context.progress = Some(Arc::new(self.sources.lines.of(&call.id)));
        if let Some(call) = call.block.as_tool_use() {
            self.turn.emit(EngineEvent::ToolStarted {
                id: call.id.clone(),
                name: call.name.to_owned(),
                input: caller.tools.repaired(call).input.get().to_owned(),
            });
        }
        let id = call.id.clone();
        let task = self.sources.tools.spawn(async move {
            let Some(received) = call.block.as_tool_use() else {
                return FinishedCall::new(Block::interrupted(&call.id));
            };
            let repaired = caller.tools.repaired(received);
            let tool_use = ToolUse { input: &repaired.input, ..received };
            let result = caller.run(tool_use, &context).await;
            let notices =
                context.checkpoints.iter().flat_map(|checkpoints| checkpoints.take_notices());
            let notices = notices.map(|notice| EngineEvent::Notice(notice.into()));
            let events = call_events(tool_use, &result).into_iter().chain(notices).collect();
            let CallResult {
                content, spilled, is_error, is_interrupted, verdict, notes, halt, ..
            } = result;
            let kept = match &spilled {
                Some(spilled) => store.stored(spilled),
                None => store.keep(&call.id, bound, without_secrets(content, &redactor)),
            };
            meter.stop(verdict, is_error, kept.stored_bytes);
            let notes = notes.iter().map(|note| redactor.redact(note)).collect();
            let content = if is_interrupted { kept.content } else { repaired.tell(kept.content) };
            let block = Block::tool_result(&call.id, &content, is_error);
            FinishedCall { block, notes, halt, events }
        });
        self.sources.calls.insert(task.id(), id);
    }
}

/// Events about a call besides its result.
fn call_events(call: ToolUse<'_>, result: &CallResult) -> Vec<EngineEvent> {
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
