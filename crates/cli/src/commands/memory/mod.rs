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

use std::io::Read;
use std::path::Path;

use dormouse_base::{AppendError, FileError};
use dormouse_memory::{ChangeError, FileDiff, MemoryType};
use serde::Serialize;

use crate::args::{MemoryCommand, MemoryKind, MemoryScope};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::memory_places::Whose;
use crate::wiring::print;
use crate::wiring::world::World;

/// A failure, for programs: they find JSON on standard output whatever happens.
#[derive(Serialize)]
struct Failed<'a> {
    error: String,
    kind: &'static str,
    hints: &'a [String],
}

pub(crate) async fn run(command: &MemoryCommand, world: &World) -> Result<Exit, Failure> {
    let result = run_one(command, world).await;
    if command.wants_json() { told_as_json(result) } else { result }
}

/// A failure is told as JSON as well.
pub(crate) fn told_as_json(result: Result<Exit, Failure>) -> Result<Exit, Failure> {
    if let Err(failure) = &result {
        let (kind, hints) = (failure.kind(), failure.hints());
        print_json(&Failed { error: failure.message(), kind, hints })?;
    }
    result
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
        ChangeError::Interrupted(file) | ChangeError::History(AppendError::File(file)) => {
            Some(file)
        }
        _ => None,
    }
}

/// More is no text that anybody checks or brings in.
const MOST_READ: u64 = 64 * 1024 * 1024;

/// Reads a file that the person names; it may be a pipe.
fn read_some(path: &Path) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(MOST_READ + 1).read_to_end(&mut bytes))
        .map_err(|error| unreadable(path, &error))?;
    if read as u64 > MOST_READ {
        let error = std::io::Error::other("it is longer than 64 MiB");
        return Err(unreadable(path, &error));
    }
    Ok(bytes)
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(anyhow::anyhow!("can not read {}: {error}", path.display()))
}

/// Prints what a change does, as diffs that other programs read.
pub(crate) fn print_diffs(files: &[FileDiff], world: &World) {
    let looks = table::Looks::of(&world.environment);
    for file in files {
        let (before, after) = (file.before.as_deref(), file.after.as_deref());
        history::print_diff(file.file.as_str(), before, after, looks);
    }
}

/// Prints a value for programs.
pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Failure> {
    print::data_line(&serde_json::to_string_pretty(value).map_err(Failure::failed)?);
    Ok(())
}
