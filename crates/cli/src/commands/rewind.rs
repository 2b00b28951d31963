//! `dormouse rewind`: lists the user's messages of a session, and takes back what was done after one of them.
//!
//! The texts of plans and outcomes are also those of `/rewind`.

use std::path::Path;

use dormouse_checkpoint::{
    ContentStore, FileState, LoggedChange, PlannedChange, RewindObstacle, RewindPlan,
    RewindRequest, RewindScope,
};
use dormouse_engine::{OpenedSession, RewindOutcome, RewindPoint, SessionFolder, Surroundings};
use dormouse_tui::width;
use serde::Serialize;

use crate::args::RewindArguments;
use crate::message_catalog::msg;
use crate::terminal::diff::unified_texts;
use crate::wiring::engine_config::services;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::session_lookup::find_session;
use crate::wiring::world::{World, current_project};

/// How many files are named for one message.
const NAMED: usize = 4;
/// The most bytes of a file that is compared line by line.
const MAX_COMPARED: usize = 256 * 1024;
/// Columns for the text of a message.
const TEXT_COLUMNS: usize = 60;

#[derive(Serialize)]
struct PointJson<'a> {
    number: usize,
    message: String,
    text: Option<&'a str>,
    changed: Vec<String>,
}

#[derive(Serialize)]
struct ChangeJson {
    path: String,
    action: &'static str,
}

#[derive(Serialize)]
struct RewindJson {
    dry_run: bool,
    changes: Vec<ChangeJson>,
    moved_branch: Option<(String, String)>,
    restored: Vec<String>,
    skipped: Vec<String>,
}

pub(crate) async fn run(arguments: &RewindArguments, world: &World) -> Result<Exit, Failure> {
    let project = current_project()?;
    let folder = SessionFolder::existing(&world.home()?, &project)?;
    let session = find_session(folder.as_ref(), &arguments.session)?;
    let folder = SessionFolder::open(&world.home()?, &project)?;
    let surroundings =
        Surroundings::look(&project, &world.environment, &*world.clock, &world.deadlines).await;
    let services = services(world)?;
    let (clock, ids) = (services.clock.clone(), services.ids.clone());
    let mut opened = folder.reopen(session, &surroundings, clock, ids)?;
    if let Some(report) = opened.finished_rewind() {
        print::note(&msg!("rewind-finished", count = report.restored.len()));
    }
    let points = opened.rewind_points()?;
    let Some(number) = arguments.number else {
        return list(arguments, &points, &project.folder);
    };
    let point = point(&points, number)?;
    let scope = match (arguments.code, arguments.conversation) {
        (true, _) => RewindScope::Code,
        (_, true) => RewindScope::Conversation,
        (false, false) => RewindScope::Both,
    };
    let plan = plan_for(&opened, point, scope, &project.checkout)?;
    let outcome = if arguments.dry_run {
        None
    } else {
        let request = RewindRequest { target: point.target, scope, overwrite: arguments.overwrite };
        Some(opened.rewind(request, &plan, &services)?)
    };
    if arguments.json {
        print::json(&to_json(&plan, outcome.as_ref()))?;
        return Ok(Exit::Done);
    }
    let store = opened.checkpoint_contents();
    print::data(&plan_text(&plan, &project.folder, arguments.overwrite));
    print::data(&differences(&plan, store.as_ref()));
    match outcome {
        None => print::note(&dry_run_text(&plan, scope, number)),
        Some(outcome) => print::note(&outcome_text(&outcome, scope, number)),
    }
    Ok(Exit::Done)
}

fn plan_for(
    opened: &OpenedSession,
    point: &RewindPoint,
    scope: RewindScope,
    checkout: &Path,
) -> Result<RewindPlan, Failure> {
    if scope == RewindScope::Conversation {
        return Ok(RewindPlan::default());
    }
    Ok(opened.rewind_plan(point.target, checkout)?)
}

