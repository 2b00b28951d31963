//! `dormouse permissions trust`: trust a project's settings, or revoke that.

use std::io::IsTerminal;

use dormouse_base::{TrustState, TrustStore};

use crate::args::TrustArguments;
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::instructions;
use crate::wiring::print;
use crate::wiring::settings;
use crate::wiring::trust::{Untrusted, ask, list};
use crate::wiring::world::{World, current_project};

pub(super) fn run(arguments: &TrustArguments, world: &World) -> Result<Exit, Failure> {
    let project = current_project()?;
    let home = world.home()?;
    let store = TrustStore::new(&home);
    if !arguments.revoke && instructions::ask_again(&world.home()?, &project)? {
        print::note(&msg!("include-asked-again"));
    }
    if arguments.revoke {
        let had = store.revoke(&project)? | TrustStore::for_editor(&home).revoke(&project)?;
        print::data_line(&if had { msg!("trust-revoked") } else { msg!("trust-was-not-given") });
        return Ok(Exit::Done);
    }
    let in_force = settings::load(world, None, &project, Untrusted::Pass)?;
    match in_force.trust {
        TrustState::NotNeeded => {
            print::data_line(&msg!("trust-not-needed"));
        }
        TrustState::Trusted => print::data_line(&msg!("trust-already-given")),
        state @ (TrustState::Undecided | TrustState::Changed) if arguments.yes => {
            list(&in_force.stack, state);
            store.grant(&project, &in_force.stack, world.clock.now())?;
            print::data_line(&msg!("trust-given"));
        }
        state @ (TrustState::Undecided | TrustState::Changed)
            if !std::io::stdin().is_terminal() =>
        {
            list(&in_force.stack, state);
            return Err(Failure::failed(anyhow::anyhow!(msg!("no-terminal-for-confirmation")))
                .hint(msg!("trust-yes-hint")));
        }
        state @ (TrustState::Undecided | TrustState::Changed) => {
            if ask(&store, &project, &in_force.stack, state, world)? == TrustState::Trusted {
                print::data_line(&msg!("trust-given"));
            }
        }
    }
    Ok(Exit::Done)
}
