//! `dormouse memory`: memory management for the user. It needs no model and no API key, and works even where
//! memory is switched off for the model.

mod agent_scope;
mod annotations;
mod check;
mod check_row;
mod embed;
mod export_import;
pub(crate) mod guard;
mod history;
mod inbox;
mod list;
mod one_line;
mod promote;
pub(crate) mod recall;
mod restore;
mod stores;
mod table;
mod write;

use crate::args::MemoryCommand;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::world::World;

pub(crate) async fn run(command: &MemoryCommand, world: &World) -> Result<Exit, Failure> {
    match command {
        MemoryCommand::List(arguments) => list::list(arguments, world).await,
        MemoryCommand::Show(arguments) => list::show(arguments, world).await,
        MemoryCommand::Search(arguments) => recall::search(arguments, world).await,
        MemoryCommand::Path(arguments) => list::path(arguments, world).await,
        MemoryCommand::Add(arguments) => Box::pin(write::add(arguments, world)).await,
        MemoryCommand::Edit(arguments) => write::edit(arguments, world).await,
        MemoryCommand::Promote(arguments) => promote::promote(arguments, world).await,
        MemoryCommand::Confirm(arguments) => write::confirm(arguments, world).await,
        MemoryCommand::Rm(arguments) => write::rm(arguments, world).await,
        MemoryCommand::Log(arguments) => history::log(arguments, world).await,
        MemoryCommand::Diff(arguments) => history::diff(arguments, world).await,
        MemoryCommand::Undo(arguments) => history::undo(arguments, world).await,
        MemoryCommand::Restore(arguments) => restore::restore(arguments, world).await,
        MemoryCommand::Inbox(arguments) => inbox::run(arguments, world).await,
        MemoryCommand::Guard(arguments) => guard::run(arguments, world).await,
        MemoryCommand::Embed(arguments) => embed::run(arguments, world).await,
        MemoryCommand::Doctor(arguments) => check::doctor(arguments, world).await,
        MemoryCommand::Lint(arguments) => check::lint(arguments, world).await,
        MemoryCommand::Export(arguments) => export_import::export(arguments, world).await,
        MemoryCommand::Import(arguments) => export_import::import(arguments, world).await,
    }
}
