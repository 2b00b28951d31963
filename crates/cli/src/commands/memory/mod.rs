//! `dormouse memory`: what is remembered, for the person whose it is. No model and no key is needed, and the
//! switches that keep memory from a model do not keep it from the person.

mod desk;
mod editor;
mod embed;
mod exchange;
pub(crate) mod guard;
mod health;
mod history;
mod inbox;
mod look;
pub(crate) mod recall;
mod restore;
mod table;
mod write;

use crate::args::MemoryCommand;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::print;
use crate::wiring::world::World;

pub(crate) async fn run(command: &MemoryCommand, world: &World) -> Result<Exit, Failure> {
    let result = run_one(command, world).await;
    if command.wants_json() { print::json_result(result) } else { result }
}

async fn run_one(command: &MemoryCommand, world: &World) -> Result<Exit, Failure> {
    match command {
        MemoryCommand::List(arguments) => look::list(arguments, world).await,
        MemoryCommand::Show(arguments) => look::show(arguments, world).await,
        MemoryCommand::Search(arguments) => recall::search(arguments, world).await,
        MemoryCommand::Path(arguments) => look::path(arguments, world).await,
        MemoryCommand::Add(arguments) => write::add(arguments, world).await,
        MemoryCommand::Edit(arguments) => write::edit(arguments, world).await,
        MemoryCommand::Confirm(arguments) => write::confirm(arguments, world).await,
        MemoryCommand::Rm(arguments) => write::rm(arguments, world).await,
        MemoryCommand::Log(arguments) => history::log(arguments, world).await,
        MemoryCommand::Diff(arguments) => history::diff(arguments, world).await,
        MemoryCommand::Undo(arguments) => history::undo(arguments, world).await,
        MemoryCommand::Restore(arguments) => restore::restore(arguments, world).await,
        MemoryCommand::Inbox(arguments) => inbox::run(arguments, world).await,
        MemoryCommand::Guard(arguments) => guard::run(arguments, world).await,
        MemoryCommand::Embed(arguments) => embed::run(arguments, world).await,
        MemoryCommand::Doctor(arguments) => health::doctor(arguments, world).await,
        MemoryCommand::Lint(arguments) => health::lint(arguments, world).await,
        MemoryCommand::Export(arguments) => exchange::export(arguments, world).await,
        MemoryCommand::Import(arguments) => exchange::import(arguments, world).await,
    }
}
