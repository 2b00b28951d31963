//! `dormouse -p`: one question, one answer; or, with `--input-format stream-json`, a conversation with another program.

pub(crate) mod output;
mod run_ends;
mod run_progress;
mod stop_signals;
mod stream_asker;
mod stream_input;
mod stream_requests;
mod stream_session;

use std::convert::Infallible;
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dormouse_engine::{EngineEvent, TurnContext, TurnReport};
use dormouse_hooks::SessionEndReason;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::args::{Arguments, InputFormat, LIST_SESSIONS, OutputFormat, SessionsArguments};
use crate::commands::sessions;
use crate::headless::run_ends::{begin, finish};
use crate::headless::run_progress::{ProgressTarget, RunProgress};
use crate::headless::stop_signals::StopSignals;
use crate::wiring::background_tasks;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input;
use crate::wiring::print;
use crate::wiring::session_start;
use crate::wiring::session_start::{ActiveSession, SessionChoice};
use crate::wiring::trust::Untrusted;
use crate::wiring::user_access::UserAccess;
use crate::wiring::world::{World, current_project};

/// How often it is checked whether a line of progress is due.
const PROGRESS_CHECK: Duration = Duration::from_millis(500);

pub(crate) async fn run(arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    let is_stream = arguments.input_format == InputFormat::StreamJson;
    if is_stream && arguments.output_format != OutputFormat::StreamJson {
        let error = anyhow::anyhow!("--input-format stream-json answers in the same format");
        return Err(Failure::usage(error).hint("add --output-format stream-json"));
    }
    if arguments.resume.as_deref() == Some(LIST_SESSIONS) {
        return list(arguments, world);
    }
    // A wrong id is reported before standard input is read.
    let choice = SessionChoice::of(arguments);
    choice.find(&world.home()?, &current_project()?)?;
    if arguments.init_only {
        return init_only(arguments, world).await;
    }
    if is_stream {
        return Box::pin(stream_session::run(arguments, &choice, world)).await;
    }
    let prompt = prompt(arguments)?;
    let ready = session_start::prepare(arguments, &choice, world, Untrusted::Tell).await?;
    let mut session = ready.open(arguments, world, UserAccess::default())?;
    let report = ask(&mut session, arguments, world, &prompt).await;
    session.servers.close().await;
    let report = report?;
    finish(&report, &session.key)
}

/// Runs the `Setup` hooks only.
async fn init_only(arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    let choice = SessionChoice::of(arguments);
    let ready = session_start::prepare(arguments, &choice, world, Untrusted::Tell).await?;
    let mut session = ready.open(arguments, world, UserAccess::default())?;
    session.set_up(arguments, &mut print::notice).await;
    Ok(Exit::Done)
}

/// `--resume` without an id.
fn list(arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    if !arguments.prompt.is_empty() {
        return Err(Failure::usage(anyhow::anyhow!(
            "--resume needs a session id together with a prompt"
        ))
        .hint("`dormouse sessions` lists sessions; --continue takes the most recent one"));
    }
    let json = arguments.output_format != OutputFormat::Text;
    sessions::run(&SessionsArguments { search: None, limit: usize::MAX, json }, world)
}

/// The prompt from the arguments, standard input, or both.
fn prompt(arguments: &Arguments) -> Result<String, Failure> {
    let typed = arguments.prompt.join(" ");
    let piped = if std::io::stdin().is_terminal() { String::new() } else { input::read()? };
    let parts: Vec<&str> = [typed.as_str(), piped.as_str()]
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect();
    if parts.is_empty() {
        return Err(Failure::usage(anyhow::anyhow!("no prompt given"))
            .hint("dormouse -p \"your question\", or pipe the prompt into dormouse -p"));
    }
    Ok(parts.join("\n\n"))
}

async fn ask(
    session: &mut ActiveSession,
    arguments: &Arguments,
    world: &World,
    prompt: &str,
) -> Result<TurnReport, Failure> {
    session.set_up(arguments, &mut print::notice).await;
    let mut printer = begin(arguments, session);
    let ActiveSession { engine, surroundings, .. } = session;
    let interrupt = CancellationToken::new();
    let start = world.clock.elapsed();
    let target = if std::io::stderr().is_terminal() {
        ProgressTarget::Terminal
    } else {
        ProgressTarget::Log
    };
    let progress = RunProgress::new(target, surroundings.folder.as_str().into(), Instant::now());
    let progress = Mutex::new(progress);
    let mut sink = |event: EngineEvent| {
        lock(&progress).event(&event, Instant::now());
        printer.event(&event);
    };
    let mut context = TurnContext::new(&interrupt, &mut sink);
    let turn = engine.run_turn(prompt, surroundings, arguments.max_turns, &mut context);
    let report = tokio::select! {
        report = until_interrupted(turn, &interrupt) => report?,
        never = show_progress(&progress) => match never {},
    };
    if arguments.wait {
        background_tasks::session_ends(engine);
        background_tasks::finish(engine, &mut |event| printer.event(&event)).await;
    } else {
        background_tasks::finish_sending(engine).await;
    }
    engine.end(SessionEndReason::Other, &mut |event| printer.event(&event)).await;
    // The cost of a run includes subagents and background tasks.
    let background = engine.spending().background().total();
    let cost_usd = report.cost_usd.zip(background).map(|(own, background)| own + background);
    let report = TurnReport { cost_usd, ..report };
    printer.end(&report, world.clock.elapsed().saturating_sub(start));
    Ok(report)
}

fn lock(progress: &Mutex<RunProgress>) -> MutexGuard<'_, RunProgress> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the lines that are due, for as long as it is asked to.
async fn show_progress(progress: &Mutex<RunProgress>) -> Infallible {
    loop {
        tokio::time::sleep(PROGRESS_CHECK).await;
        let line = lock(progress).line(Instant::now());
        if let Some(line) = line {
            print::note(&line);
        }
    }
}

/// Runs a turn. Ctrl-C, SIGTERM and SIGHUP interrupt it; the turn then ends in order.
async fn until_interrupted<T>(
    turn: impl Future<Output = Result<T, dormouse_engine::EngineError>>,
    interrupt: &CancellationToken,
) -> Result<T, Failure> {
    let mut stop = StopSignals::listen()?;
    tokio::pin!(turn);
    loop {
        tokio::select! {
            result = &mut turn => return Ok(result?),
            () = stop.next() => interrupt.cancel(),
        }
    }
}
