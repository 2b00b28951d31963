//! `dormouse -p`: one question, one answer, no further questions.

pub(crate) mod output;
mod run_progress;

use std::convert::Infallible;
use std::io::IsTerminal;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dormouse_engine::{EngineEvent, TurnContext, TurnEnd, TurnReport};
use dormouse_hooks::SessionEndReason;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::args::{Arguments, LIST_SESSIONS, OutputFormat, SessionsArguments};
use crate::commands::sessions;
use crate::headless::output::OutputPrinter;
use crate::headless::run_progress::{ProgressTarget, RunProgress};
use crate::wiring::background_tasks;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input;
use crate::wiring::print;
use crate::wiring::server_failure::server_failure;
use crate::wiring::session_start;
use crate::wiring::session_start::{ActiveSession, KeyOrigin, SessionChoice};
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

/// How often it is checked whether a line of progress is due.
const PROGRESS_CHECK: Duration = Duration::from_millis(500);

pub(crate) async fn run(arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    if arguments.resume.as_deref() == Some(LIST_SESSIONS) {
        return list(arguments, world);
    }
    // A wrong id is reported before standard input is read.
    let choice = SessionChoice::of(arguments);
    choice.find(&world.home()?, &current_project()?)?;
    if arguments.init_only {
        return init_only(arguments, world).await;
    }
    let prompt = prompt(arguments)?;
    let ready = session_start::prepare(arguments, &choice, world, Untrusted::Tell).await?;
    let mut session = ready.open(arguments, world, None)?;
    let report = ask(&mut session, arguments, world, &prompt).await;
    session.servers.close().await;
    let report = report?;
    finish(&report, &session.key)
}

/// Runs the `Setup` hooks only.
async fn init_only(arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    let choice = SessionChoice::of(arguments);
    let ready = session_start::prepare(arguments, &choice, world, Untrusted::Tell).await?;
    let mut session = ready.open(arguments, world, None)?;
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
    let ActiveSession { engine, surroundings, .. } = session;
    let session = engine.conversation().session().to_string();
    let model = engine.model().name.clone();
    let mut printer =
        OutputPrinter::new(arguments.output_format, session, model, arguments.verbose);
    let tools = engine.conversation().prefix().tools().iter();
    let tools: Vec<String> = tools.map(|tool| tool.name.clone()).collect();
    printer.begin(&surroundings.folder, &tools);
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
    let listen = |kind| {
        signal(kind)
            .map_err(|error| Failure::failed(anyhow::anyhow!("cannot listen for signals: {error}")))
    };
    let (mut ctrl_c, mut end) =
        (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    let mut hung_up = listen(SignalKind::hangup())?;
    tokio::pin!(turn);
    loop {
        tokio::select! {
            result = &mut turn => return Ok(result?),
            _ = ctrl_c.recv() => interrupt.cancel(),
            _ = end.recv() => interrupt.cancel(),
            _ = hung_up.recv() => interrupt.cancel(),
        }
    }
}

fn finish(report: &TurnReport, key: &KeyOrigin) -> Result<Exit, Failure> {
    match &report.end {
        TurnEnd::Completed => Ok(Exit::Done),
        TurnEnd::Interrupted => {
            print::note("note: interrupted; partial output kept. --continue resumes the session");
            Ok(Exit::Interrupted)
        }
        TurnEnd::Cut => Ok(stopped("response truncated at the output token limit")),
        TurnEnd::Refused => Ok(stopped("the model refused to respond")),
        TurnEnd::Empty => Ok(stopped("the model sent an empty response; try again")),
        TurnEnd::MaxTurns => Ok(stopped(
            "--max-turns reached before the model finished; --continue resumes the session",
        )),
        TurnEnd::MaxCost => Ok(stopped(
            "cost limit (--max-cost) reached before the model finished; --continue resumes the session",
        )),
        TurnEnd::Halted(why) => Ok(stopped(&format!("a hook stopped the turn: {why}"))),
        TurnEnd::Blocked(why) => {
            Ok(stopped(&format!("a hook blocked the prompt; it was not sent: {why}")))
        }
        TurnEnd::Failed(error) => Err(server_failure(error, key.source.as_deref(), &key.variable)),
    }
}

fn stopped(why: &str) -> Exit {
    print::note(&format!("note: {why}"));
    Exit::StoppedEarly
}
