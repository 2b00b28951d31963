//! Hooks as they are shown to a person.

use std::path::Path;
use std::time::Duration;

use super::HookEvent;
use super::config::{Hook, Hooks};
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
    /// What it runs.
    pub what: String,
    /// How long it may take.
    pub timeout: Duration,
    /// Why it does not run, whatever happens.
    pub idle: Option<Idle>,
}

impl Hooks {
    /// All hooks, those that do not run as well, by event and in their order.
    pub fn list(&self) -> impl Iterator<Item = HookView<'_>> {
        HookEvent::ALL
            .into_iter()
            .flat_map(|event| self.all_of(event).iter().map(move |hook| view(event, hook)))
    }
}

fn view(event: HookEvent, hook: &Hook) -> HookView<'_> {
    HookView {
        event,
        origin: &hook.home.origin,
        file: &hook.home.file,
        line: hook.line,
        what: hook.handler.command.clone(),
        timeout: hook.handler.timeout,
        idle: hook.home.idle,
    }
}
