//! Runs the hooks around a tool call.

use std::sync::Arc;
use std::time::Duration;

use dormouse_conversation::ResultContent;
use dormouse_tools::{
    AfterCall, BeforeCall, CallObserver, CallOpinion, CallResult, CallView, ConfirmationOverride,
};
use futures_util::future::BoxFuture;
use serde_json::value::RawValue;

use crate::dispatch::HookVerdict;
use crate::event::HookEvent;
use crate::input::{EventInput, result_json};
use crate::response::HookPermission;
use crate::runner::HookRunner;

/// Runs the hooks around each tool call.
#[derive(Debug, Clone)]
pub struct HookObserver {
    /// The hooks.
    pub runner: Arc<HookRunner>,
    /// Whether a user can answer permission prompts.
    pub has_user: bool,
}

/// Text for the model if a hook allows a retry.
const RETRY: &str = "The call that was denied may be tried again.";

impl CallObserver for HookObserver {
    fn before<'a>(&'a self, call: CallView<'a>) -> BoxFuture<'a, BeforeCall> {
        Box::pin(async move {
            let details = EventInput::Tool {
                tool_name: call.name,
                tool_input: call.input,
                tool_use_id: call.id.as_str(),
            };
            let verdict = self.runner.dispatcher.fire(HookEvent::PreToolUse, details).await;
            let HookVerdict { block, mut halt, notes, permission, input, .. } = verdict;
            let opinion = match (block, permission) {
                (None, Some(HookPermission::Defer(why))) => self.defer(call.name, &why, &mut halt),
                (Some(why), _) | (None, Some(HookPermission::Deny(why))) => {
                    CallOpinion::Deny { why }
                }
                (None, Some(HookPermission::Ask(why))) => CallOpinion::Ask { why },
                (None, Some(HookPermission::Allow(why))) => CallOpinion::Allow { why },
                (None, None) => CallOpinion::Neutral,
            };
            let input = input.and_then(|input| self.checked_input(input));
            BeforeCall { opinion, input, notes, halt }
        })
    }

    fn asking<'a>(
        &'a self,
        call: CallView<'a>,
        why: &'a str,
    ) -> BoxFuture<'a, Option<ConfirmationOverride>> {
        Box::pin(async move {
            let details = EventInput::Asked {
                tool_name: call.name,
                tool_input: call.input,
                tool_use_id: call.id.as_str(),
                reason: why,
            };
            let verdict = self.runner.dispatcher.fire(HookEvent::PermissionRequest, details).await;
            match (verdict.block, verdict.permission) {
                (Some(why), _) | (None, Some(HookPermission::Deny(why))) => {
                    return Some(ConfirmationOverride::Deny { why });
                }
                (None, Some(HookPermission::Allow(_))) => {
                    let input = verdict.input.and_then(|input| self.checked_input(input));
                    return Some(ConfirmationOverride::Allow { input });
                }
                (None, Some(HookPermission::Ask(_) | HookPermission::Defer(_)) | None) => {}
            }
            if self.has_user {
                self.notify_permission_prompt(call.name);
            }
            None
        })
    }

    fn denied<'a>(&'a self, call: CallView<'a>, why: &'a str) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async move {
            let details = EventInput::Asked {
                tool_name: call.name,
                tool_input: call.input,
                tool_use_id: call.id.as_str(),
                reason: why,
            };
            let verdict = self.runner.dispatcher.fire(HookEvent::PermissionDenied, details).await;
            let again = verdict.retry.then(|| RETRY.to_owned());
            verdict.notes.into_iter().chain(again).collect()
        })
    }

    fn after<'a>(
        &'a self,
        call: CallView<'a>,
        result: &'a CallResult,
        took: Duration,
    ) -> BoxFuture<'a, AfterCall> {
        Box::pin(async move {
            let verdict = self.fire_after(call, result, took).await;
            let HookVerdict { block, halt, mut notes, output, .. } = verdict;
            // The call has already run: the model gets the reason of a block.
            notes.extend(block);
            let content = output.map(|output| match serde_json::from_str::<String>(output.get()) {
                Ok(text) => ResultContent::Text(text),
                Err(_) => ResultContent::Text(output.get().to_owned()),
            });
            AfterCall { content, notes, halt }
        })
    }
}

impl HookObserver {
    async fn fire_after(
        &self,
        call: CallView<'_>,
        result: &CallResult,
        took: Duration,
    ) -> HookVerdict {
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let (tool_name, tool_input) = (call.name, call.input);
        let tool_use_id = call.id.as_str();
        if result.is_error {
            let error = match &result.content {
                ResultContent::Text(text) => text.as_str(),
                ResultContent::Blocks(_) => "",
            };
            let is_interrupt = result.is_interrupted;
            let details = EventInput::Failed {
                tool_name,
                tool_input,
                tool_use_id,
                error,
                is_interrupt,
                duration_ms,
            };
            return self.runner.dispatcher.fire(HookEvent::PostToolUseFailure, details).await;
        }
        let response = result_json(&result.content);
        let details = EventInput::Done {
            tool_name,
            tool_input,
            tool_use_id,
            tool_response: &response,
            duration_ms,
        };
        self.runner.dispatcher.fire(HookEvent::PostToolUse, details).await
    }

    /// A call that is not to run now: it is not run, and a headless run ends, to be continued by whoever started it. With a
    /// user to ask there is no need to.
    fn defer(&self, tool: &str, why: &str, halt: &mut Option<String>) -> CallOpinion {
        if self.has_user {
            let text = format!("a hook defers {tool}, which only headless runs can do (ignored)");
            self.runner.dispatcher.notice(text);
            return CallOpinion::Neutral;
        }
        let deferred = format!("{tool} was deferred: {why}");
        halt.get_or_insert(format!("{deferred}; continue the session to try again"));
        CallOpinion::Deny { why: format!("{deferred}. It may be called again later.") }
    }

    /// Accepts arguments only if they are a JSON object.
    fn checked_input(&self, input: Box<RawValue>) -> Option<Box<RawValue>> {
        if input.get().trim_start().starts_with('{') {
            return Some(input);
        }
        self.runner
            .dispatcher
            .notice("a hook returned arguments that are not a JSON object (ignored)".to_owned());
        None
    }

    /// Runs `Notification` hooks in the background.
    fn notify_permission_prompt(&self, tool: &str) {
        let message = format!("Dormouse asks for permission to use {tool}");
        let details =
            EventInput::Notification { message: &message, notification_type: "permission_prompt" };
        self.runner.dispatcher.fire_in_background(HookEvent::Notification, &details);
    }
}
