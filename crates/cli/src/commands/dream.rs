//! `dormouse dream`: consolidates memories, and lists past dreams.

use std::path::Path;
use std::sync::Arc;

use clap::Parser as _;
use dormouse_background::{
    DreamBlocked, DreamOutcome, DreamReport, DreamStatus, DreamTiming, dream, dream_reports,
};
use dormouse_base::{Dir, Settings, Switches};
use dormouse_engine::{EngineEvent, ForkSource, Saving, SessionFolder, SessionMemory};
use dormouse_hooks::HookNotifier;
use dormouse_memory::ApplyMode;
use jiff::Timestamp;
use serde::Serialize;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{Arguments, DreamArguments, DreamCommand};
use crate::message_catalog::msg;
use crate::wiring::background_tasks;
use crate::wiring::catch_up;
use crate::wiring::dream::{report_lines, setup};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::memory_session;
use crate::wiring::print;
use crate::wiring::session_start::{self, PreparedSession, SessionChoice};
use crate::wiring::settings;
use crate::wiring::trust::Untrusted;
use crate::wiring::user_access::UserAccess;
use crate::wiring::world::{World, current_project};

/// A dream that did not start, in JSON output.
#[derive(Serialize)]
struct NotDue {
    status: &'static str,
    gate: &'static str,
    why: String,
    opens: Option<Timestamp>,
}

/// A dream in JSON output.
#[derive(Serialize)]
struct DreamJson<'a> {
    headline: String,
    improved: usize,
    #[serde(flatten)]
    report: &'a DreamReport,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    diff: Vec<DreamDiffJson>,
}

#[derive(Serialize)]
struct DreamDiffJson {
    scope: String,
    file: String,
    before: Option<String>,
    after: Option<String>,
}

pub(crate) async fn run(arguments: &DreamArguments, world: &World) -> Result<Exit, Failure> {
    if let Some(DreamCommand::Log { limit, json }) = &arguments.command {
        return log(*limit, *json, world).await;
    }
    let project = current_project()?;
    let in_force = settings::load(world, None, &project, Untrusted::Tell)?;
    let access = access(world, (&in_force.settings, &in_force.switches)).await?;
    let sessions = SessionFolder::open(&world.home()?, &project)?;
    if !arguments.dry_run && background_tasks::something_waits(world, &in_force.switches, &project)?
    {
        extract_queued(arguments, world).await?;
    }
    let when = if arguments.now { DreamTiming::Now } else { DreamTiming::IfDue };
    let trial = if arguments.dry_run { ApplyMode::Preview } else { ApplyMode::Apply };
    let mut start_failure = None;
    let mut hooks = HookNotifier::default();
    let seed = async |folder: &Path| {
        let seed = seed(arguments, world, folder).await;
        if let Ok(seed) = &seed {
            hooks = seed.hook_notifier().clone();
        }
        seed.map_err(|failure| {
            let message = failure.message();
            start_failure = Some(failure);
            message
        })
    };
    let setup = setup(world, access, sessions.dir().clone());
    let outcome = Box::pin(unless_interrupted(dream(setup, seed, when, trial))).await?;
    for notice in hooks.take_notices() {
        print::note(&format!("note: {notice}"));
    }
    match (outcome, start_failure) {
        (_, Some(failure)) => Err(failure),
        (None, None) => {
            print::note(&msg!("dream-interrupted"));
            Ok(Exit::Interrupted)
        }
        (Some(Err(blocked)), None) => print_blocked(&blocked, arguments.json),
        (Some(Ok(outcome)), None) => print_outcome(&outcome, arguments.json, world),
    }
}

/// Extracts memories from queued transcripts first (B-5).
async fn extract_queued(arguments: &DreamArguments, world: &World) -> Result<(), Failure> {
    let typed = session_arguments(arguments)?;
    print::note(&msg!("dream-catching-up"));
    let mut print_event = |event| {
        if let EngineEvent::Remembered(change) = event {
            print::note(&msg!("memory-saved-note", change = change.clone()));
        }
    };
    match unless_interrupted(catch_up::run(&typed, world, &mut print_event)).await? {
        Some(done) => done,
        None => Ok(()),
    }
}

fn session_arguments(arguments: &DreamArguments) -> Result<Arguments, Failure> {
    let model = arguments.model.iter().flat_map(|model| ["--model", model.as_str()]);
    Arguments::try_parse_from(["dormouse"].into_iter().chain(model)).map_err(Failure::usage)
}

/// The surroundings of a session that a dream runs in.
async fn prepare(
    arguments: &DreamArguments,
    world: &World,
) -> Result<(Arguments, PreparedSession), Failure> {
    let typed = session_arguments(arguments)?;
    let saving = Some(Saving::Entries);
    let choice = SessionChoice::of(&typed);
    let ready = session_start::prepare_for(&typed, &choice, world, Untrusted::Pass, saving).await?;
    Ok((typed, ready))
}

