//! `dormouse memory list`, `show` and `path`.

use dormouse_base::group_digits;
use dormouse_memory::{Age, DirectorySource, MemoryType, MemoryUsage, StoreScope};
use jiff::Timestamp;
use serde::Serialize;

use super::agent_scope::world_of_scope;
use super::stores::{MemorySummaryJson, ScopedMemory, SelectedStores, no_repo_scope};
use super::table::TextTable;
use crate::args::{ListArguments, NamedArguments, PathArguments};
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::memory_directories::MemoryDirectory;
use crate::wiring::print;
use crate::wiring::world::World;

pub(super) async fn list(arguments: &ListArguments, world: &World) -> Result<Exit, Failure> {
    let stores = SelectedStores::open(world, arguments.common.scope.as_ref()).await?;
    let kind: Option<MemoryType> = arguments.kind.map(Into::into);
    let mut memories = stores.memories()?;
    memories.retain(|found| kind.is_none() || found.memory.header.kind == kind);
    if arguments.common.json {
        let rows: Vec<MemorySummaryJson> =
            memories.iter().map(|found| found.summary(stores.now)).collect();
        print::json(&rows)?;
    } else {
        table(&memories, &stores).print(&world.environment);
    }
    if memories.is_empty() {
        print::note(&if kind.is_some() || arguments.common.scope.is_some() {
            msg!("memory-list-no-match")
        } else {
            msg!("memory-list-empty")
        });
    }
    Ok(Exit::Done)
}

/// The file name comes first because every other command takes it.
pub(super) fn table(memories: &[ScopedMemory<'_>], stores: &SelectedStores) -> TextTable {
    let mut table =
        TextTable::new(&["file", "type", "scope", "changed", "usage", "name: description"]);
    for found in memories {
        let header = &found.memory.header;
        let mut summary = found.memory.name().to_owned();
        if header.quarantined {
            summary.insert_str(0, "(in quarantine) ");
        }
        if let Some(description) = &header.description {
            summary.push_str(": ");
            summary.push_str(description);
        }
        table.row([
            found.memory.file.to_string(),
            header.kind.map_or("-", MemoryType::as_str).to_owned(),
            found.scoped.scope.to_string(),
            age_words(found.age(stores.now)),
            usage_column(&found.usage()),
            summary,
        ]);
    }
    table
}

/// An age in the user's language; the model always reads it in English.
pub(super) fn age_words(age: Age) -> String {
    match age.days() {
        0 => msg!("memory-age-today"),
        1 => msg!("memory-age-yesterday"),
        days => msg!("memory-age-days", count = days),
    }
}

/// How often a memory was recalled (r), cited (c), followed (h) and violated (v).
fn usage_column(uses: &MemoryUsage) -> String {
    let counts =
        [(uses.recalled, "r"), (uses.cited, "c"), (uses.heeded, "h"), (uses.violated, "v")];
    let parts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, letter)| format!("{count}{letter}"))
        .collect();
    if parts.is_empty() { "-".to_owned() } else { parts.join(" ") }
}

fn usage_sentence(uses: &MemoryUsage, now: Timestamp) -> String {
    let helped = match uses.last_helped {
        Some(time) => msg!("memory-usage-helped", when = age_words(Age::between(time, now))),
        None => msg!("memory-usage-not-helped"),
    };
    msg!(
        "memory-usage",
        recalled = uses.recalled,
        tokens = group_digits(uses.tokens),
        cited = uses.cited,
        followed = uses.heeded,
        violated = uses.violated,
        helped = helped
    )
}

#[derive(Serialize)]
struct MemoryJson {
    #[serde(flatten)]
    row: MemorySummaryJson,
    created: Option<String>,
    source: Vec<String>,
    supersedes: Vec<String>,
    anchors: Vec<String>,
    body: String,
    text: String,
}

pub(super) async fn show(arguments: &NamedArguments, world: &World) -> Result<Exit, Failure> {
    let stores = SelectedStores::open(world, arguments.common.scope.as_ref()).await?;
    let found = stores.find_by_name(&arguments.name)?;
    let (entry, _) = found.read()?;
    let text = found.file_text()?;
    if arguments.common.json {
        let header = &entry.header;
        print::json(&MemoryJson {
            row: found.summary(stores.now),
            created: header.created.map(|time| time.to_string()),
            source: header.sources.clone(),
            supersedes: header.supersedes.clone(),
            anchors: header.anchors.clone(),
            body: entry.text().to_owned(),
            text,
        })?;
        return Ok(Exit::Done);
    }
    print::note(&msg!(
        "memory-show-header",
        path = found.path_text(),
        scope = found.scoped.scope.to_string(),
        age = age_words(found.age(stores.now))
    ));
    let uses = found.usage();
    if uses != MemoryUsage::default() {
        print::note(&usage_sentence(&uses, stores.now));
    }
    for problem in &entry.problems {
        print::note(&format!("warning: {problem}"));
    }
    print::data(&text);
    if print::is_terminal() && !text.ends_with('\n') {
        print::data("\n");
    }
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct DirectoryJson {
    scope: StoreScope,
    path: String,
    exists: bool,
    chosen_by: &'static str,
}

pub(super) async fn path(arguments: &PathArguments, world: &World) -> Result<Exit, Failure> {
    let common = &arguments.common;
    let chosen = common.scope.as_ref().map(|scope| world_of_scope(scope, world)).transpose()?;
    let world = chosen.as_ref().map_or(world, |(world, _)| world);
    let stores = SelectedStores::open(world, None).await?;
    let rows = directories(&stores, chosen.as_ref().map(|(_, scope)| *scope))?;
    if common.json {
        print::json(&rows)?;
    } else if common.scope.is_some() {
        // Only the path, for $(...).
        for row in &rows {
            print::data_line(&row.path);
        }
    } else {
        for row in &rows {
            let state = if row.exists { "" } else { "  (not created yet)" };
            print::data_line(&format!("{:<8} {}{state}", row.scope.to_string(), row.path));
        }
    }
    Ok(Exit::Done)
}

fn directories(
    stores: &SelectedStores,
    scope: Option<StoreScope>,
) -> Result<Vec<DirectoryJson>, Failure> {
    let Some(scope) = scope else {
        let in_repository = stores.directories.in_repository();
        return Ok(stores
            .directories
            .list()
            .iter()
            .chain(in_repository)
            .map(directory_json)
            .collect());
    };
    let found = stores.directories.of(scope).or(stores.directories.in_repository());
    Ok(vec![directory_json(found.ok_or_else(no_repo_scope)?)])
}

fn directory_json(directory: &MemoryDirectory) -> DirectoryJson {
    DirectoryJson {
        scope: directory.scope,
        path: directory.path.display().to_string(),
        exists: directory.path.is_dir(),
        chosen_by: match directory.source {
            DirectorySource::Environment => "environment",
            DirectorySource::Setting => "setting",
            DirectorySource::Default => "default",
        },
    }
}
