//! `dormouse setup`: configures another agent to use this memory.

use std::io::IsTerminal;
use std::path::PathBuf;

use dormouse_base::{Environment, names};
use dormouse_serve::setup::{Agent, ConfigFileChange, SetupPaths, carry_out, plan, plan_undo};

use crate::args::{SetupAgent, SetupArguments};
use crate::message_catalog::msg;
use crate::wiring::catch_up::{EXTRACT, check_provider};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input;
use crate::wiring::print;
use crate::wiring::world::{World, current_project};

/// The name of the program.
const NAME: &str = "dormouse";

impl From<SetupAgent> for Agent {
    fn from(agent: SetupAgent) -> Self {
        match agent {
            SetupAgent::ClaudeCode => Self::ClaudeCode,
            SetupAgent::Codex => Self::Codex,
            SetupAgent::GeminiCli => Self::GeminiCli,
            SetupAgent::Opencode => Self::Opencode,
            SetupAgent::Goose => Self::Goose,
            SetupAgent::Cursor => Self::Cursor,
            SetupAgent::VsCode => Self::VsCode,
        }
    }
}

pub(crate) fn run(arguments: &SetupArguments, world: &World) -> Result<Exit, Failure> {
    let agent = Agent::from(arguments.agent);
    if arguments.extract.is_some() && agent != Agent::ClaudeCode {
        let text = msg!("setup-no-hooks", agent = agent.as_str());
        return Err(Failure::usage(anyhow::anyhow!(text)));
    }
    let home = world.home()?;
    let paths = setup_paths(arguments, world)?;
    let planned =
        if arguments.undo { plan_undo(agent, &paths, &home) } else { plan(agent, &paths) };
    let changes = planned.map_err(Failure::failed)?;
    if !changes.iter().any(ConfigFileChange::is_change) {
        print::note(&match (arguments.undo, &arguments.extract) {
            (true, _) => msg!("setup-nothing-to-undo"),
            (false, None) => msg!("setup-already-done"),
            // The hook that is there does something else.
            (false, Some(_)) => msg!("setup-undo-first", agent = agent.as_str()),
        });
        return Ok(Exit::Done);
    }
    for change in changes.iter().filter(|change| change.is_change()) {
        print::data_line(&change.file.display().to_string());
        let sign = if arguments.undo { '-' } else { '+' };
        change.preview().for_each(|line| print::data_line(&format!("{sign} {line}")));
    }
    if !arguments.yes && !confirm()? {
        print::note(&msg!("nothing-changed"));
        return Ok(Exit::Done);
    }
    carry_out(&changes, agent, &home).map_err(Failure::failed)?;
    print::note(&if arguments.undo { msg!("setup-undone") } else { msg!("setup-done") });
    if !arguments.undo && arguments.extract.is_none() {
        print::note(&match agent {
            Agent::ClaudeCode => msg!("setup-no-extraction"),
            _ => msg!("setup-cannot-extract"),
        });
    }
    Ok(Exit::Done)
}

fn setup_paths(arguments: &SetupArguments, world: &World) -> Result<SetupPaths, Failure> {
    let home = world.environment.path(names::USER_HOME).ok_or_else(|| {
        Failure::usage(anyhow::anyhow!(msg!("setup-no-home"))).hint(msg!("setup-no-home-hint"))
    })?;
    let project = current_project()?.checkout;
    let program = match &arguments.program {
        Some(program) => program.clone(),
        // What is taken out has a name, whatever it is started by.
        None if arguments.undo => NAME.to_owned(),
        None => startable(&world.environment)?,
    };
    let extract = match &arguments.extract {
        Some(provider) => Some(extract_words(provider, arguments.extract_model.as_deref())?),
        None => None,
    };
    Ok(SetupPaths { home, project, program, extract })
}

/// A command that starts this program from anywhere: its name where that is found, else its whole path.
fn startable(environment: &Environment) -> Result<String, Failure> {
    let own = std::env::current_exe().map_err(Failure::failed)?;
    let path = environment.get(names::PATH).unwrap_or_default();
    let found =
        std::env::split_paths(path).map(|folder| folder.join(NAME)).find(|file| file.is_file());
    let is_own = |file: &PathBuf| {
        file.canonicalize().is_ok_and(|file| own.canonicalize().is_ok_and(|own| own == file))
    };
    if found.as_ref().is_some_and(is_own) {
        return Ok(NAME.to_owned());
    }
    let path = own.display().to_string();
    print::note(&msg!("setup-whole-path", path = path.as_str()));
    Ok(shlex::try_quote(&path).map(std::borrow::Cow::into_owned).unwrap_or(path))
}

/// The words of the hook that has memories extracted.
fn extract_words(provider: &str, model: Option<&str>) -> Result<String, Failure> {
    check_provider(provider)?;
    let words = [Some(EXTRACT), Some(provider), model].into_iter().flatten();
    shlex::try_join(words).map_err(Failure::usage)
}

fn confirm() -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage(anyhow::anyhow!(msg!("no-terminal-for-confirmation")))
            .hint(msg!("setup-confirm-hint")));
    }
    print::note(&msg!("setup-confirm"));
    Ok(input::confirm())
}
