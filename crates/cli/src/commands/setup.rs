//! `dormouse setup`: configures another agent to use this memory.

use std::io::IsTerminal;

use dormouse_base::names;
use dormouse_serve::setup::{Agent, ConfigFileChange, SetupPaths, carry_out, plan, plan_undo};

use crate::args::{SetupAgent, SetupArguments};
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input;
use crate::wiring::print;
use crate::wiring::world::{World, current_project};

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
    let home = world.home()?;
    let paths = setup_paths(arguments, world)?;
    let planned =
        if arguments.undo { plan_undo(agent, &paths, &home) } else { plan(agent, &paths) };
    let changes = planned.map_err(Failure::failed)?;
    if !changes.iter().any(ConfigFileChange::is_change) {
        print::note(&if arguments.undo {
            msg!("setup-nothing-to-undo")
        } else {
            msg!("setup-already-done")
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
    Ok(Exit::Done)
}

fn setup_paths(arguments: &SetupArguments, world: &World) -> Result<SetupPaths, Failure> {
    let home = world.environment.path(names::USER_HOME).ok_or_else(|| {
        Failure::usage(anyhow::anyhow!(msg!("setup-no-home"))).hint(msg!("setup-no-home-hint"))
    })?;
    let project = current_project()?.checkout;
    Ok(SetupPaths { home, project, program: arguments.program.clone() })
}

fn confirm() -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage(anyhow::anyhow!(msg!("no-terminal-for-confirmation")))
            .hint(msg!("setup-confirm-hint")));
    }
    print::note(&msg!("setup-confirm"));
    Ok(input::confirm())
}
