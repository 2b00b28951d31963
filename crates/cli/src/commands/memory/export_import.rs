//! `dormouse memory export` and `import`.

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, Durability, RelPath, Replacement};
use dormouse_memory::{
    ChangeAuthor, ChangeOrigin, Exported, INDEX, Imported, ImportedText, MemoryFile, StoreScope,
    from_mcp_memory, from_mem0,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::agent_scope::world_of_scope;
use super::stores::{SelectedStores, confirm_secrets, into_receipt, open_for_writing};
use crate::args::{
    ExportArguments, ImportArguments, ImportFormat, MemoryScopeArgument, OtherAgent,
};
use crate::message_catalog::msg;
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input::{read_file, unreadable};
use crate::wiring::memory_stores::ScopedStore;
use crate::wiring::other_agents::{ForeignMemories, memory_folder};
use crate::wiring::print;
use crate::wiring::world::{World, current_project};

/// A memory in the exported JSON.
#[derive(Serialize)]
struct ExportedJson {
    #[serde(flatten)]
    memory: serde_json::Value,
    scope: StoreScope,
}

pub(super) async fn export(arguments: &ExportArguments, world: &World) -> Result<Exit, Failure> {
    let stores = SelectedStores::open(world, arguments.common.scope.as_ref()).await?;
    let Some(folder) = &arguments.folder else {
        let mut lines = Vec::new();
        for scoped in &stores.list {
            for memory in scoped.store.export()? {
                let mut memory = serde_json::to_value(memory).map_err(Failure::failed)?;
                if let Some(fields) = memory.as_object_mut() {
                    fields.remove("scope");
                }
                lines.push(ExportedJson { memory, scope: scoped.scope });
            }
        }
        return print::json(&lines).map(|()| Exit::Done);
    };
    let mut all = Vec::new();
    for scoped in &stores.list {
        // The same file name may exist in two scopes.
        let subfolder = arguments.common.scope.is_none().then(|| scoped.scope.to_string());
        let into = subfolder.map_or_else(|| folder.clone(), |name| folder.join(name));
        all.push(StoreExport::new(absolute(&into)?, scoped)?);
    }
    // All targets are checked before the first file is written.
    all.iter().try_for_each(StoreExport::check)?;
    let mut paths = Vec::new();
    for export in &all {
        paths.extend(export.write()?);
    }
    if arguments.common.json {
        print::json(&paths)?;
    } else {
        for path in &paths {
            print::data_line(path);
        }
    }
    if paths.is_empty() {
        print::note(&msg!("memory-export-empty"));
    }
    Ok(Exit::Done)
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| {
        Failure::usage(anyhow::anyhow!(msg!(
            "not-a-folder",
            path = path.display().to_string(),
            error = error.to_string()
        )))
    })
}

/// The files of a store with their modification times and the index, and the target folder.
struct StoreExport {
    folder: PathBuf,
    memories: Vec<Exported>,
    index: String,
}

impl StoreExport {
    fn new(folder: PathBuf, scoped: &ScopedStore) -> Result<Self, Failure> {
        Ok(Self { folder, memories: scoped.store.export()?, index: scoped.store.index_text()? })
    }

    /// Fails if a target file exists.
    fn check(&self) -> Result<(), Failure> {
        let names = self.memories.iter().map(|memory| memory.file.as_str()).chain([INDEX]);
        let exists = |name: &str| self.folder.join(name).symlink_metadata().is_ok();
        let Some(name) = names.into_iter().find(|name| exists(name)) else { return Ok(()) };
        let path = self.folder.join(name);
        let text = msg!("memory-export-exists", path = path.display().to_string());
        Err(Failure::failed(anyhow::anyhow!(text)).hint(msg!("memory-export-exists-hint")))
    }

    fn write(&self) -> Result<Vec<String>, Failure> {
        if self.memories.is_empty() && self.index.is_empty() {
            return Ok(Vec::new());
        }
        let folder = Dir::create(&self.folder)?;
        let mut paths = Vec::new();
        for memory in &self.memories {
            paths.push(write(&folder, memory.file.as_str(), &memory.text, Some(memory))?);
        }
        if !self.index.is_empty() {
            paths.push(write(&folder, INDEX, &self.index, None)?);
        }
        Ok(paths)
    }
}

