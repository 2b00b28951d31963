//! From the command line to a conversation: what `dormouse` and `dormouse -p` have in common.

use std::path::Path;
use std::sync::Arc;

use dormouse_base::{Environment, Project, SessionId, Settings};
use dormouse_conversation::Repair;
use dormouse_engine::{
    Engine, EngineConfig, OpenedSession, PromptOverrides, ResumeReport, SessionFolder, Surroundings,
};
use dormouse_tools::{Asker, Gate, ToolSet};

use crate::args::Arguments;
use crate::connect::{Connection, Wanted, connect};
use crate::exit::Failure;
use crate::world::{World, current_project};
use crate::{permissions, sessions, show};

/// All that a conversation needs, with nothing begun yet.
pub(crate) struct Ready {
    pub(crate) connection: Connection,
    settings: Settings,
    project: Project,
    environment: Environment,
    gate: Gate,
    surroundings: Surroundings,
    folder: SessionFolder,
    opened: Option<OpenedSession>,
}

/// Where the key came from, for messages about it.
pub(crate) struct KeyOrigin {
    /// What it was read from; none if none was sent.
    pub(crate) source: Option<String>,
    /// The variable that holds it, or would.
    pub(crate) variable: String,
}

/// A conversation that can be talked in.
#[expect(dead_code, reason = "the line interface, which comes next, reads the rest")]
pub(crate) struct Conversation {
    pub(crate) engine: Engine,
    /// The surroundings it began in.
    pub(crate) surroundings: Surroundings,
    pub(crate) project: Project,
    /// The environment for children, without keys.
    pub(crate) environment: Environment,
    pub(crate) settings: Settings,
    pub(crate) folder: SessionFolder,
    pub(crate) key: KeyOrigin,
}

/// Reads the settings, looks around, finds the session to go on with, connects.
pub(crate) async fn prepare(arguments: &Arguments, world: &World) -> Result<Ready, Failure> {
    let project = current_project()?;
    let settings = world.settings(arguments.settings.as_deref())?;
    let gate = permissions::gate(arguments, &settings.permissions)?;
    let home = world.home()?;
    let session = which_session(arguments, &home, &project)?;
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
    if arguments.verbose {
        describe(&connection);
    }
    Ok(Ready { connection, settings, project, environment, gate, surroundings, folder, opened })
}

impl Ready {
    /// Begins the conversation, or goes on with it.
    pub(crate) fn open(
        self,
        arguments: &Arguments,
        world: &World,
        asker: Option<Arc<dyn Asker>>,
    ) -> Result<Conversation, Failure> {
        let Self { connection, settings, project, environment, gate, surroundings, folder, opened } =
            self;
        let key = KeyOrigin { source: connection.key_source, variable: connection.key_variable };
        let config = EngineConfig {
            model: connection.model,
            model_name: connection.model_name,
            origin: connection.origin,
            dialect: connection.dialect,
            budget: connection.budget,
            retry: connection.retry,
            tools: Arc::new(ToolSet::builtin()),
            gate,
            asker,
            project: project.clone(),
            environment: environment.clone(),
            clock: Arc::clone(&world.clock),
            ids: Arc::clone(&world.ids),
            overrides: PromptOverrides {
                system: arguments.system_prompt.clone(),
                append: arguments.append_system_prompt.clone(),
            },
            redactor: connection.redactor,
        };
        let engine = match opened {
            None => Engine::begin(config, &folder, &surroundings)?,
            Some(opened) => resume(arguments, config, opened, &surroundings)?,
        };
        Ok(Conversation { engine, surroundings, project, environment, settings, folder, key })
    }
}

/// The session to go on with, if one was asked for.
pub(crate) fn which_session(
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

fn resume(
    arguments: &Arguments,
    config: EngineConfig,
    opened: OpenedSession,
    surroundings: &Surroundings,
) -> Result<Engine, Failure> {
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
