//! Changing by hand: `add`, `edit`, `rm`. Everything goes through the store's one door.

use std::path::Path;

use dormouse_frontmatter::{self as frontmatter, FrontmatterEditError};
use dormouse_memory::{
    By, ContentHash, Effect, Expected, GuardBook, MemoryFile, MemoryType, NewMemory, Receipt,
};
use jiff::Timestamp;
use serde::Serialize;

use super::desk::{Desk, Found, Shelf, heeding_secrets, shelf_to_fill, written};
use super::editor;
use crate::args::{AddArguments, EditArguments, MemoryTypeArgument, NamedArguments, RmArguments};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input;
use crate::wiring::memory_places::Whose;
use crate::wiring::print;
use crate::wiring::world::World;

/// What a change did to a memory, for programs.
#[derive(Serialize)]
struct Done {
    file: String,
    path: String,
    scope: Whose,
    /// The change's number; none if there was nothing to change.
    change: Option<u64>,
}

impl Done {
    fn print(&self, json: bool) -> Result<Exit, Failure> {
        if json {
            print::json(self)?;
        } else {
            print::data_line(&self.path);
        }
        Ok(Exit::Done)
    }
}

pub(super) async fn add(arguments: &AddArguments, world: &World) -> Result<Exit, Failure> {
    needed("name", Some(&arguments.name))?;
    needed("description", Some(&arguments.description))?;
    let body = match &arguments.body {
        Some(body) => body.clone(),
        None => from_input()?,
    };
    let memory = NewMemory {
        pinned: arguments.pin,
        ..NewMemory::new(&arguments.name, &arguments.description, &body)
            .with_kind(arguments.kind.into())
    };
    let otherwise =
        if arguments.kind == MemoryTypeArgument::User { Whose::User } else { Whose::Project };
    let shelf = shelf_to_fill(world, arguments.scope.map_or(otherwise, Into::into)).await?;
    let by = By::person("added by hand");
    let outcome = heeding_secrets(by, arguments.allow_secret, |by| {
        shelf.store.change(by, |plan| plan.save(&memory).map(drop))
    })?;
    let receipt = written(outcome)?;
    let (change, file) = added(receipt.as_ref())?;
    let path = shelf.path_of(file.as_str());
    Done { file: file.to_string(), path, scope: shelf.whose, change }.print(arguments.json)
}

/// What every memory has can not be empty.
fn needed(what: &str, text: Option<&String>) -> Result<(), Failure> {
    if text.is_none_or(|text| !text.trim().is_empty()) {
        return Ok(());
    }
    Err(Failure::usage(anyhow::anyhow!("a memory needs a {what}; this one is empty")))
}

fn from_input() -> Result<String, Failure> {
    let text = input::read()?;
    if text.trim().is_empty() {
        return Err(Failure::usage(anyhow::anyhow!("standard input has no text for the memory"))
            .hint("--body TEXT says it; --body \"\" where the description is all there is"));
    }
    Ok(text)
}

fn added(receipt: Option<&Receipt>) -> Result<(Option<u64>, &MemoryFile), Failure> {
    let found = receipt.and_then(|receipt| {
        let added = receipt.files.iter().find(|(_, effect)| *effect == Effect::Added);
        added.map(|(file, _)| (Some(receipt.id.0), file))
    });
    found.ok_or_else(|| Failure::failed(anyhow::anyhow!("nothing was saved")))
}

pub(super) async fn edit(arguments: &EditArguments, world: &World) -> Result<Exit, Failure> {
    needed("name", arguments.new_name.as_ref())?;
    needed("description", arguments.description.as_ref())?;
    let desk = Desk::open(world, arguments.common.scope).await?;
    let found = desk.named(&arguments.name)?;
    let (bytes, hash) = found.shelf.store.read(&found.memory.file)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::failed(anyhow::anyhow!("{} is not valid UTF-8", found.memory.file))
            .hint("save it as UTF-8 first")
    })?;
    let receipt = if by_options(arguments) {
        let new = changed(arguments, &text, desk.now)?;
        save(&found, &new, &hash, arguments.allow_secret)?
    } else {
        let copy = editor::Copy::of(world, found.memory.file.name(), &text)?;
        let new = copy.edit(world)?;
        let saved = save(&found, &new, &hash, arguments.allow_secret);
        let receipt = saved.map_err(|failure| copy.kept(failure))?;
        copy.remove()?;
        receipt
    };
    if receipt.is_none() {
        print::note("nothing was changed");
    }
    Done {
        file: found.memory.file.to_string(),
        path: found.path(),
        scope: found.shelf.whose,
        change: receipt.map(|receipt| receipt.id.0),
    }
    .print(arguments.common.json)
}

fn by_options(arguments: &EditArguments) -> bool {
    arguments.new_name.is_some()
        || arguments.kind.is_some()
        || arguments.description.is_some()
        || arguments.body.is_some()
        || arguments.pin.is_some()
}

fn save(
    found: &Found<'_>,
    text: &str,
    expected: &ContentHash,
    allow_secret: bool,
) -> Result<Option<Receipt>, Failure> {
    let expected = Expected::Content(expected.clone());
    let outcome = heeding_secrets(By::person("edited by hand"), allow_secret, |by| {
        found
            .shelf
            .store
            .change(by, |plan| plan.write(&found.memory.file, text.as_bytes(), &expected))
    })?;
    written(outcome)
}