fn write(
    folder: &Dir,
    name: &str,
    text: &str,
    memory: Option<&Exported>,
) -> Result<String, Failure> {
    let path = RelPath::new(name).map_err(Failure::failed)?;
    if let Some((above, _)) = name.rsplit_once('/') {
        folder.create_folder(&RelPath::new(above).map_err(Failure::failed)?)?;
    }
    let modified = memory.map(|memory| memory.modified.into());
    let content = text.as_bytes();
    let replacement = Replacement { content, modified, durability: Durability::Synced };
    folder.replace_with(&path, &replacement)?;
    Ok(folder.path().join(name).display().to_string())
}

#[derive(Serialize)]
struct ImportJson {
    scope: StoreScope,
    change: Option<u64>,
    added: Vec<String>,
    known: usize,
    skipped: Vec<String>,
}

pub(super) async fn import(arguments: &ImportArguments, world: &World) -> Result<Exit, Failure> {
    // Read before a store is created.
    let (origin, list, skipped) = match (&arguments.path, arguments.from) {
        (Some(path), _) => {
            let (list, skipped) = read(path, arguments.format)?;
            (path.display().to_string(), list, skipped)
        }
        (None, Some(agent)) => {
            let found = agent.memories(&current_project()?, &world.environment)?;
            if found.memories.is_empty() {
                return Err(nothing_known(&found));
            }
            (agent.name().to_owned(), found.memories, found.skipped)
        }
        (None, None) => return show_known_elsewhere(arguments, world),
    };
    let scope = arguments.common.scope.as_ref().unwrap_or(&MemoryScopeArgument::Project);
    let (world, scope) = world_of_scope(scope, world)?;
    let scoped = open_for_writing(&world, scope).await?;
    let by = ChangeOrigin::new(ChangeAuthor::Import, format!("import of {origin}"));
    let report = confirm_secrets(by, arguments.allow_secret, |by| scoped.store.import(by, &list))?;
    let change = into_receipt(report.outcome)?.map(|receipt| receipt.id.0);
    let added: Vec<String> =
        report.added.iter().map(|file| scoped.path_of(file.as_str())).collect();
    for skipped in &skipped {
        print::note(&msg!("memory-import-skipped", reason = skipped));
    }
    if !arguments.common.json {
        for path in &added {
            print::data_line(path);
        }
        print::note(&msg!(
            "memory-import-done",
            added = added.len(),
            known = report.known,
            skipped = skipped.len()
        ));
        if let Some(change) = change {
            let number = change.to_string();
            print::note(&msg!(
                "memory-import-undo",
                number = number,
                scope = scoped.scope.to_string()
            ));
        }
        return Ok(Exit::Done);
    }
    print::json(&ImportJson { scope: scoped.scope, change, added, known: report.known, skipped })?;
    Ok(Exit::Done)
}

fn nothing_known(found: &ForeignMemories) -> Failure {
    let path = found.path.display().to_string();
    let text = msg!("memory-import-nothing", agent = found.agent.name(), path = path);
    Failure::failed(anyhow::anyhow!(text)).hint(msg!("memory-import-nothing-hint"))
}

#[derive(Serialize)]
struct KnownElsewhereJson {
    agent: &'static str,
    path: PathBuf,
    memories: Vec<KnownMemoryJson>,
}

#[derive(Serialize)]
struct KnownMemoryJson {
    name: String,
    description: String,
}

/// Lists what other agents know about this project, and imports nothing.
fn show_known_elsewhere(arguments: &ImportArguments, world: &World) -> Result<Exit, Failure> {
    let project = current_project()?;
    let mut known = Vec::new();
    for agent in OtherAgent::ALL {
        let found = agent.memories(&project, &world.environment)?;
        let memory = |imported: &Imported| {
            let (name, description) = imported.title();
            KnownMemoryJson { name, description }
        };
        let memories: Vec<KnownMemoryJson> = found.memories.iter().map(memory).collect();
        if !memories.is_empty() {
            known.push(KnownElsewhereJson { agent: agent.word(), path: found.path, memories });
        }
    }
    if arguments.common.json {
        return print::json(&known).map(|()| Exit::Done);
    }
    for KnownElsewhereJson { agent, path, memories } in &known {
        print::data_line(&format!("{agent}  {}", path.display()));
        for KnownMemoryJson { name, description } in memories {
            print::data_line(&format!("  {name}: {description}"));
        }
        print::note(&msg!("memory-import-how", count = memories.len(), agent = *agent));
    }
    if known.is_empty() {
        print::note(&msg!("memory-import-none"));
    }
    Ok(Exit::Done)
}

