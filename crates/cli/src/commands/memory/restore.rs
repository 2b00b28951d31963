//! Bringing back what was removed, or what a memory once said: `restore`.

use dormouse_memory::{By, ChangeId, MemoryFile, Trashed, fold};
use serde::Serialize;

use super::desk::{Desk, Shelf, written};
use super::table::Table;
use crate::args::RestoreArguments;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::memory_places::Whose;
use crate::wiring::print;
use crate::wiring::world::World;

/// A removed memory, for programs.
#[derive(Serialize)]
struct InTrash {
    file: String,
    name: String,
    scope: Whose,
    removed: String,
    /// The same for a person.
    #[serde(skip)]
    when: String,
    change: u64,
    author: String,
}

#[derive(Serialize)]
struct Restored {
    file: String,
    path: String,
    scope: Whose,
    change: Option<u64>,
}

pub(super) async fn restore(arguments: &RestoreArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    let Some(name) = &arguments.file else { return trash(&desk, arguments.common.json, world) };
    let (shelf, file) = to_restore(&desk, name, arguments.change.is_some())?;
    let version = arguments.change.map(ChangeId);
    // It was kept before: who wants it back wants it as it was.
    let by = By::person("restored by hand").allowing_secrets();
    let outcome = shelf.store.restore(&by, &file, version)?;
    let change = written(outcome)?.map(|receipt| receipt.id.0);
    if change.is_none() {
        print::note("it is like that already");
    }
    let path = shelf.path_of(file.as_str());
    if arguments.common.json {
        print::json(&Restored { file: file.to_string(), path, scope: shelf.whose, change })?;
    } else {
        print::data_line(&path);
    }
    Ok(Exit::Done)
}

/// Which memory of which store: one in the trash, or one that is there and is to be as it was.
fn to_restore<'a>(
    desk: &'a Desk,
    name: &str,
    of_a_change: bool,
) -> Result<(&'a Shelf, MemoryFile), Failure> {
    let mut fitting = Vec::new();
    for shelf in &desk.shelves {
        shelf.notice()?;
        fitting.extend(gone(shelf, name)?.into_iter().map(|file| (shelf, file)));
    }
    let there = || desk.named(name).map(|found| (found.shelf, found.memory.file.clone()));
    match (fitting.pop(), fitting.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) if of_a_change => there(),
        (None, _) if there().is_ok() => {
            Err(Failure::failed(anyhow::anyhow!("`{name}` was not removed")).hint(
                "--change N brings back what it was after that change, `dormouse memory log` lists them",
            ))
        }
        (None, _) => Err(Failure::failed(anyhow::anyhow!("no removed memory is called `{name}`"))
            .hint("`dormouse memory restore` lists them; they are kept for 30 days")),
        (Some(last), false) => {
            let each = fitting.iter().chain([&last]);
            let each: Vec<String> =
                each.map(|(shelf, file)| format!("{file} ({})", shelf.whose)).collect();
            let each = each.join(", ");
            Err(Failure::usage(anyhow::anyhow!("`{name}` fits several memories: {each}"))
                .hint("name the file; --scope chooses between files of one name"))
        }
    }
}

/// The removed memories of a store that a name means: a file, else those of this name.
pub(super) fn gone(shelf: &Shelf, name: &str) -> Result<Vec<MemoryFile>, Failure> {
    let trash = shelf.store.trash()?;
    let of = |fits: &dyn Fn(&Trashed) -> bool| -> Vec<MemoryFile> {
        trash.iter().filter(|gone| fits(gone)).map(|gone| gone.file.clone()).collect()
    };
    let by_file = of(&|gone| fold(gone.file.as_str()) == fold(name));
    if !by_file.is_empty() {
        return Ok(by_file);
    }
    Ok(of(&|gone| [gone.name.as_str(), gone.file.stem()].map(fold).contains(&fold(name))))
}

fn trash(desk: &Desk, json: bool, world: &World) -> Result<Exit, Failure> {
    let mut rows = Vec::new();
    for shelf in &desk.shelves {
        shelf.notice()?;
        rows.extend(shelf.store.trash()?.into_iter().map(|trashed| InTrash {
            file: trashed.file.to_string(),
            name: trashed.name,
            scope: shelf.whose,
            when: trashed.removed.strftime("%Y-%m-%d %H:%M").to_string(),
            removed: trashed.removed.to_string(),
            change: trashed.change.0,
            author: trashed.author.to_string(),
        }));
    }
    if json {
        print::json(&rows)?;
        return Ok(Exit::Done);
    }
    let mut table = Table::new(&["file", "scope", "removed", "by", "change", "name"]);
    for row in &rows {
        let (scope, change) = (row.scope.to_string(), row.change.to_string());
        let (file, name) = (row.file.clone(), row.name.clone());
        table.row([file, scope, row.when.clone(), row.author.clone(), change, name]);
    }
    table.print(&world.environment);
    if rows.is_empty() {
        print::note("nothing was removed in the last 30 days");
    }
    Ok(Exit::Done)
}
