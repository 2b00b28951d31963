//! Calls, as hooks see them.

use std::sync::Arc;
use std::time::Duration;

use dormouse_conversation::ResultContent;
use dormouse_tools::{After, Before, CallObserver, CallResult, CallView, Stance, Substitute};
use futures_util::future::BoxFuture;
use serde_json::value::{RawValue, to_raw_value};

use super::HookEvent;
use super::answer::Permission;
use super::input::Details;
use super::runner::{HookRunner, Verdict};

/// Passes calls on to hooks.
#[derive(Debug, Clone)]
pub(crate) struct HookObserver {
    pub(crate) runner: Arc<HookRunner>,
    /// Whether there is a person who could be waited for.
    pub(crate) somebody_there: bool,
}

/// What the model is told where a hook says so.
const RETRY: &str = "The call that was denied may be tried again.";
/// How an interrupted call answers.
const INTERRUPTED: &str = "interrupted";

impl CallObserver for HookObserver {
    fn before<'a>(&'a self, call: CallView<'a>) -> BoxFuture<'a, Before> {
        Box::pin(async move {
            let details = Details::Tool {
                tool_name: call.name,
                tool_input: call.input,
                tool_use_id: call.id.as_str(),
            };
            let verdict = self.runner.fire(HookEvent::PreToolUse, details).await;
            let Verdict { block, halt, notes, permission, input, .. } = verdict;
            let stance = match (block, permission) {
                (Some(why), _) | (None, Some(Permission::Deny(why))) => Stance::Deny { why },
                (None, Some(Permission::Ask(why))) => Stance::Ask { why },
                (None, Some(Permission::Allow(why))) => Stance::Allow { why },
                (None, None) => Stance::Neutral,
            };
            let input = input.and_then(|input| self.usable(input));
            Before { stance, input, notes, halt }
        })
    }

    fn asking<'a>(&'a self, call: CallView<'a>, why: &'a str) -> BoxFuture<'a, Option<Substitute>> {
        Box::pin(async move {
            let details = Details::Asked {
                tool_name: call.name,
                tool_input: call.input,
                tool_use_id: call.id.as_str(),
                reason: why,
            };
            let verdict = self.runner.fire(HookEvent::PermissionRequest, details).await;
            match (verdict.block, verdict.permission) {
                (Some(why), _) | (None, Some(Permission::Deny(why))) => {
                    return Some(Substitute::Deny { why });
                }
                (None, Some(Permission::Allow(_))) => {
                    let input = verdict.input.and_then(|input| self.usable(input));
                    return Some(Substitute::Allow { input });
                }
                (None, Some(Permission::Ask(_)) | None) => {}
            }
            if self.somebody_there {
                self.call_somebody(call.name);
            }
            None
        })
    }

    fn denied<'a>(&'a self, call: CallView<'a>, why: &'a str) -> BoxFuture<'a, Vec<String>> {
        Box::pin(async move {
            let details = Details::Asked {
                tool_name: call.name,
                tool_input: call.input,
                tool_use_id: call.id.as_str(),
                reason: why,
            };
            let verdict = self.runner.fire(HookEvent::PermissionDenied, details).await;
            let again = verdict.retry.then(|| RETRY.to_owned());
            verdict.notes.into_iter().chain(again).collect()
        })
    }

    fn after<'a>(
        &'a self,
        call: CallView<'a>,
        result: &'a CallResult,
        took: Duration,
    ) -> BoxFuture<'a, After> {
        Box::pin(async move {
            let verdict = self.fire_after(call, result, took).await;
            let Verdict { block, halt, mut notes, output, .. } = verdict;
            // What has happened can not be blocked: the reason is told to the model.
            notes.extend(block);
            let content = output.map(|output| match serde_json::from_str::<String>(output.get()) {
                Ok(text) => ResultContent::Text(text),
                Err(_) => ResultContent::Text(output.get().to_owned()),
            });
            After { content, notes, halt }
        })
    }
}

impl HookObserver {
    async fn fire_after(&self, call: CallView<'_>, result: &CallResult, took: Duration) -> Verdict {
        let duration_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        let (tool_name, tool_input) = (call.name, call.input);
        let tool_use_id = call.id.as_str();
        if result.is_error {
            let error = match &result.content {
                ResultContent::Text(text) => text.as_str(),
                ResultContent::Blocks(_) => "",
            };
            let is_interrupt = error.starts_with(INTERRUPTED);
            let details = Details::Failed {
                tool_name,
                tool_input,
                tool_use_id,
                error,
                is_interrupt,
                duration_ms,
            };
            return self.runner.fire(HookEvent::PostToolUseFailure, details).await;
        }
        let response = response(&result.content);
        let details = Details::Done {
            tool_name,
            tool_input,
            tool_use_id,
            tool_response: &response,
            duration_ms,
        };
        self.runner.fire(HookEvent::PostToolUse, details).await
    }

    /// Arguments have to be an object.
    fn usable(&self, input: Box<RawValue>) -> Option<Box<RawValue>> {
        if input.get().trim_start().starts_with('{') {
            return Some(input);
        }
        self.runner.note("a hook gave arguments that are no JSON object; they were ignored".into());
        None
    }

    /// Tells hooks that a person is wanted, without waiting for them.
    fn call_somebody(&self, tool: &str) {
        let message = format!("Dormouse asks for permission to use {tool}");
        let details =
            Details::Notification { message: &message, notification_type: "permission_prompt" };
        self.runner.fire_beside(HookEvent::Notification, &details);
    }
}

/// A result as JSON: a text, or a list of blocks.
pub(super) fn response(content: &ResultContent) -> Box<RawValue> {
    let json = match content {
        ResultContent::Text(text) => to_raw_value(text),
        ResultContent::Blocks(blocks) => to_raw_value(blocks),
    };
    // Strings and blocks that were JSON before have no way to fail.
    json.unwrap_or_default()
}
