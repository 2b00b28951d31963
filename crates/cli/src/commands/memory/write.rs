//! `dormouse memory add`, `edit`, `rm` and `confirm`.

use std::path::Path;

use dormouse_frontmatter::{self as frontmatter, FrontmatterEditError};
use dormouse_memory::{
    ChangeKind, ChangeOrigin, ContentHash, Expected, GuardRegistry, MemoryFile, MemoryType,
    NewMemory, Receipt, StoreScope,
};
use jiff::Timestamp;
use serde::Serialize;

use super::agent_scope::world_of_scope;
use super::one_line;
use super::stores::{
    ScopedMemory, SelectedStores, can_ask_user, confirm_secrets, into_receipt, open_for_writing,
};
use crate::args::{
    AddArguments, EditArguments, MemoryScopeArgument, MemoryTypeArgument, NamedArguments,
    RmArguments,
};
use crate::message_catalog::msg;
use crate::wiring::editor;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input;
use crate::wiring::memory_stores::ScopedStore;
use crate::wiring::print;
use crate::wiring::world::World;

/// The result of a change in JSON output.
#[derive(Serialize)]
struct ChangeResult {
    file: String,
    path: String,
    scope: StoreScope,
    /// The change number; none if nothing changed.
    change: Option<u64>,
}

impl ChangeResult {
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
    require_text("name", Some(&arguments.name.join(" ")))?;
    require_text("description", arguments.description.as_ref())?;
    let NewText { name, description, body } = new_text(arguments)?;
    let kind = arguments.kind.unwrap_or_else(|| one_line::type_of(&body));
    let memory = NewMemory {
        pinned: arguments.pin,
        ..NewMemory::new(&name, &description, &body).with_kind(kind.into())
    };
    let scope = arguments.scope.clone().unwrap_or(match kind {
        MemoryTypeArgument::User => MemoryScopeArgument::User,
        _ => MemoryScopeArgument::Project,
    });
    if !arguments.new {
        check_new_name(&name, &SelectedStores::open(world, Some(&scope)).await?)?;
    }
    let (world, scope) = world_of_scope(&scope, world)?;
    let scoped = open_for_writing(&world, scope).await?;
    let by = ChangeOrigin::user("added by hand");
    let outcome = confirm_secrets(by, arguments.allow_secret, |by| {
        scoped.store.change(by, |plan| plan.save(&memory).map(drop))
    })?;
    let receipt = into_receipt(outcome)?;
    let (change, file) = added(receipt.as_ref())?;
    let path = scoped.path_of(file.as_str());
    if arguments.kind.is_none() || arguments.description.is_none() {
        let kind = MemoryType::from(kind).to_string();
        let file = file.to_string();
        print::note(&match scoped.scope {
            StoreScope::User => msg!("memory-added-user", name = name, kind = kind, file = file),
            _ => msg!("memory-added", name = name, kind = kind, file = file),
        });
    }
    ChangeResult { file: file.to_string(), path, scope: scoped.scope, change }.print(arguments.json)
}

/// The texts of a memory that is added.
struct NewText {
    name: String,
    description: String,
    body: String,
}

/// The texts as given; what is left out is made from the rest. A sentence alone is the whole memory.
fn new_text(arguments: &AddArguments) -> Result<NewText, Failure> {
    let AddArguments { name, description, body, .. } = arguments;
    let name = &name.join(" ");
    if description.is_none() && body.is_none() {
        let description = one_line::description_of(name);
        return Ok(NewText { name: one_line::name_of(name), description, body: name.clone() });
    }
    let body = match body.as_deref() {
        None | Some("-") => read_body()?,
        Some(body) => body.to_owned(),
    };
    let description = description.clone().unwrap_or_else(|| one_line::description_of(&body));
    Ok(NewText { name: name.clone(), description, body })
}

