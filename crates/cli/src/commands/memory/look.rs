//! Looking: `list`, `show`, `path`.

use dormouse_base::group_digits;
use dormouse_memory::{Age, DirectorySource, MemoryType, Uses};
use jiff::Timestamp;
use serde::Serialize;

use super::desk::{Desk, Found, Row, no_repository};
use super::table::Table;
use crate::args::{ListArguments, MemoryScopeArgument, NamedArguments, PathArguments};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::memory_places::{Place, Whose};
use crate::wiring::print;
use crate::wiring::world::World;

pub(super) async fn list(arguments: &ListArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    let kind: Option<MemoryType> = arguments.kind.map(Into::into);
    let mut memories = desk.memories()?;
    memories.retain(|found| kind.is_none() || found.memory.header.kind == kind);
    if arguments.common.json {
        let rows: Vec<Row> = memories.iter().map(|found| found.row(desk.now)).collect();
        print::json(&rows)?;
    } else {
        table(&memories, &desk).print(&world.environment);
    }
    if memories.is_empty() {
        print::note(if kind.is_some() || arguments.common.scope.is_some() {
            "no memory of this kind; `dormouse memory list` without options lists all there are"
        } else {
            "no memories here yet; `dormouse memory add --help` shows how to save one"
        });
    }
    Ok(Exit::Done)
}

/// The file comes first: it names the memory in every other command.
pub(super) fn table(memories: &[Found<'_>], desk: &Desk) -> Table {
    let mut table =
        Table::new(&["file", "type", "scope", "changed", "effect", "name: description"]);
    for found in memories {
        let header = &found.memory.header;
        let mut said = found.memory.name().to_owned();
        if header.quarantined {
            said.insert_str(0, "(in quarantine) ");
        }
        if let Some(description) = &header.description {
            said.push_str(": ");
            said.push_str(description);
        }
        table.row([
            found.memory.file.to_string(),
            header.kind.map_or("-", MemoryType::as_str).to_owned(),
            found.shelf.whose.to_string(),
            found.age(desk.now).to_string(),
            effect(&found.uses()),
            said,
        ]);
    }
    table
}

/// What a memory was good for, in few letters: how often it was recalled, cited, heeded, violated.
fn effect(uses: &Uses) -> String {
    let counts =
        [(uses.recalled, "r"), (uses.cited, "c"), (uses.heeded, "h"), (uses.violated, "v")];
    let said: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, letter)| format!("{count}{letter}"))
        .collect();
    if said.is_empty() { "-".to_owned() } else { said.join(" ") }
}

/// The same in words.
fn effect_in_words(uses: &Uses, now: Timestamp) -> String {
    let Uses { recalled, tokens, cited, heeded, violated, .. } = uses;
    let helped = match uses.last_helped {
        Some(time) => format!("last of help {}", Age::between(time, now)),
        None => "of no help so far".to_owned(),
    };
    format!(
        "recalled {recalled} times ({} tokens), cited {cited}, heeded {heeded}, violated {violated}; {helped}",
        group_digits(*tokens)
    )
}

/// A whole memory, for programs.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    row: Row,
    created: Option<String>,
    source: Vec<String>,
    supersedes: Vec<String>,
    anchors: Vec<String>,
    body: String,
    text: String,
}

pub(super) async fn show(arguments: &NamedArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    let found = desk.named(&arguments.name)?;
    let (entry, text) = found.entry()?;
    if arguments.common.json {
        let header = &entry.header;
        print::json(&Shown {
            row: found.row(desk.now),
            created: header.created.map(|time| time.to_string()),
            source: header.sources.clone(),
            supersedes: header.supersedes.clone(),
            anchors: header.anchors.clone(),
            body: entry.text().to_owned(),
            text,
        })?;
        return Ok(Exit::Done);
    }
    let (path, age) = (found.path(), found.age(desk.now));
    print::note(&format!("{path} ({}, last changed {age})", found.shelf.whose));
    let uses = found.uses();
    if uses != Uses::default() {
        print::note(&effect_in_words(&uses, desk.now));
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
struct Where {
    scope: Whose,
    path: String,
    exists: bool,
    chosen_by: &'static str,
}

pub(super) async fn path(arguments: &PathArguments, world: &World) -> Result<Exit, Failure> {
    let common = arguments.common;
    let desk = Desk::open(world, None).await?;
    let rows = places(&desk, common.scope)?;
    if common.json {
        print::json(&rows)?;
    } else if common.scope.is_some() {
        // Just the path: for $(...).
        for row in &rows {
            print::data_line(&row.path);
        }
    } else {
        for row in &rows {
            let there = if row.exists { "" } else { "  (not there yet)" };
            print::data_line(&format!("{:<8} {}{there}", row.scope.to_string(), row.path));
        }
    }
    Ok(Exit::Done)
}

fn places(desk: &Desk, scope: Option<MemoryScopeArgument>) -> Result<Vec<Where>, Failure> {
    let Some(scope) = scope else {
        let in_repository = desk.places.in_repository();
        return Ok(desk.places.list().iter().chain(in_repository).map(of_place).collect());
    };
    let found = desk.places.of(scope.into()).or(desk.places.in_repository());
    Ok(vec![of_place(found.ok_or_else(no_repository)?)])
}

fn of_place(place: &Place) -> Where {
    Where {
        scope: place.whose,
        path: place.directory.display().to_string(),
        exists: place.directory.is_dir(),
        chosen_by: match place.source {
            DirectorySource::Environment => "environment",
            DirectorySource::Setting => "setting",
            DirectorySource::Default => "default",
        },
    }
}