/// The memories at a path, and the reasons for skipped files.
fn read(
    path: &Path,
    format: Option<ImportFormat>,
) -> Result<(Vec<Imported>, Vec<String>), Failure> {
    let metadata = path.metadata().map_err(|error| unreadable(path, &error))?;
    if format == Some(ImportFormat::Folder) || (format.is_none() && metadata.is_dir()) {
        return memory_folder(&absolute(path)?);
    }
    let bytes = read_file(path)?;
    let name = path.file_name().and_then(|name| MemoryFile::existing(name.to_str()?).ok());
    if let (None, Some(file)) = (format, name) {
        let modified = metadata.modified().ok().and_then(|time| time.try_into().ok());
        let what = ImportedText::File(file, bytes);
        return Ok((vec![Imported { what, modified }], Vec::new()));
    }
    let text = String::from_utf8(bytes).map_err(|_| {
        Failure::failed(anyhow::anyhow!(msg!("memory-not-utf8", file = path.display().to_string())))
    })?;
    let list = match format.or_else(|| detect_format(&text)) {
        Some(ImportFormat::Dormouse) => from_export(&text)?,
        Some(ImportFormat::Mem0) => from_mem0(&text).map_err(Failure::failed)?,
        Some(ImportFormat::Mcp) => from_mcp_memory(&text).map_err(Failure::failed)?,
        Some(ImportFormat::Folder) | None => return Err(unknown_format(path, &text)),
    };
    Ok((list, Vec::new()))
}

/// The format of an export. A file of JSON lines is recognized by its first line.
fn detect_format(text: &str) -> Option<ImportFormat> {
    let whole: Option<Value> = serde_json::from_str(text).ok();
    let first = || text.lines().find_map(|line| serde_json::from_str::<Value>(line).ok());
    let has = |value: &Value, keys: &[&str]| keys.iter().any(|key| value.get(key).is_some());
    match whole.or_else(first)? {
        Value::Array(list) => Some(match list.first() {
            Some(memory) if !has(memory, &["file"]) => ImportFormat::Mem0,
            // Without memories, `dormouse memory export` prints an empty list.
            Some(_) | None => ImportFormat::Dormouse,
        }),
        object if has(&object, &["entities", "entityType", "relationType", "observations"]) => {
            Some(ImportFormat::Mcp)
        }
        object if has(&object, &["results", "memories"]) => Some(ImportFormat::Mem0),
        _ => None,
    }
}

fn unknown_format(path: &Path, text: &str) -> Failure {
    let why = match serde_json::from_str::<Value>(text) {
        Ok(_) => msg!("memory-import-unknown-json"),
        Err(error) => msg!("memory-import-not-json", error = error.to_string()),
    };
    let text = msg!("memory-import-failed", path = path.display().to_string(), reason = why);
    Failure::failed(anyhow::anyhow!(text)).hint(msg!("memory-import-failed-hint"))
}

/// A memory in the output of `export`.
#[derive(Deserialize)]
struct ImportedJson {
    file: MemoryFile,
    text: String,
    modified: Timestamp,
}

fn from_export(text: &str) -> Result<Vec<Imported>, Failure> {
    let list: Vec<ImportedJson> = serde_json::from_str(text).map_err(|error| {
        Failure::failed(anyhow::anyhow!(msg!("memory-import-invalid", error = error.to_string())))
    })?;
    let imported = |memory: ImportedJson| Imported {
        what: ImportedText::File(memory.file, memory.text.into_bytes()),
        modified: Some(memory.modified),
    };
    Ok(list.into_iter().map(imported).collect())
}