/// Another memory of this name is saved only if the user says so.
fn check_new_name(name: &str, stores: &SelectedStores) -> Result<(), Failure> {
    let memories = stores.memories()?;
    let Some(same) = memories.iter().find(|found| found.has_title(name.trim())) else {
        return Ok(());
    };
    let file = same.memory.file.to_string();
    if can_ask_user() {
        print::note(&msg!("memory-name-confirm", name = name, file = file));
        if input::confirm() {
            return Ok(());
        }
        return Err(Failure::failed(anyhow::anyhow!(msg!("memory-not-saved"))));
    }
    let text = msg!("memory-name-exists", name = name, file = file.as_str());
    Err(Failure::usage(anyhow::anyhow!(text)).hint(msg!("memory-name-exists-hint", file = file)))
}

fn require_text(field: &str, text: Option<&String>) -> Result<(), Failure> {
    if text.is_none_or(|text| !text.trim().is_empty()) {
        return Ok(());
    }
    Err(Failure::usage(anyhow::anyhow!(msg!("memory-field-empty", field = field))))
}

fn read_body() -> Result<String, Failure> {
    if can_ask_user() {
        print::note(&msg!("memory-body-prompt"));
    }
    let text = input::read()?;
    if text.trim().is_empty() {
        return Err(Failure::usage(anyhow::anyhow!(msg!("memory-body-empty")))
            .hint(msg!("memory-body-empty-hint")));
    }
    Ok(text)
}

fn added(receipt: Option<&Receipt>) -> Result<(Option<u64>, &MemoryFile), Failure> {
    let found = receipt.and_then(|receipt| {
        let added = receipt.files.iter().find(|(_, effect)| *effect == ChangeKind::Added);
        added.map(|(file, _)| (Some(receipt.id.0), file))
    });
    found.ok_or_else(|| Failure::failed(anyhow::anyhow!(msg!("memory-not-saved"))))
}

pub(super) async fn edit(arguments: &EditArguments, world: &World) -> Result<Exit, Failure> {
    require_text("name", arguments.new_name.as_ref())?;
    require_text("description", arguments.description.as_ref())?;
    let stores = SelectedStores::open(world, arguments.common.scope.as_ref()).await?;
    let found = stores.find_by_name(&arguments.name)?;
    let (bytes, hash) = found.store.read(&found.memory.file)?;
    let text = String::from_utf8(bytes).map_err(|_| {
        let text = msg!("memory-not-utf8", file = found.memory.file.to_string());
        Failure::failed(anyhow::anyhow!(text)).hint(msg!("memory-not-utf8-hint"))
    })?;
    let receipt = if has_edit_options(arguments) {
        let new = apply_options(arguments, &text, stores.now)?;
        save(&found, &new, &hash, arguments.allow_secret)?
    } else {
        let copy = editor::EditedCopy::create(world, found.memory.file.name(), &text)?;
        let new = copy.edit(world)?;
        let saved = save(&found, &new, &hash, arguments.allow_secret);
        let receipt = saved.map_err(|failure| copy.with_kept_text(failure))?;
        copy.remove()?;
        receipt
    };
    if receipt.is_none() {
        print::note(&msg!("nothing-changed"));
    }
    ChangeResult {
        file: found.memory.file.to_string(),
        path: found.path_text(),
        scope: found.scoped.scope,
        change: receipt.map(|receipt| receipt.id.0),
    }
    .print(arguments.common.json)
}

fn has_edit_options(arguments: &EditArguments) -> bool {
    arguments.new_name.is_some()
        || arguments.kind.is_some()
        || arguments.description.is_some()
        || arguments.body.is_some()
        || arguments.pin.is_some()
}

fn save(
    found: &ScopedMemory<'_>,
    text: &str,
    expected: &ContentHash,
    allow_secret: bool,
) -> Result<Option<Receipt>, Failure> {
    let expected = Expected::Content(expected.clone());
    let outcome = confirm_secrets(ChangeOrigin::user("edited by hand"), allow_secret, |by| {
        found.store.change(by, |plan| plan.write(&found.memory.file, text.as_bytes(), &expected))
    })?;
    into_receipt(outcome)
}