/// The text with what the options say; all the rest of it stays.
fn changed(arguments: &EditArguments, text: &str, now: Timestamp) -> Result<String, Failure> {
    let mut new = text.to_owned();
    if let Some(body) = &arguments.body {
        let body = if body == "-" { from_input()? } else { body.clone() };
        let head = new.strip_suffix(frontmatter::parse(&new).body).unwrap_or_default();
        let gap = if head.is_empty() { "" } else { "\n" };
        new = format!("{head}{gap}{}\n", body.trim_matches(['\n', '\r']));
    }
    with_fields(arguments, new, now).map_err(|error| {
        Failure::failed(error).hint("`dormouse memory edit` without options opens the whole file")
    })
}

fn with_fields(
    arguments: &EditArguments,
    mut text: String,
    now: Timestamp,
) -> Result<String, FrontmatterEditError> {
    for (key, value) in [("name", &arguments.new_name), ("description", &arguments.description)] {
        if let Some(value) = value {
            let line = value.split_whitespace().collect::<Vec<_>>().join(" ");
            text = frontmatter::set(&text, key, &line)?;
        }
    }
    if let Some(kind) = arguments.kind {
        let fields = frontmatter::parse(&text).fields;
        let nested =
            fields.get("type").is_none() && fields.nested_text("metadata", "type").is_some();
        let key = if nested { "metadata.type" } else { "type" };
        text = frontmatter::set(&text, key, MemoryType::from(kind).as_str())?;
    }
    match arguments.pin {
        Some(true) => text = frontmatter::set(&text, "pinned", "true")?,
        Some(false) => text = frontmatter::remove(&text, "pinned")?,
        None => {}
    }
    // Who writes the time of the last change into the file wants it to be true.
    if frontmatter::parse(&text).fields.text("modified").is_some() {
        let seconds = Timestamp::from_second(now.as_second()).unwrap_or(now);
        text = frontmatter::set(&text, "modified", &seconds.to_string())?;
    }
    Ok(text)
}

pub(super) async fn rm(arguments: &RmArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    // All are found before the first one goes.
    let found = arguments.names.iter().map(|name| desk.named(name));
    let found = found.collect::<Result<Vec<_>, _>>()?;
    let mut done = Vec::new();
    for shelf in &desk.shelves {
        let mut files: Vec<&MemoryFile> = Vec::new();
        for found in found.iter().filter(|found| found.shelf.whose == shelf.whose) {
            // One may be named twice in one command.
            if !files.contains(&&found.memory.file) {
                files.push(&found.memory.file);
            }
        }
        if !files.is_empty() {
            done.extend(removed(shelf, &files)?);
        }
    }
    tell_guards(&desk, &done);
    if arguments.common.json {
        print::json(&done)?;
        return Ok(Exit::Done);
    }
    for done in &done {
        print::data_line(&done.path);
    }
    print::note("removed; `dormouse memory undo` or `dormouse memory restore FILE` brings it back");
    Ok(Exit::Done)
}

/// A guard outlasts its memory: it was wanted by itself.
fn tell_guards(desk: &Desk, done: &[Done]) {
    let book = match GuardBook::read(desk.places.state()) {
        Ok(book) => book,
        Err(error) => return print::note(&format!("note: {error}")),
    };
    for done in done.iter().filter(|done| book.guard_of(Path::new(&done.path)).is_some()) {
        let path = &done.path;
        print::note(&format!(
            "its guard stays in force; `dormouse memory guard {path} --remove` takes it out"
        ));
    }
}

/// Takes a memory out of quarantine (M-17): the person has read it, and answers for it.
pub(super) async fn confirm(arguments: &NamedArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    let found = desk.named(&arguments.name)?;
    let (shelf, file) = (found.shelf, &found.memory.file);
    let by = By::person("confirmed by hand");
    let change = if found.memory.header.quarantined {
        written(shelf.store.change(&by, |plan| plan.confirm(file))?)?
    } else {
        None
    };
    let done = Done {
        file: file.to_string(),
        path: found.path(),
        scope: shelf.whose,
        change: change.map(|receipt| receipt.id.0),
    };
    if arguments.common.json {
        print::json(&done)?;
        return Ok(Exit::Done);
    }
    print::data_line(&done.path);
    print::note(match done.change {
        Some(_) => "confirmed; the model may see it from now on",
        None => "it was not in quarantine",
    });
    Ok(Exit::Done)
}

/// Removes memories of one store, as one change.
fn removed(shelf: &Shelf, files: &[&MemoryFile]) -> Result<Vec<Done>, Failure> {
    let by = By::person("removed by hand");
    let outcome = shelf.store.change(&by, |plan| {
        files.iter().try_for_each(|file| plan.delete(file, &Expected::Present))
    })?;
    let change = written(outcome)?.map(|receipt| receipt.id.0);
    let done = files.iter().map(|file| Done {
        file: file.to_string(),
        path: shelf.path_of(file.as_str()),
        scope: shelf.whose,
        change,
    });
    Ok(done.collect())
}
