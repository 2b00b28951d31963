//! `dormouse -p`: one question, one answer, no further questions.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dormouse_base::Project;
use dormouse_conversation::{Budget, estimate_text};
use dormouse_engine::{
    Engine, EngineConfig, PromptOverrides, ResumeReport, SessionFolder, Surroundings, TurnEnd,
    TurnReport,
};
use dormouse_model::ModelError;
use dormouse_tools::{Gate, ToolSet};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;

use crate::args::{Arguments, SessionsArguments};
use crate::connect::{Connection, connect};
use crate::exit::{Exit, Failure};
use crate::output::Printer;
use crate::world::{World, current_project};
use crate::{input, sessions, show};

/// Somebody who starts the program may leave its standard input open and never write to it.
const INPUT_PATIENCE: Duration = Duration::from_secs(2);

pub(crate) async fn run(arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    if arguments.resume.as_deref() == Some("") {
        return sessions::run(&SessionsArguments { search: None, json: false }, world);
    }
    if !arguments.print {
        return Err(Failure::usage(anyhow::anyhow!("there is no interactive interface yet"))
            .hint("use -p: dormouse -p \"your question\"")
            .hint("dormouse demo shows what works"));
    }
    let project = current_project()?;
    let settings = world.settings(arguments.settings.as_deref())?;
    let prompt = prompt(arguments)?;
    let (surroundings, connection) = tokio::join!(
        Surroundings::look(&project, &world.environment, &*world.clock),
        connect(&settings, &world.environment, arguments.model.as_deref(), &project.folder),
    );
    let connection = connection?;
    check_size(&prompt, &connection.budget)?;
    let key_variable = connection.key_variable.clone();
    let mut engine = open(arguments, world, &project, connection, &surroundings)?;
    let report = ask(&mut engine, arguments, world, &prompt, &surroundings).await?;
    finish(&report, &key_variable)
}

/// The prompt: what was typed, what was piped in, or both.
fn prompt(arguments: &Arguments) -> Result<String, Failure> {
    let typed = arguments.prompt.as_deref().unwrap_or_default();
    let piped = if std::io::stdin().is_terminal() {
        String::new()
    } else {
        let patience = if typed.trim().is_empty() { None } else { Some(INPUT_PATIENCE) };
        input::read(patience)?
    };
    let parts: Vec<&str> =
        [typed, piped.as_str()].into_iter().filter(|part| !part.trim().is_empty()).collect();
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

fn open(
    arguments: &Arguments,
    world: &World,
    project: &Project,
    connection: Connection,
    surroundings: &Surroundings,
) -> Result<Engine, Failure> {
    let folder = SessionFolder::open(&world.home()?, project)?;
    let config = EngineConfig {
        model: connection.model,
        model_name: connection.model_name,
        dialect: connection.dialect,
        budget: connection.budget,
        retry: connection.retry,
        tools: Arc::new(ToolSet::builtin()),
        gate: Gate::ReadsOnly,
        project: project.clone(),
        environment: world.environment.clone().without(&connection.key_variable),
        clock: Arc::clone(&world.clock),
        ids: Arc::clone(&world.ids),
        overrides: PromptOverrides {
            system: arguments.system_prompt.clone(),
            append: arguments.append_system_prompt.clone(),
        },
    };
    let session = match &arguments.resume {
        Some(name) => Some(sessions::named(&folder, name)?),
        None if arguments.r#continue => Some(sessions::last(&folder)?),
        None => None,
    };
    match session {
        None => Ok(Engine::begin(config, &folder, surroundings)?),
        Some(session) => {
            let (engine, report) = Engine::resume(config, &folder, session, surroundings)?;
            tell_resume(&report, engine.transcript_path());
            Ok(engine)
        }
    }
}

fn tell_resume(report: &ResumeReport, transcript: &Path) {
    for warning in &report.warnings {
        show::note(&format!("warning: {}: {warning}", transcript.display()));
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
    let mut printer = Printer::new(arguments.output_format, session, model, arguments.verbose);
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
    tokio::pin!(turn);
    loop {
        tokio::select! {
            result = &mut turn => return Ok(result?),
            _ = ctrl_c.recv() => interrupt.cancel(),
            _ = end.recv() => interrupt.cancel(),
        }
    }
}

fn finish(report: &TurnReport, key_variable: &str) -> Result<Exit, Failure> {
    match &report.end {
        TurnEnd::Completed => Ok(Exit::Done),
        TurnEnd::Interrupted => Ok(Exit::Interrupted),
        TurnEnd::Cut => Ok(stopped("the answer reached its token limit and was cut")),
        TurnEnd::Refused => Ok(stopped("the model declined to answer")),
        TurnEnd::Empty => Ok(stopped("the model gave an empty answer; asking again often helps")),
        TurnEnd::MaxTurns => {
            Ok(stopped("--max-turns was reached before the model was done; --continue goes on"))
        }
        TurnEnd::Failed(error) => Err(server_failure(error, key_variable)),
    }
}

fn stopped(why: &str) -> Exit {
    show::note(&format!("note: {why}"));
    Exit::StoppedEarly
}

/// What a person can do about a server's error.
fn server_failure(error: &ModelError, key_variable: &str) -> Failure {
    let failure = Failure::failed(error.clone());
    let kept = "the conversation is kept: `dormouse -p --continue` goes on from it";
    match error {
        ModelError::NotAuthenticated(_) => {
            failure.hint(format!("set {key_variable} to a valid key (it is what was sent), then try again"))
        }
        ModelError::NotAllowed(_) => {
            failure.hint(format!("the key in {key_variable} may not use this model; choose another with --model"))
        }
        ModelError::NotFound(_) => failure.hint("check the name with --model, and the server's address"),
        ModelError::Billing(_) => failure.hint("see the account's billing page; trying again will not help"),
        ModelError::TooLong { .. } => failure
            .hint("begin a new session without --continue; if the window is larger than this, set DORMOUSE_CONTEXT_WINDOW"),
        ModelError::RequestTooLarge(_) => failure.hint("begin a new session with fewer or smaller images"),
        ModelError::Unreachable { .. } | ModelError::NoServer { .. } => failure
            .hint("check that the server runs and that the address (ANTHROPIC_BASE_URL, OPENAI_BASE_URL or the setting provider.baseUrl) is right")
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