/// Memory for a dream started by the user, which does not depend on the switch `dream`.
async fn access(
    world: &World,
    (settings, switches): (&Settings, &Switches),
) -> Result<Arc<SessionMemory>, Failure> {
    let project = current_project()?;
    let set = (settings, switches);
    let memory = memory_session::setup(world, &project, set, Saving::Entries).await?;
    memory.map(|memory| memory.access).ok_or_else(|| {
        Failure::usage(anyhow::anyhow!(msg!("dream-memory-off")))
            .hint(msg!("dream-memory-off-hint"))
    })
}

/// A session for the dream: the usual prompt and tools, in a folder that is removed with the dream.
async fn seed(
    arguments: &DreamArguments,
    world: &World,
    folder: &Path,
) -> Result<ForkSource, Failure> {
    let (typed, ready) = prepare(arguments, world).await?;
    print::note(&msg!("dream-running"));
    let ready = ready.in_folder(SessionFolder::of(Dir::create(folder)?));
    Ok(ready.open(&typed, world, UserAccess::default())?.engine.fork_source())
}

async fn unless_interrupted<T>(work: impl Future<Output = T>) -> Result<Option<T>, Failure> {
    let listen = |kind| {
        signal(kind).map_err(|error| {
            Failure::failed(anyhow::anyhow!(msg!("signals-failed", error = error.to_string())))
        })
    };
    let mut signals = (
        listen(SignalKind::interrupt())?,
        listen(SignalKind::terminate())?,
        listen(SignalKind::hangup())?,
    );
    tokio::select! {
        done = work => Ok(Some(done)),
        _ = signals.0.recv() => Ok(None),
        _ = signals.1.recv() => Ok(None),
        _ = signals.2.recv() => Ok(None),
    }
}

fn print_blocked(blocked: &DreamBlocked, json: bool) -> Result<Exit, Failure> {
    if let DreamBlocked::Cannot(why) = blocked {
        return Err(Failure::failed(anyhow::anyhow!("{why}")));
    }
    let why = blocked.to_string();
    if json {
        let (gate, opens) = (blocked.word(), blocked.opens());
        print::json(&NotDue { status: "not-begun", gate, why, opens })?;
    } else {
        print::data_line(&msg!("dream-not-started", reason = why));
        if !matches!(blocked, DreamBlocked::Held(_)) {
            print::note(&msg!("dream-now-hint"));
        }
    }
    Ok(if matches!(blocked, DreamBlocked::Held(_)) { Exit::StoppedEarly } else { Exit::Done })
}

fn print_outcome(outcome: &DreamOutcome, json: bool, world: &World) -> Result<Exit, Failure> {
    let report = &outcome.report;
    if json {
        let diff =
            if report.status == DreamStatus::Previewed { diff_json(outcome) } else { Vec::new() };
        let (headline, improved) = (report.headline(), report.improved());
        print::json(&DreamJson { headline, improved, report, diff })?;
    } else {
        if report.status == DreamStatus::Previewed {
            for file in outcome.diffs.iter().flat_map(|(_, files)| files) {
                print::file_diff(file, &world.environment);
            }
        }
        for line in report_lines(report) {
            print::data_line(&line);
        }
    }
    Ok(match report.status {
        DreamStatus::Completed | DreamStatus::Previewed => Exit::Done,
        DreamStatus::Failed | DreamStatus::Killed => Exit::Failed,
    })
}

fn diff_json(outcome: &DreamOutcome) -> Vec<DreamDiffJson> {
    let text = |bytes: &Option<Vec<u8>>| {
        bytes.as_ref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    let files =
        outcome.diffs.iter().flat_map(|(scope, files)| files.iter().map(move |f| (scope, f)));
    let diffed = files.map(|(scope, file)| DreamDiffJson {
        scope: scope.to_string(),
        file: file.file.to_string(),
        before: text(&file.before),
        after: text(&file.after),
    });
    diffed.collect()
}

async fn log(limit: usize, json: bool, world: &World) -> Result<Exit, Failure> {
    let project = current_project()?;
    let in_force = settings::load(world, None, &project, Untrusted::Pass)?;
    let set = (&in_force.settings, &in_force.switches);
    let reports = match memory_session::project_store(world, &project, set).await? {
        Some(store) => dream_reports(&store)?,
        None => Vec::new(),
    };
    let shown = reports.get(..limit.min(reports.len())).unwrap_or_default();
    if json {
        print::json(&shown)?;
    } else {
        for report in shown {
            let when = report.began.strftime("%Y-%m-%d %H:%M");
            print::data_line(&format!(
                "{when}  {} sessions, {} requests",
                report.sessions, report.turns
            ));
            for line in report_lines(report) {
                print::data_line(&format!("    {line}"));
            }
        }
    }
    if reports.is_empty() {
        print::note(&msg!("dream-none"));
    }
    Ok(Exit::Done)
}