/// The point with this number, from 1.
pub(crate) fn point(points: &[RewindPoint], number: usize) -> Result<&RewindPoint, Failure> {
    let found = number.checked_sub(1).and_then(|index| points.get(index));
    found.ok_or_else(|| {
        let error = msg!("rewind-no-message", number = number, count = points.len());
        Failure::usage(anyhow::anyhow!(error)).hint(msg!("rewind-no-message-hint"))
    })
}

fn list(
    arguments: &RewindArguments,
    points: &[RewindPoint],
    folder: &Path,
) -> Result<Exit, Failure> {
    if arguments.json {
        let json: Vec<PointJson<'_>> = points
            .iter()
            .enumerate()
            .map(|(index, point)| PointJson {
                number: index + 1,
                message: point.target.message.to_string(),
                text: point.text.as_deref(),
                changed: point.changes.iter().map(|change| shown(&change.path, folder)).collect(),
            })
            .collect();
        print::json(&json)?;
        return Ok(Exit::Done);
    }
    for (number, text) in rows(points, folder) {
        print::data_line(&format!("{number:>4}  {}", text.replace('\n', "\n      ")));
    }
    let note = if points.is_empty() { msg!("rewind-none") } else { msg!("rewind-how") };
    print::note(&note);
    if let Some(cost) = listing_cost(points) {
        print::note(&cost);
    }
    Ok(Exit::Done)
}

/// How long listing files took for the commands of a session; none if nothing was listed.
pub(crate) fn listing_cost(points: &[RewindPoint]) -> Option<String> {
    let took: std::time::Duration = points.iter().map(|point| point.listing).sum();
    let text = format!("{:.2}", took.as_secs_f64());
    (!took.is_zero()).then(|| msg!("rewind-listing-cost", seconds = text))
}

/// The points, each with its number, its text and what changed after it.
pub(crate) fn rows(points: &[RewindPoint], folder: &Path) -> Vec<(String, String)> {
    let row = |(index, point): (usize, &RewindPoint)| {
        let text = match &point.text {
            Some(text) => width::fitted(text.lines().next().unwrap_or_default(), TEXT_COLUMNS),
            None => msg!("rewind-is-rewind"),
        };
        ((index + 1).to_string(), format!("{text}\n{}", changed(&point.changes, folder)))
    };
    points.iter().enumerate().map(row).collect()
}

fn changed(changes: &[LoggedChange], folder: &Path) -> String {
    let files: Vec<&LoggedChange> = changes.iter().filter(|change| !is_folder(change)).collect();
    if files.is_empty() {
        return msg!("rewind-no-changes");
    }
    let named = files.iter().take(NAMED).map(|change| {
        let path = shown(&change.path, folder);
        match (&change.before, &change.after) {
            (FileState::Absent, _) => msg!("rewind-new", path = path),
            (_, Some(FileState::Absent)) => msg!("rewind-deleted", path = path),
            _ => path,
        }
    });
    let mut named: Vec<String> = named.collect();
    if files.len() > NAMED {
        named.push(msg!("rewind-more", count = files.len() - NAMED));
    }
    named.join(", ")
}

fn is_folder(change: &LoggedChange) -> bool {
    let folder = |state: &FileState| matches!(state, FileState::Folder { .. } | FileState::Absent);
    folder(&change.before) && change.after.as_ref().is_some_and(folder)
}

/// A path as the user would write it.
fn shown(path: &Path, folder: &Path) -> String {
    path.strip_prefix(folder).unwrap_or(path).display().to_string()
}