/// The text with the changes of the options; the rest is unchanged.
fn apply_options(arguments: &EditArguments, text: &str, now: Timestamp) -> Result<String, Failure> {
    let mut new = text.to_owned();
    if let Some(body) = &arguments.body {
        let body = if body == "-" { read_body()? } else { body.clone() };
        let head = new.strip_suffix(frontmatter::parse(&new).body).unwrap_or_default();
        let gap = if head.is_empty() { "" } else { "\n" };
        new = format!("{head}{gap}{}\n", body.trim_matches(['\n', '\r']));
    }
    with_fields(arguments, new, now)
        .map_err(|error| Failure::failed(error).hint(msg!("memory-edit-hint")))
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
    // A `modified` field in the file is kept up to date.
    if frontmatter::parse(&text).fields.text("modified").is_some() {
        let seconds = Timestamp::from_second(now.as_second()).unwrap_or(now);
        text = frontmatter::set(&text, "modified", &seconds.to_string())?;
    }
    Ok(text)
}

pub(super) async fn rm(arguments: &RmArguments, world: &World) -> Result<Exit, Failure> {
    let stores = SelectedStores::open(world, arguments.common.scope.as_ref()).await?;
    // All names are resolved before the first removal.
    let found = arguments.names.iter().map(|name| stores.find_by_name(name));
    let found = found.collect::<Result<Vec<_>, _>>()?;
    let mut done = Vec::new();
    for scoped in &stores.list {
        let mut files: Vec<&MemoryFile> = Vec::new();
        for found in found.iter().filter(|found| found.scoped.scope == scoped.scope) {
            // The same memory may be given twice.
            if !files.contains(&&found.memory.file) {
                files.push(&found.memory.file);
            }
        }
        if !files.is_empty() {
            done.extend(removed(scoped, &files)?);
        }
    }
    note_active_guards(&stores, &done);
    if arguments.common.json {
        print::json(&done)?;
        return Ok(Exit::Done);
    }
    for done in &done {
        print::data_line(&done.path);
    }
    print::note(&msg!("memory-removed"));
    Ok(Exit::Done)
}

/// Tells the user that a removed memory's guard stays active.
fn note_active_guards(stores: &SelectedStores, done: &[ChangeResult]) {
    let book = match GuardRegistry::read(stores.directories.state()) {
        Ok(book) => book,
        Err(error) => return print::note(&format!("note: {error}")),
    };
    for done in done.iter().filter(|done| book.guard_of(Path::new(&done.path)).is_some()) {
        print::note(&msg!("memory-removed-guard-stays", path = done.path.as_str()));
    }
}

/// Takes a memory out of quarantine (M-17).
pub(super) async fn confirm(arguments: &NamedArguments, world: &World) -> Result<Exit, Failure> {
    let stores = SelectedStores::open(world, arguments.common.scope.as_ref()).await?;
    let found = stores.find_by_name(&arguments.name)?;
    let (scoped, file) = (found.scoped, &found.memory.file);
    let by = ChangeOrigin::user("confirmed by hand");
    let change = if found.memory.header.quarantined {
        into_receipt(scoped.store.change(&by, |plan| plan.confirm(file))?)?
    } else {
        None
    };
    let done = ChangeResult {
        file: file.to_string(),
        path: found.path_text(),
        scope: scoped.scope,
        change: change.map(|receipt| receipt.id.0),
    };
    if arguments.common.json {
        print::json(&done)?;
        return Ok(Exit::Done);
    }
    print::data_line(&done.path);
    print::note(&match done.change {
        Some(_) => msg!("memory-confirmed"),
        None => msg!("memory-not-quarantined"),
    });
    Ok(Exit::Done)
}

/// Removes memories of one store, as one change.
fn removed(scoped: &ScopedStore, files: &[&MemoryFile]) -> Result<Vec<ChangeResult>, Failure> {
    let by = ChangeOrigin::user("removed by hand");
    let outcome = scoped.store.change(&by, |plan| {
        files.iter().try_for_each(|file| plan.delete(file, &Expected::Present))
    })?;
    let change = into_receipt(outcome)?.map(|receipt| receipt.id.0);
    let done = files.iter().map(|file| ChangeResult {
        file: file.to_string(),
        path: scoped.path_of(file.as_str()),
        scope: scoped.scope,
        change,
    });
    Ok(done.collect())
}
