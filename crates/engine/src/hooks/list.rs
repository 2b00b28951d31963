//! Hooks as they are shown to a person: which would run at an event, which not, and why.

use std::path::Path;
use std::time::Duration;

use dormouse_tools::ToolSet;
use serde_json::value::RawValue;

use super::HookEvent;
use super::choice::{are_twins, condition_fits};
use super::config::{Hook, Hooks};
use super::handler::Waiting;
use super::origin::{HookOrigin, Idle};

/// A hook as it is shown.
#[derive(Debug, Clone)]
pub struct HookView<'a> {
    /// Its event.
    pub event: HookEvent,
    /// Whose it is.
    pub origin: &'a HookOrigin,
    /// The file it stands in.
    pub file: &'a Path,
    /// The line, where it is known.
    pub line: Option<usize>,
    /// What it is for.
    pub matcher: String,
    /// The rule that a call has to fit.
    pub condition: Option<String>,
    /// `command`, `prompt`, `agent` or `http`.
    pub kind: &'static str,
    /// What it runs.
    pub what: String,
    /// How long it may take.
    pub timeout: Duration,
    /// Whether the turn waits for it.
    pub waited_for: bool,
    /// Why it does not run; none where it does.
    pub not_run: Option<String>,
}

/// Something that could happen.
#[derive(Debug, Clone, Copy)]
pub struct Occasion<'a> {
    /// The event.
    pub event: HookEvent,
    /// What matchers are compared with: the tool, the source, the reason. None where that is left open.
    pub subject: Option<&'a str>,
    /// The call's arguments; none where they are left open.
    pub input: Option<&'a RawValue>,
}

impl Hooks {
    /// All hooks, those that do not run as well, by event and in their order.
    pub fn list(&self) -> impl Iterator<Item = HookView<'_>> {
        HookEvent::ALL
            .into_iter()
            .flat_map(|event| self.all_of(event).iter().map(move |hook| view(event, hook, None)))
    }

    /// The hooks of an event, and which of them would run.
    pub fn explain(
        &self,
        occasion: Occasion<'_>,
        tools: &ToolSet,
        folder: &Path,
    ) -> Vec<HookView<'_>> {
        let mut views: Vec<HookView<'_>> = Vec::new();
        let mut running: Vec<&Hook> = Vec::new();
        for hook in self.all_of(occasion.event) {
            let twin = || {
                let first = running.iter().find(|other| are_twins(other, hook))?;
                Some(format!("the same runs already, from {}", place(first)))
            };
            let why = unfit(hook, occasion, tools, folder)
                .or_else(|| if hook.home.idle.is_some() { None } else { twin() });
            let view = view(occasion.event, hook, why);
            if view.not_run.is_none() {
                running.push(hook);
            }
            views.push(view);
        }
        views
    }
}

/// Why a hook is not for an occasion.
fn unfit(hook: &Hook, occasion: Occasion<'_>, tools: &ToolSet, folder: &Path) -> Option<String> {
    let subject = occasion.subject?;
    if !hook.matcher.matches(subject) {
        return Some(format!("its matcher `{}` does not fit `{subject}`", hook.matcher));
    }
    let rule = hook.handler.condition.as_ref()?;
    let fits = match occasion.input {
        Some(input) => condition_fits(rule, tools, (subject, input), folder),
        None => {
            let family = tools.get(subject).and_then(|tool| tool.spec().traits.rule_family);
            rule.is_for_tool(subject, family)
        }
    };
    (!fits).then(|| format!("its `if` `{rule}` does not fit the call"))
}

fn view(event: HookEvent, hook: &Hook, why: Option<String>) -> HookView<'_> {
    let idle: Option<Idle> = hook.home.idle;
    HookView {
        event,
        origin: &hook.home.origin,
        file: &hook.home.file,
        line: hook.line,
        matcher: hook.matcher.to_string(),
        condition: hook.handler.condition.as_ref().map(ToString::to_string),
        kind: hook.handler.kind_name(),
        what: hook.handler.shown(),
        timeout: hook.handler.timeout,
        waited_for: hook.handler.waiting == Waiting::Yes,
        not_run: idle.map(|idle| idle.to_string()).or(why),
    }
}

fn place(hook: &Hook) -> String {
    let line = hook.line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("{}{line}", hook.home.file.display())
}
