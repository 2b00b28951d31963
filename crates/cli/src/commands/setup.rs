//! `dormouse setup`: the lines in another agent's configuration that let it use this memory.

use std::io::IsTerminal;

use dormouse_base::names;
use dormouse_serve::setup::{Agent, ConfigFileChange, SetupPaths, carry_out, plan, plan_undo};

use crate::args::{SetupAgent, SetupArguments};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input::says_yes;
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
    let (agent, home) = (Agent::from(arguments.agent), world.home()?);
    let place = surroundings(arguments, world)?;
    let planned =
        if arguments.undo { plan_undo(agent, &place, &home) } else { plan(agent, &place) };
    let changes = planned.map_err(Failure::failed)?;
    if !changes.iter().any(ConfigFileChange::is_change) {
        print::note(if arguments.undo {
            "there is nothing to take out"
        } else {
            "it is set up already"
        });
        return Ok(Exit::Done);
    }
    for change in changes.iter().filter(|change| change.is_change()) {
        print::data_line(&change.file.display().to_string());
        let sign = if arguments.undo { '-' } else { '+' };
        change.lines().iter().for_each(|line| print::data_line(&format!("{sign} {line}")));
    }
    if !arguments.yes && !agreed()? {
        print::note("nothing was changed");
        return Ok(Exit::Done);
    }
    carry_out(&changes, agent, &home).map_err(Failure::failed)?;
    print::note(if arguments.undo { "taken out" } else { "set up; start the agent anew" });
    Ok(Exit::Done)
}

fn surroundings(arguments: &SetupArguments, world: &World) -> Result<SetupPaths, Failure> {
    let home = world.environment.path(names::USER_HOME).ok_or_else(|| {
        Failure::usage(anyhow::anyhow!("HOME is not set, so the agent's files can not be found"))
            .hint("set HOME")
    })?;
    let project = current_project()?.checkout;
    Ok(SetupPaths { home, project, program: arguments.program.clone() })
}

fn agreed() -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage(anyhow::anyhow!("nobody is there to ask"))
            .hint("look at the lines above, then run it again with --yes"));
    }
    print::note("Change these lines? [y/N]");
    Ok(says_yes())
}
