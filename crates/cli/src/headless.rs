//! `dormouse -p`: one question, one answer, no further questions.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use dormouse_base::{Environment, Project, SessionId, Settings};
use dormouse_conversation::{Budget, Repair, estimate_text};
use dormouse_engine::{
    Engine, EngineConfig, OpenedSession, PromptOverrides, ResumeReport, SessionFolder,
    Surroundings, TurnEnd, TurnReport,
};
use dormouse_model::ModelError;
use dormouse_tools::{Gate, Reaper, ToolSet};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::args::{Arguments, LIST, OutputFormat, SessionsArguments};
use crate::connect::{Connection, Wanted, connect};
use crate::exit::{Exit, Failure};
use crate::output::Printer;
use crate::world::{World, current_project};
use crate::{input, permissions, sessions, show};

pub(crate) async fn run(arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    if arguments.resume.as_deref() == Some(LIST) {
        return list(arguments, world);
    }
    if !arguments.print {
        return Err(Failure::usage(anyhow::anyhow!("there is no interactive interface yet"))
            .hint("use -p: dormouse -p \"your question\"")
            .hint("dormouse demo shows what works"));
    }
    let project = current_project()?;
    let settings = world.settings(arguments.settings.as_deref())?;
    let gate = permissions::headless_gate(arguments, &settings.permissions)?;
    let home = world.home()?;
    let session = which_session(arguments, &home, &project)?;
    let prompt = prompt(arguments)?;
    let environment = without_keys(world, &settings);
    let surroundings = Surroundings::look(&project, &environment, &*world.clock).await;
    let folder = SessionFolder::open(&home, &project)?;
    let reopen = |session| {
        folder.reopen(session, &surroundings, Arc::clone(&world.clock), Arc::clone(&world.ids))
    };
    let opened = session.map(reopen).transpose()?;
    let wanted = Wanted {
        model: arguments.model.as_deref(),
        origin: opened.as_ref().and_then(OpenedSession::origin),
    };
    let connection = connect(&settings, &world.environment, wanted, &project.folder).await?;
    check_size(&prompt, &connection.budget)?;
    if arguments.verbose {
        describe(&connection);
    }
    let (key_source, key_variable) =
        (connection.key_source.clone(), connection.key_variable.clone());
    let config = config(arguments, world, project, connection, environment, gate);
    let mut engine = open(arguments, config, &folder, opened, &surroundings)?;
    let report = ask(&mut engine, arguments, world, &prompt, &surroundings).await?;
    finish(&report, key_source.as_deref(), &key_variable)
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

fn which_session(
    arguments: &Arguments,
    home: &Path,
    project: &Project,
) -> Result<Option<SessionId>, Failure> {
    if arguments.resume.is_none() && !arguments.r#continue {
        return Ok(None);
    }
    let folder = SessionFolder::existing(home, project)?;
    match &arguments.resume {
        Some(name) => sessions::named(folder.as_ref(), name).map(Some),
        None => sessions::last(folder.as_ref()).map(Some),
    }
}

/// The key is no business of a child process, git included.
fn without_keys(world: &World, settings: &Settings) -> Environment {
    let environment = world.environment.clone();
    match &settings.provider.key_env {
        Some(name) => environment.without(name),
        None => environment,
    }
}

