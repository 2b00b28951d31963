//! `dormouse hooks`: lists hooks, and which of them run at an event.

use std::path::Path;
use std::sync::Arc;

use dormouse_hooks::{HookEvent, HookQuery, HookView, Hooks, UnknownHookEvent};
use dormouse_tools::ToolSet;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::args::HooksArguments;
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::hooks::read;
use crate::wiring::print;
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

/// A hook in JSON output.
#[derive(Serialize)]
struct HookJson<'a> {
    event: &'static str,
    origin: String,
    file: &'a Path,
    line: Option<usize>,
    matcher: &'a str,
    r#if: Option<&'a str>,
    kind: &'static str,
    what: &'a str,
    timeout_seconds: f64,
    waited_for: bool,
    runs: bool,
    why_not: Option<&'a str>,
}

#[derive(Serialize)]
struct HookList<'a> {
    hooks: Vec<HookJson<'a>>,
    problems: Vec<String>,
}

pub(crate) fn run(arguments: &HooksArguments, world: &World) -> Result<Exit, Failure> {
    let project = current_project()?;
    let given = arguments.settings.as_deref();
    let in_force = settings::load(world, given, &project, Untrusted::Pass)?;
    let (hooks, problems) = read(&in_force, world)?;
    let views = views(&hooks, arguments, &project.folder)?;
    if arguments.json {
        let problems = problems.iter().map(ToString::to_string).collect();
        let listed = HookList { hooks: views.iter().map(to_json).collect(), problems };
        print::data_line(&serde_json::to_string(&listed).map_err(Failure::failed)?);
        return Ok(Exit::Done);
    }
    if views.is_empty() {
        print::note(&match &arguments.event {
            None => msg!("hooks-none"),
            Some(event) => msg!("hooks-none-for-event", event = event),
        });
    }
    for view in &views {
        print::data_line(&line(view));
    }
    for problem in problems {
        print::note(&msg!("hooks-invalid", problem = problem.to_string()));
    }
    Ok(Exit::Done)
}

fn views<'h>(
    hooks: &'h Hooks,
    arguments: &HooksArguments,
    folder: &Path,
) -> Result<Vec<HookView<'h>>, Failure> {
    let Some(name) = &arguments.event else { return Ok(hooks.list().collect()) };
    let unknown_event = |error: UnknownHookEvent| {
        let events: Vec<&str> = HookEvent::ALL.into_iter().map(HookEvent::name).collect();
        Failure::usage(anyhow::anyhow!("`{name}`: {error}"))
            .hint(msg!("hooks-events-hint", events = events.join(", ")))
    };
    let event = HookEvent::named(name).map_err(unknown_event)?;
    let input = arguments.input.as_ref().map(|text| RawValue::from_string(text.clone()));
    let input = input.transpose().map_err(|error| {
        Failure::usage(anyhow::anyhow!(msg!("hooks-input-not-json", error = error.to_string())))
            .hint(msg!("hooks-input-hint"))
    })?;
    let query = HookQuery { event, subject: arguments.tool.as_deref(), input: input.as_deref() };
    Ok(hooks.explain(query, &ToolSet::builtin(), folder))
}

fn to_json<'a>(view: &'a HookView<'_>) -> HookJson<'a> {
    HookJson {
        event: view.event.name(),
        origin: view.origin.to_string(),
        file: view.file,
        line: view.line,
        matcher: &view.matcher,
        r#if: view.condition.as_deref(),
        kind: view.kind,
        what: &view.action,
        timeout_seconds: view.timeout.as_secs_f64(),
        waited_for: view.waited_for,
        runs: view.inactive_reason.is_none(),
        why_not: view.inactive_reason.as_deref(),
    }
}

/// The source of a hook.
fn source(view: &HookView<'_>) -> String {
    let line = view.line.map(|line| format!(":{line}")).unwrap_or_default();
    format!("{}, {}{line}", view.origin, view.file.display())
}

/// Matcher, condition, timeout and whether it blocks.
fn conditions(view: &HookView<'_>) -> String {
    let mut parts = vec![format!("matcher {}", view.matcher)];
    parts.extend(view.condition.as_ref().map(|rule| format!("if {rule}")));
    parts.push(format!("{} s", view.timeout.as_secs_f64()));
    if !view.waited_for {
        parts.push("in the background".to_owned());
    }
    parts.join(", ")
}

fn line(view: &HookView<'_>) -> String {
    let what = view.action.replace('\n', "\\n");
    let runs = match &view.inactive_reason {
        None => "runs".to_owned(),
        Some(why) => format!("does not run: {why}"),
    };
    format!(
        "{}: {} `{what}` ({}; {}): {runs}",
        view.event.name(),
        view.kind,
        conditions(view),
        source(view)
    )
}

/// One row per hook, for `/hooks`.
pub(crate) fn rows(hooks: &Arc<Hooks>) -> Vec<(String, String)> {
    let row = |view: HookView<'_>| {
        let name = view.event.name().to_owned();
        (name.clone(), line(&view).trim_start_matches(&format!("{name}: ")).to_owned())
    };
    hooks.list().map(row).collect()
}
