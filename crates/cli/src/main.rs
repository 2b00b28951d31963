//! The `dormouse` program: arguments in, exit code out. It wires the other crates together and has no
//! logic of its own.

#![forbid(unsafe_code)]

mod acp;
mod args;
mod commands;
mod headless;
mod interactive;
mod message_catalog;
mod terminal;
mod wiring;

use std::path::PathBuf;

use dormouse_base::{Environment, names};
use tokio::signal::unix::{SignalKind, signal};

use crate::args::{Arguments, CliCommand, JsonOutput};
use crate::commands::{
    agents, completions, config, demo, doctor, dream, hook, hooks, manual, mcp, mcp_servers,
    memory, permissions, plugin, profile, rewind, search, send, sessions, setup, stats, team, ui,
};
use crate::headless::output;
use crate::message_catalog::Locale;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::world::World;
use crate::wiring::{crash, print};

/// What the standard library says about a text that is no number.
const NO_NUMBER: &str = "invalid digit found in string";

/// `SIGXFSZ`.
const FILE_TOO_LARGE: i32 = 25;

fn main() -> std::process::ExitCode {
    // Before anything else: the reaper process has to stay small and quick.
    if let Some(code) = dormouse_tools::serve_as_reaper(std::env::args_os()) {
        return code;
    }
    // Scripts ask for the version again and again: it needs neither settings nor the table of commands.
    if let Some(line) = args::version_line(std::env::args_os()) {
        print::data_line(&line);
        return Exit::Done.into();
    }
    let mut world = World::of_process();
    locale(world.home().ok(), &world.environment).apply();
    let arguments = match args::parse_arguments(std::env::args_os()) {
        Ok(arguments) => arguments,
        Err(error) => {
            return usage_exit(&error);
        }
    };
    if arguments.bare {
        world.environment = world.environment.with(&[(names::SIMPLE, "1")]);
    }
    crash::install(&world);
    let result = run(&arguments, &world).and_then(check_output);
    match result {
        Ok(exit) => exit.into(),
        Err(failure) => {
            print_json_failure(&failure);
            print::failure(&failure);
            failure.exit().into()
        }
    }
}

/// The language of the user's settings, else of the environment.
fn locale(home: Option<PathBuf>, environment: &Environment) -> Locale {
    let text = home
        .map(|home| home.join("settings.json"))
        .and_then(|file| std::fs::read_to_string(file).ok());
    let set = text.as_deref().and_then(Locale::of_settings);
    set.unwrap_or_else(|| Locale::of_environment(environment))
}

/// Prints help, version or an error in the arguments. Help and version are no errors.
fn usage_exit(error: &clap::Error) -> std::process::ExitCode {
    let Some(failure) = Failure::of_arguments(error) else {
        // Nothing can be reported if even this cannot be printed.
        let _printed = error.print();
        return Exit::Done.into();
    };
    print_json_failure(&failure);
    let text = error.to_string();
    if text.contains(NO_NUMBER) {
        print::note(text.replace(NO_NUMBER, "expected a whole number").trim_end());
    } else {
        let _printed = error.print();
    }
    failure.exit().into()
}

/// Prints an error as JSON where the user wants JSON, so that programs find it on standard output whatever happens.
fn print_json_failure(failure: &Failure) {
    match args::wanted_json(std::env::args_os()) {
        Some(JsonOutput::Value) if print::write_error().is_none() => print::json_failure(failure),
        Some(JsonOutput::Run(format)) => output::failure(format, failure),
        Some(JsonOutput::Value) | None => {}
    }
}

/// Fails where output could not be written.
fn check_output(exit: Exit) -> Result<Exit, Failure> {
    match print::write_error() {
        None => Ok(exit),
        Some(problem) => {
            Err(Failure::failed(anyhow::anyhow!("cannot write the output: {problem}"))
                .hint("the session is saved: `dormouse sessions` lists it"))
        }
    }
}

fn run(arguments: &Arguments, world: &World) -> Result<Exit, Failure> {
    // One thread: the work is waiting for a server. Blocking file work has threads of its own.
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
            Failure::new(Exit::Failed, anyhow::anyhow!("cannot start the async runtime: {error}"))
        })?;
    let result = runtime.block_on(async {
        // Beyond a file size limit a write fails, as on a full disk, instead of ending the program.
        let _listening = signal(SignalKind::from_raw(FILE_TOO_LARGE));
        match &arguments.command {
            Some(CliCommand::Manual(arguments)) => manual::run(arguments, world),
            Some(CliCommand::Demo(arguments)) => demo::run(arguments, world).await,
            Some(CliCommand::Sessions(list)) => sessions::run(list, world),
            Some(CliCommand::Rewind(arguments)) => Box::pin(rewind::run(arguments, world)).await,
            Some(CliCommand::Stats(arguments)) => stats::run(arguments, world),
            Some(CliCommand::Context(arguments)) => profile::run(arguments, world),
            Some(CliCommand::Completions(arguments)) => completions::run(arguments),
            Some(CliCommand::Doctor(arguments)) => doctor::run(arguments, world).await,
            Some(CliCommand::Agents(arguments)) => agents::run(arguments, world).await,
            Some(CliCommand::Permissions(command)) => permissions::run(command, world),
            Some(CliCommand::Config(command)) => config::run(command, world).await,
            Some(CliCommand::Memory(command)) => Box::pin(memory::run(command, world)).await,
            Some(CliCommand::Dream(arguments)) => Box::pin(dream::run(arguments, world)).await,
            Some(CliCommand::Search(arguments)) if arguments.sessions => {
                search::run(arguments, world)
            }
            Some(CliCommand::Search(arguments)) => {
                Box::pin(memory::recall::search(&arguments.search, world)).await
            }
            Some(CliCommand::Recall(arguments)) => {
                Box::pin(memory::recall::run(arguments, world)).await
            }
            Some(CliCommand::Hooks(arguments)) => hooks::run(arguments, world),
            Some(CliCommand::Hook(arguments)) => Box::pin(hook::run(arguments, world)).await,
            Some(CliCommand::Mcp(mcp)) => match &mcp.command {
                Some(command) => Box::pin(mcp_servers::run(command, arguments, world)).await,
                None => Box::pin(mcp::run(mcp, world)).await,
            },
            Some(CliCommand::Plugin(command)) => plugin::run(command, world).await,
            Some(CliCommand::Team(command)) => Box::pin(team::run(command, world)).await,
            Some(CliCommand::Acp(arguments)) => Box::pin(acp::run(arguments, world)).await,
            Some(CliCommand::Ui(arguments)) => Box::pin(ui::run(arguments, world)).await,
            Some(CliCommand::Send(arguments)) => send::run(arguments, world).await,
            Some(CliCommand::Setup(arguments)) => setup::run(arguments, world),
            None if arguments.is_headless() => headless::run(arguments, world).await,
            None => Box::pin(interactive::run(arguments, world)).await,
        }
    });
    // A tool that would not stop must not keep the program from ending.
    runtime.shutdown_background();
    result
}