/// What is talked to: for `--verbose`.
fn describe(connection: &Connection) {
    let key = connection
        .key_source
        .as_deref()
        .map_or("no key".to_owned(), |source| format!("key from {source}"));
    show::note(&format!(
        "· {} at {}, {key}, window {} tokens",
        connection.model_name, connection.origin.server, connection.budget.window
    ));
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

/// A prompt that no window holds must not enter the conversation: nothing could be said in it again.
fn check_size(prompt: &str, budget: &Budget) -> Result<(), Failure> {
    let tokens = estimate_text(prompt);
    if tokens < budget.warning {
        return Ok(());
    }
    Err(Failure::usage(anyhow::anyhow!(
        "the prompt has {} bytes, about {tokens} tokens: too much for the model's window of {}",
        prompt.len(),
        budget.window
    ))
    .hint("put it into a file and name the file in the prompt: the model reads it in parts"))
}

fn config(
    arguments: &Arguments,
    world: &World,
    project: Project,
    connection: Connection,
    environment: Environment,
    gate: Gate,
) -> EngineConfig {
    EngineConfig {
        model: connection.model,
        model_name: connection.model_name,
        origin: connection.origin,
        dialect: connection.dialect,
        budget: connection.budget,
        retry: connection.retry,
        tools: Arc::new(ToolSet::builtin()),
        gate,
        project,
        environment,
        clock: Arc::clone(&world.clock),
        ids: Arc::clone(&world.ids),
        overrides: PromptOverrides {
            system: arguments.system_prompt.clone(),
            append: arguments.append_system_prompt.clone(),
        },
        redactor: connection.redactor,
        reaper: Reaper::of_this_program(),
    }
}

fn open(
    arguments: &Arguments,
    config: EngineConfig,
    folder: &SessionFolder,
    opened: Option<OpenedSession>,
    surroundings: &Surroundings,
) -> Result<Engine, Failure> {
    let Some(opened) = opened else { return Ok(Engine::begin(config, folder, surroundings)?) };
    if arguments.system_prompt.is_some() || arguments.append_system_prompt.is_some() {
        show::note(
            "note: --system-prompt and --append-system-prompt have no effect on a session that goes on",
        );
    }
    let (engine, report) = Engine::resume(config, opened, surroundings)?;
    tell_resume(&report, engine.transcript_path());
    Ok(engine)
}

fn tell_resume(report: &ResumeReport, transcript: &Path) {
    for warning in &report.warnings {
        show::note(&format!("warning: {}: {warning}", transcript.display()));
    }
    let closed = report.repairs.iter().filter(|repair| matches!(repair, Repair::Closed(_))).count();
    if closed > 0 {
        show::note(&format!("note: unfinished tool calls were closed as interrupted: {closed}"));
    }
}

async fn ask(
    engine: &mut Engine,
    arguments: &Arguments,
    world: &World,
    prompt: &str,
    surroundings: &Surroundings,
) -> Result<TurnReport, Failure> {
    let (session, model) = (engine.session().to_string(), engine.model_name().to_owned());
    let mut printer =
        Printer::new(arguments.output_format, session, model, engine.ttl(), arguments.verbose);
    printer.begin(&surroundings.folder, &engine.tool_names());
    let interrupt = CancellationToken::new();
    let start = world.clock.elapsed();
    let mut sink = |event| printer.event(&event);
    let turn = engine.run_turn(prompt, surroundings, arguments.max_turns, &interrupt, &mut sink);
    let report = until_interrupted(turn, &interrupt).await?;
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

fn finish(
    report: &TurnReport,
    key_source: Option<&str>,
    key_variable: &str,
) -> Result<Exit, Failure> {
    match &report.end {
        TurnEnd::Completed => Ok(Exit::Done),
        TurnEnd::Interrupted => {
            show::note("note: interrupted; what had come is kept, and --continue goes on");
            Ok(Exit::Interrupted)
        }
        TurnEnd::Cut => Ok(stopped("the answer reached its token limit and was cut")),
        TurnEnd::Refused => Ok(stopped("the model declined to answer")),
        TurnEnd::Empty => Ok(stopped("the model gave an empty answer; asking again often helps")),
        TurnEnd::MaxTurns => {
            Ok(stopped("--max-turns was reached before the model was done; --continue goes on"))
        }
        TurnEnd::Failed(error) => Err(server_failure(error, key_source, key_variable)),
    }
}

fn stopped(why: &str) -> Exit {
    show::note(&format!("note: {why}"));
    Exit::StoppedEarly
}

/// What a person can do about a server's error.
pub(crate) fn server_failure(
    error: &ModelError,
    key_source: Option<&str>,
    key_variable: &str,
) -> Failure {
    let failure = Failure::of_server(error.clone());
    let kept = "the conversation is kept: `dormouse -p --continue \"go on\"` takes it up";
    match error {
        ModelError::NotAuthenticated(_) => failure.hint(match key_source {
            Some(source) => format!("the key came from {source}: set {key_variable} to a valid key, then try again"),
            None => format!("no key was sent: set {key_variable} to a valid key, then try again"),
        }),
        ModelError::NotAllowed(_) => {
            failure.hint("the key may not use this model: choose another with --model, or use another key")
        }
        ModelError::NotFound(_) => failure.hint("check the name with --model, and the server's address"),
        ModelError::Billing(_) => failure.hint("see the account's billing page; trying again will not help"),
        ModelError::TooLong { .. } => failure.hint(
            "begin a new session without --continue; if the window is larger than this, set DORMOUSE_CONTEXT_WINDOW",
        ),
        ModelError::RequestTooLarge(_) => failure.hint("begin a new session with fewer or smaller images"),
        ModelError::Unreachable { .. } | ModelError::UnknownHost { .. } | ModelError::NoServer { .. } => failure
            .hint("check that the server runs and that its address (ANTHROPIC_BASE_URL, OPENAI_BASE_URL or provider.baseUrl) is right")
            .hint(kept),
        ModelError::ThinkingRefused(_) => failure.hint("begin a new session without --continue"),
        ModelError::Silent(_) => failure.hint("a slow server may need a larger DORMOUSE_IDLE_TIMEOUT_MS").hint(kept),
        ModelError::RateLimited { .. }
        | ModelError::Overloaded { .. }
        | ModelError::ServerFault { .. }
        | ModelError::BrokenStream(_)
        | ModelError::Malformed(_) => failure.hint(kept),
        ModelError::InvalidRequest { .. } => failure,
    }
}
