//! `dormouse team`: memory that a team shares through a server of its own.

mod join;
#[cfg(feature = "team-server")]
mod operate;
pub(crate) mod report;
mod review;
#[cfg(feature = "team-server")]
mod serve;
#[cfg(feature = "team-server")]
mod serve_settings;
mod sync;

use crate::args::TeamCommand;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::world::{World, current_project};

pub(crate) async fn run(command: &TeamCommand, world: &World) -> Result<Exit, Failure> {
    match command {
        TeamCommand::Join(arguments) => join::join(arguments, world).await,
        TeamCommand::Leave => join::leave(&current_project()?, world).await,
        TeamCommand::Sync { json } => sync::run(*json, world).await,
        TeamCommand::Status { json } => sync::status(*json, world).await,
        TeamCommand::Log(arguments) => sync::log(arguments, world).await,
        TeamCommand::Rm { entry, yes } => sync::rm(entry, *yes, world).await,
        TeamCommand::Review(arguments) => review::run(arguments, world).await,
        TeamCommand::Layers { off, none: _ } => review::layers(off, world).await,
        #[cfg(feature = "team-server")]
        TeamCommand::Serve(arguments) => serve::run(arguments, world).await,
        #[cfg(feature = "team-server")]
        TeamCommand::Token(command) => operate::token(command, world).await,
        #[cfg(feature = "team-server")]
        TeamCommand::Backup(arguments) => operate::backup(arguments, world).await,
        #[cfg(feature = "team-server")]
        TeamCommand::Restore(arguments) => operate::restore(arguments, world).await,
        #[cfg(feature = "team-server")]
        TeamCommand::Purge(arguments) => operate::purge(arguments, world).await,
    }
}
