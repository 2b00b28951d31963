//! Views of the hooks for `dormouse hooks`: which would run at an event, and why not.

use std::path::Path;
use std::time::Duration;

use dormouse_tools::ToolSet;
use serde_json::value::RawValue;

use crate::config::{Hook, Hooks};
use crate::event::HookEvent;
use crate::handler::WaitMode;
use crate::input::CallInput;
use crate::origin::{HookOrigin, InactiveReason};
use crate::selection::{are_duplicates, condition_matches};

/// A hook for display.
#[derive(Debug, Clone)]
pub struct HookView<'a> {
    /// The event.
    pub event: HookEvent,
    /// Where it is configured.
    pub origin: &'a HookOrigin,
    /// The file.
    pub file: &'a Path,
    /// The line, if known.
    pub line: Option<usize>,
    /// The matcher.
    pub matcher: String,
    /// The `if` rule.
    pub condition: Option<String>,
    /// `command`, `prompt`, `agent`, `http` or `mcp_tool`.
    pub kind: &'static str,
    /// The command, prompt, URL or tool.
    pub action: String,
    /// The timeout.
    pub timeout: Duration,
    /// Whether the turn waits for it.
    pub waited_for: bool,
    /// Why it does not run; `None` if it runs.
    pub inactive_reason: Option<String>,
}

/// An event to explain.
#[derive(Debug, Clone, Copy)]
pub struct HookQuery<'a> {
    /// The event.
    pub event: HookEvent,
    /// The subject that matchers are compared with: the tool, the source, the reason. `None` matches all.
    pub subject: Option<&'a str>,
    /// The arguments of the call; `None` matches all.
    pub input: Option<&'a RawValue>,
}

impl Hooks {
    /// All hooks, including inactive ones, by event and in order.
    pub fn list(&self) -> impl Iterator<Item = HookView<'_>> {
        HookEvent::ALL
            .into_iter()
            .flat_map(|event| self.all_of(event).iter().map(move |hook| view(event, hook, None)))
    }

    /// The hooks of an event, with the reason for each that would not run.
    pub fn explain(
        &self,
        query: HookQuery<'_>,
        tools: &ToolSet,
        folder: &Path,
    ) -> Vec<HookView<'_>> {
        let mut views: Vec<HookView<'_>> = Vec::new();
        let mut running: Vec<&Hook> = Vec::new();
        for hook in self.all_of(query.event) {
            let duplicate = || {
                let first = running.iter().find(|other| are_duplicates(other, hook))?;
                Some(format!("duplicate of {}", position(first)))
            };
            let is_active = hook.source.inactive.is_none();
            let reason = mismatch(hook, query, tools, folder)
                .or_else(|| if is_active { duplicate() } else { None });
            let view = view(query.event, hook, reason);
            if view.inactive_reason.is_none() {
                running.push(hook);
            }
            views.push(view);
        }
        views
    }
}

/// Why a hook does not match an event.
fn mismatch(hook: &Hook, query: HookQuery<'_>, tools: &ToolSet, folder: &Path) -> Option<String> {
    let subject = query.subject?;
    if !hook.matcher.matches(subject) {
        return Some(format!("its matcher `{}` does not match `{subject}`", hook.matcher));
    }
    let rule = hook.handler.condition.as_ref()?;
    let fits = match query.input {
        Some(tool_input) => {
            let call = CallInput { tool_name: subject, tool_input };
            condition_matches(rule, tools, call, folder)
        }
        None => {
            let family = tools.get(subject).and_then(|tool| tool.spec().traits.rule_family);
            rule.is_for_tool(subject, family)
        }
    };
    (!fits).then(|| format!("its `if` `{rule}` does not match the call"))
}

fn view(event: HookEvent, hook: &Hook, reason: Option<String>) -> HookView<'_> {
    let inactive: Option<InactiveReason> = hook.source.inactive;
    HookView {
        event,
        origin: &hook.source.origin,
        file: &hook.source.file,
        line: hook.line,
        matcher: hook.matcher.to_string(),
        condition: hook.handler.condition.as_ref().map(ToString::to_string),
        kind: hook.handler.kind_name(),
        action: hook.handler.summary(),
        timeout: hook.handler.timeout,
        waited_for: hook.handler.wait_mode == WaitMode::Wait,
        inactive_reason: inactive.map(|inactive| inactive.to_string()).or(reason),
    }
}

fn position(hook: &Hook) -> String {
    let line = hook.line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("{}{line}", hook.source.file.display())
}
