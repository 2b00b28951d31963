//! `dormouse -p`: one question, one answer, no further questions.

pub(crate) mod output;

use std::io::IsTerminal;

use dormouse_engine::{TurnEnd, TurnReport};
use dormouse_hooks::SessionEndReason;
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::args::{Arguments, LIST_SESSIONS, OutputFormat, SessionsArguments};
use crate::commands::sessions;
use crate::headless::output::Printer;
use crate::wiring::background_tasks;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input;
use crate::wiring::print;
use crate::wiring::server_failure::server_failure;
use crate::wiring::session_start;
use crate::wiring::session_start::{Conversation, KeyOrigin};
use crate::wiring::trust::Untrusted;
use crate::wiring::world::{World, current_project};

pub(crate) async fn run(arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    if arguments.resume.as_deref() == Some(LIST_SESSIONS) {
        return list(arguments, world);
    }
    // A wrong id is told before anything is read from a pipe.
    session_start::which_session(arguments, &world.home()?, &current_project()?)?;
    if arguments.init_only {
        return init_only(arguments, world).await;
    }
    let prompt = prompt(arguments)?;
    let ready = session_start::prepare(arguments, world, Untrusted::Tell).await?;
    let mut conversation = ready.open(arguments, world, None)?;
    let report = ask(&mut conversation, arguments, world, &prompt).await;
    conversation.servers.close().await;
    let report = report?;
    finish(&report, &conversation.key)
}

/// Runs the hooks at `Setup`, and nothing else.
async fn init_only(arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    let ready = session_start::prepare(arguments, world, Untrusted::Tell).await?;
    let mut conversation = ready.open(arguments, world, None)?;
    conversation.set_up(arguments, &mut print::notice).await;
    Ok(Exit::Done)
}

/// `--resume` without an id.
fn list(arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    if !arguments.prompt.is_empty() {
        return Err(Failure::usage(anyhow::anyhow!(
            "--resume needs the id of a session to say something in it"
        ))
        .hint("`dormouse sessions` lists them; --continue takes the last one"));
    }
    let json = arguments.output_format != OutputFormat::Text;
    sessions::run(&SessionsArguments { search: None, limit: usize::MAX, json }, world)
}

/// The prompt: what was typed, what was piped in, or both.
fn prompt(arguments: &Arguments) -> Result<String, Failure> {
    let typed = arguments.prompt.join(" ");
    let piped = if std::io::stdin().is_terminal() { String::new() } else { input::read()? };
    let parts: Vec<&str> = [typed.as_str(), piped.as_str()]
        .into_iter()
        .filter(|part| !part.trim().is_empty())
        .collect();
    if parts.is_empty() {
        return Err(Failure::usage(anyhow::anyhow!("there is nothing to say"))
            .hint("dormouse -p \"your question\", or pipe something in"));
    }
    Ok(parts.join("\n\n"))
}

async fn ask(
    conversation: &mut Conversation,
    arguments: &Arguments,
    world: &World,
    prompt: &str,
) -> Result<TurnReport, Failure> {
    conversation.set_up(arguments, &mut print::notice).await;
    let Conversation { engine, surroundings, .. } = conversation;
    let (session, model) = (engine.session().to_string(), engine.model_name().to_owned());
    let mut printer = Printer::new(arguments.output_format, session, model, arguments.verbose);
    printer.begin(&surroundings.folder, &engine.tool_names());
    let interrupt = CancellationToken::new();
    let start = world.clock.elapsed();
    let mut sink = |event| printer.event(&event);
    let turn = engine.run_turn(prompt, surroundings, arguments.max_turns, &interrupt, &mut sink);
    let report = until_interrupted(turn, &interrupt).await?;
    if arguments.wait {
        background_tasks::finish(engine, &mut |event| printer.event(&event)).await;
    }
    engine.end(SessionEndReason::Other, &mut |event| printer.event(&event)).await;
    // Agents, and what was done beside, are part of what the run cost.
    let cost_usd = report.cost_usd.map(|own| own + engine.spent_beside_usd());
    let report = TurnReport { cost_usd, ..report };
    printer.end(&report, world.clock.elapsed().saturating_sub(start));
    Ok(report)
}

/// Runs a turn; Ctrl-C or a request to end interrupts it, and it closes what is open.
async fn until_interrupted<T>(
    turn: impl Future<Output = Result<T, dormouse_engine::EngineError>>,
    interrupt: &CancellationToken,
) -> Result<T, Failure> {
    let listen = |kind| {
        signal(kind).map_err(|error| {
            Failure::failed(anyhow::anyhow!("can not listen for signals: {error}"))
        })
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
            print::note("note: interrupted; what had come is kept, and --continue goes on");
            Ok(Exit::Interrupted)
        }
        TurnEnd::Cut => Ok(stopped("the answer reached its token limit and was cut")),
        TurnEnd::Refused => Ok(stopped("the model declined to answer")),
        TurnEnd::Empty => Ok(stopped("the model gave an empty answer; asking again often helps")),
        TurnEnd::MaxTurns => {
            Ok(stopped("--max-turns was reached before the model was done; --continue goes on"))
        }
        TurnEnd::MaxCost => {
            Ok(stopped("--max-cost was reached before the model was done; --continue goes on"))
        }
        TurnEnd::Halted(why) => Ok(stopped(&format!("a hook ended the turn: {why}"))),
        TurnEnd::Blocked(why) => {
            Ok(stopped(&format!("a hook blocked the prompt, which was not sent: {why}")))
        }
        TurnEnd::Failed(error) => Err(server_failure(error, key.source.as_deref(), &key.variable)),
    }
}

fn stopped(why: &str) -> Exit {
    print::note(&format!("note: {why}"));
    Exit::StoppedEarly
}