/// What a plan does, a line for each file, and what the user should know of it.
pub(crate) fn plan_text(plan: &RewindPlan, folder: &Path, overwrite: bool) -> String {
    let mut lines: Vec<String> = plan
        .changes
        .iter()
        .map(|change| format!("{:<16} {}", label(change, overwrite), shown(&change.path, folder)))
        .collect();
    if let (Some(then), Some(now)) = (&plan.moved_from, &plan.head) {
        lines.push(msg!("rewind-branch-moved", then = then.as_str(), now = now.as_str()));
    }
    if plan.is_incomplete {
        lines.push(msg!("rewind-incomplete"));
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

fn label(change: &PlannedChange, overwrite: bool) -> String {
    match (change.obstacle, &change.becomes) {
        (Some(RewindObstacle::NotKept), _) => msg!("rewind-label-not-kept"),
        (Some(RewindObstacle::ChangedSince), _) if !overwrite => msg!("rewind-label-changed"),
        (_, FileState::Absent) => msg!("rewind-label-remove"),
        _ if change.now == FileState::Absent => msg!("rewind-label-bring-back"),
        _ => msg!("rewind-label-restore"),
    }
}

/// What would be lost of files that somebody changed since.
pub(crate) fn differences(plan: &RewindPlan, store: Option<&ContentStore>) -> String {
    let Some(store) = store else { return String::new() };
    let kept = |state: &FileState| match state.content().map(|content| store.get(content)) {
        Some(Ok(bytes)) => bytes,
        Some(Err(_)) | None => Vec::new(),
    };
    let of = |change: &PlannedChange| {
        let path = change.path.display();
        let now = std::fs::read(&change.path).unwrap_or_default();
        let (Some(now), Some(then)) = (short_text(now), short_text(kept(&change.becomes))) else {
            return msg!("rewind-no-diff", path = path.to_string()) + "\n";
        };
        let names = (
            msg!("rewind-diff-now", path = path.to_string()),
            msg!("rewind-diff-then", path = path.to_string()),
        );
        unified_texts((&names.0, &names.1), &now, &then)
    };
    plan.with_obstacle(RewindObstacle::ChangedSince).map(of).collect()
}

/// A content that can be compared line by line on a screen: text, and not too much of it.
fn short_text(content: Vec<u8>) -> Option<String> {
    let fits = content.len() <= MAX_COMPARED && !content.contains(&0);
    fits.then(|| String::from_utf8(content).ok()).flatten()
}

/// What would be done.
fn dry_run_text(plan: &RewindPlan, scope: RewindScope, number: usize) -> String {
    let count = plan.changes.iter().filter(|change| change.obstacle.is_none()).count();
    let would = match (scope.has_code(), scope.has_conversation()) {
        (true, true) => msg!("rewind-dry-run-both", count = count, number = number),
        (true, false) => msg!("rewind-dry-run-files", count = count),
        (false, _) => msg!("rewind-dry-run-conversation", number = number),
    };
    format!("{} {would}", msg!("rewind-dry-run"))
}

/// What was done, in one or more sentences.
pub(crate) fn outcome_text(outcome: &RewindOutcome, scope: RewindScope, number: usize) -> String {
    let mut lines = Vec::new();
    if scope.has_code() {
        lines.push(msg!("rewind-restored", count = outcome.files.restored.len()));
    }
    if scope.has_conversation() {
        // Without a message it was a rewind, which is taken back.
        lines.push(match &outcome.prompt {
            Some(_) => msg!("rewind-conversation", number = number),
            None => msg!("rewind-taken-back"),
        });
    }
    for skipped in &outcome.files.skipped {
        let path = skipped.path.display().to_string();
        lines.push(msg!("rewind-skipped", path = path, reason = skipped.reason.as_str()));
    }
    lines.join("\n")
}

fn to_json(plan: &RewindPlan, outcome: Option<&RewindOutcome>) -> RewindJson {
    let text = |path: &std::path::PathBuf| path.display().to_string();
    let action = |change: &PlannedChange| match change.obstacle {
        Some(RewindObstacle::NotKept) => "not_kept",
        Some(RewindObstacle::ChangedSince) => "changed_since",
        None if change.becomes == FileState::Absent => "remove",
        None => "restore",
    };
    let files = outcome.map(|outcome| &outcome.files);
    RewindJson {
        dry_run: outcome.is_none(),
        changes: plan
            .changes
            .iter()
            .map(|change| ChangeJson { path: text(&change.path), action: action(change) })
            .collect(),
        moved_branch: plan.moved_from.clone().zip(plan.head.clone()),
        restored: files.iter().flat_map(|files| files.restored.iter().map(text)).collect(),
        skipped: files
            .iter()
            .flat_map(|files| files.skipped.iter().map(|skipped| text(&skipped.path)))
            .collect(),
    }
}
