//! `dormouse memory`: what is remembered, for the person whose it is. No model and no key is needed, and the
//! switches that keep memory from a model do not keep it from the person.

mod desk;
mod editor;
mod exchange;
mod health;
mod history;
mod inbox;
mod look;
pub(crate) mod places;
pub(crate) mod recall;
pub(crate) mod session;
mod table;
mod write;

use dormouse_base::FileError;
use dormouse_memory::{ChangeError, MemoryType};

use crate::args::{MemoryCommand, MemoryKind, MemoryScope};
use crate::exit::{Exit, Failure};
use crate::show;
use crate::world::World;
use places::Whose;

pub(crate) async fn run(command: &MemoryCommand, world: &World) -> Result<Exit, Failure> {
    match command {
        MemoryCommand::List(arguments) => look::list(arguments, world).await,
        MemoryCommand::Show(arguments) => look::show(arguments, world).await,
        MemoryCommand::Search(arguments) => recall::search(arguments, world).await,
        MemoryCommand::Path(arguments) => look::path(arguments, world).await,
        MemoryCommand::Add(arguments) => write::add(arguments, world).await,
        MemoryCommand::Edit(arguments) => write::edit(arguments, world).await,
        MemoryCommand::Rm(arguments) => write::rm(arguments, world).await,
        MemoryCommand::Log(arguments) => history::log(arguments, world).await,
        MemoryCommand::Diff(arguments) => history::diff(arguments, world).await,
        MemoryCommand::Undo(arguments) => history::undo(arguments, world).await,
        MemoryCommand::Restore(arguments) => history::restore(arguments, world).await,
        MemoryCommand::Inbox(arguments) => inbox::run(arguments, world).await,
        MemoryCommand::Doctor(arguments) => health::doctor(arguments, world).await,
        MemoryCommand::Lint(arguments) => health::lint(arguments, world).await,
        MemoryCommand::Export(arguments) => exchange::export(arguments, world).await,
        MemoryCommand::Import(arguments) => exchange::import(arguments, world).await,
    }
}

impl From<MemoryScope> for Whose {
    fn from(scope: MemoryScope) -> Self {
        match scope {
            MemoryScope::User => Self::User,
            MemoryScope::Project => Self::Project,
            MemoryScope::Team => Self::Team,
            MemoryScope::Repo => Self::Repo,
        }
    }
}

impl From<MemoryKind> for MemoryType {
    fn from(kind: MemoryKind) -> Self {
        match kind {
            MemoryKind::User => Self::User,
            MemoryKind::Feedback => Self::Feedback,
            MemoryKind::Project => Self::Project,
            MemoryKind::Reference => Self::Reference,
        }
    }
}

impl From<ChangeError> for Failure {
    fn from(error: ChangeError) -> Self {
        match error {
            ChangeError::File(file) => Self::from(file),
            ChangeError::Name(_) => Self::usage(error),
            ChangeError::Secrets(_) => {
                Self::failed(error).hint("--allow-secret saves it all the same")
            }
            other => {
                let hint = file_error(&other).and_then(FileError::hint);
                let failure = Self::failed(other);
                match hint {
                    Some(hint) => failure.hint(hint),
                    None => failure,
                }
            }
        }
    }
}

fn file_error(error: &ChangeError) -> Option<&FileError> {
    match error {
        ChangeError::Interrupted(file) => Some(file),
        _ => None,
    }
}

/// Prints a value for programs.
fn print_json(value: &impl serde::Serialize) -> Result<(), Failure> {
    show::data_line(&serde_json::to_string_pretty(value).map_err(Failure::failed)?);
    Ok(())
}
