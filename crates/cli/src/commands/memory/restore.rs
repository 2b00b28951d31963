//! `dormouse memory restore`: restores a memory from the trash or from its history.

use dormouse_memory::{ChangeId, ChangeOrigin, MemoryFile, StoreScope, Trashed, fold};
use serde::Serialize;

use super::stores::{SelectedStores, into_receipt};
use super::table::TextTable;
use crate::args::RestoreArguments;
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::memory_stores::ScopedStore;
use crate::wiring::print;
use crate::wiring::world::World;

/// A removed memory in JSON output.
#[derive(Serialize)]
struct TrashedMemoryJson {
    file: String,
    name: String,
    scope: StoreScope,
    removed: String,
    /// `removed` for the table.
    #[serde(skip)]
    removed_shown: String,
    change: u64,
    author: String,
}

#[derive(Serialize)]
struct RestoredJson {
    file: String,
    path: String,
    scope: StoreScope,
    change: Option<u64>,
}

pub(super) async fn restore(arguments: &RestoreArguments, world: &World) -> Result<Exit, Failure> {
    let stores = SelectedStores::open(world, arguments.common.scope.as_ref()).await?;
    let Some(name) = &arguments.file else {
        return list_trash(&stores, arguments.common.json, world);
    };
    let (scoped, file) = find_to_restore(&stores, name, arguments.change.is_some())?;
    let version = arguments.change.map(ChangeId);
    // It was saved before, so secrets in it are not checked again.
    let by = ChangeOrigin::user("restored by hand").allowing_secrets();
    let outcome = scoped.store.history().restore(&by, &file, version)?;
    let change = into_receipt(outcome)?.map(|receipt| receipt.id.0);
    if change.is_none() {
        print::note(&msg!("memory-restore-unchanged"));
    }
    let path = scoped.path_of(file.as_str());
    if arguments.common.json {
        print::json(&RestoredJson { file: file.to_string(), path, scope: scoped.scope, change })?;
    } else {
        print::data_line(&path);
    }
    Ok(Exit::Done)
}

/// The memory in the trash, or for a given change, an existing memory.
fn find_to_restore<'a>(
    stores: &'a SelectedStores,
    name: &str,
    has_change: bool,
) -> Result<(&'a ScopedStore, MemoryFile), Failure> {
    let mut matching = Vec::new();
    for scoped in &stores.list {
        scoped.notice()?;
        matching.extend(find_in_trash(scoped, name)?.into_iter().map(|file| (scoped, file)));
    }
    let existing =
        || stores.find_by_name(name).map(|found| (found.scoped, found.memory.file.clone()));
    match (matching.pop(), matching.is_empty()) {
        (Some(only), true) => Ok(only),
        (None, _) if has_change => existing(),
        (None, _) if existing().is_ok() => {
            Err(Failure::failed(anyhow::anyhow!(msg!("memory-not-removed", name = name)))
                .hint(msg!("memory-not-removed-hint")))
        }
        (None, _) => {
            Err(Failure::failed(anyhow::anyhow!(msg!("memory-not-in-trash", name = name)))
                .hint(msg!("memory-not-in-trash-hint")))
        }
        (Some(last), false) => {
            let each = matching.iter().chain([&last]);
            let each: Vec<String> =
                each.map(|(scoped, file)| format!("{file} ({})", scoped.scope)).collect();
            let text = msg!("memory-ambiguous", name = name, memories = each.join(", "));
            Err(Failure::usage(anyhow::anyhow!(text)).hint(msg!("memory-ambiguous-hint")))
        }
    }
}

/// The removed memories of a store by file name, or else by title.
pub(super) fn find_in_trash(scoped: &ScopedStore, name: &str) -> Result<Vec<MemoryFile>, Failure> {
    let trash = scoped.store.history().trash()?;
    let select = |matches: &dyn Fn(&Trashed) -> bool| -> Vec<MemoryFile> {
        trash
            .iter()
            .filter(|trashed| matches(trashed))
            .map(|trashed| trashed.file.clone())
            .collect()
    };
    let by_file = select(&|trashed| fold(trashed.file.as_str()) == fold(name));
    if !by_file.is_empty() {
        return Ok(by_file);
    }
    Ok(select(&|trashed| {
        [trashed.name.as_str(), trashed.file.stem()].map(fold).contains(&fold(name))
    }))
}

fn list_trash(stores: &SelectedStores, json: bool, world: &World) -> Result<Exit, Failure> {
    let mut rows = Vec::new();
    for scoped in &stores.list {
        scoped.notice()?;
        rows.extend(scoped.store.history().trash()?.into_iter().map(|trashed| TrashedMemoryJson {
            file: trashed.file.to_string(),
            name: trashed.name,
            scope: scoped.scope,
            removed_shown: trashed.removed.strftime("%Y-%m-%d %H:%M").to_string(),
            removed: trashed.removed.to_string(),
            change: trashed.change.0,
            author: trashed.author.to_string(),
        }));
    }
    if json {
        print::json(&rows)?;
        return Ok(Exit::Done);
    }
    let mut table = TextTable::new(&["file", "scope", "removed", "by", "change", "name"]);
    for row in &rows {
        let (scope, change) = (row.scope.to_string(), row.change.to_string());
        let (file, name) = (row.file.clone(), row.name.clone());
        table.row([file, scope, row.removed_shown.clone(), row.author.clone(), change, name]);
    }
    table.print(&world.environment);
    if rows.is_empty() {
        print::note(&msg!("memory-trash-empty"));
    }
    Ok(Exit::Done)
}
