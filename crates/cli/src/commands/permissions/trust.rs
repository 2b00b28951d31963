//! `dormouse permissions trust`: trust a project's settings, or revoke that.

use std::io::IsTerminal;

use dormouse_base::{TrustState, TrustStore};

use crate::args::TrustArguments;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::settings;
use crate::wiring::trust::{Untrusted, ask, list};
use crate::wiring::world::{World, current_project};

pub(super) fn run(arguments: &TrustArguments, world: &World) -> Result<Exit, Failure> {
    let project = current_project()?;
    let store = TrustStore::new(&world.home()?);
    if arguments.revoke {
        let had = store.revoke(&project)?;
        print::data_line(if had { "no longer trusted" } else { "it was not trusted" });
        return Ok(Exit::Done);
    }
    let in_force = settings::load(world, None, &project, Untrusted::Pass)?;
    match in_force.trust {
        TrustState::NotNeeded => {
            print::data_line("nothing to trust: the project's settings run and widen nothing");
        }
        TrustState::Trusted => print::data_line("already trusted, as it is now"),
        standing @ (TrustState::Undecided | TrustState::Changed) if arguments.yes => {
            list(&in_force.stack, standing);
            store.grant(&project, &in_force.stack, world.clock.now())?;
            print::data_line("trusted");
        }
        standing @ (TrustState::Undecided | TrustState::Changed)
            if !std::io::stdin().is_terminal() =>
        {
            list(&in_force.stack, standing);
            return Err(Failure::failed(anyhow::anyhow!(
                "not trusted: there is no terminal to ask at"
            ))
            .hint("`dormouse permissions trust --yes` trusts what is listed above"));
        }
        standing @ (TrustState::Undecided | TrustState::Changed) => {
            if ask(&store, &project, &in_force.stack, standing, world)? == TrustState::Trusted {
                print::data_line("trusted");
            }
        }
    }
    Ok(Exit::Done)
}
