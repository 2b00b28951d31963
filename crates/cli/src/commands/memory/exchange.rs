//! Handing memories out and bringing them in: `export` and `import`.

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, Durability, RelPath, Replacement};
use dormouse_memory::{
    Author, By, Exported, INDEX, Imported, ImportedText, MemoryFile, from_folder, from_mcp_memory,
    from_mem0,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::desk::{Desk, Shelf, heeding_secrets, shelf_to_fill, written};
use crate::args::{ExportArguments, ImportArguments, ImportFormat};
use crate::wiring::exit::{Exit, Failure};
use crate::wiring::input::{read_file, unreadable};
use crate::wiring::memory_places::Whose;
use crate::wiring::print;
use crate::wiring::world::World;

/// A memory that is handed out; its scope as this program names it.
#[derive(Serialize)]
struct Line {
    #[serde(flatten)]
    memory: serde_json::Value,
    scope: Whose,
}

pub(super) async fn export(arguments: &ExportArguments, world: &World) -> Result<Exit, Failure> {
    let desk = Desk::open(world, arguments.common.scope).await?;
    let Some(folder) = &arguments.folder else {
        let mut lines = Vec::new();
        for shelf in &desk.shelves {
            for memory in shelf.store.export()? {
                let mut memory = serde_json::to_value(memory).map_err(Failure::failed)?;
                if let Some(fields) = memory.as_object_mut() {
                    fields.remove("scope");
                }
                lines.push(Line { memory, scope: shelf.whose });
            }
        }
        return print::json(&lines).map(|()| Exit::Done);
    };
    let mut all = Vec::new();
    for shelf in &desk.shelves {
        // Two scopes may have one file name.
        let apart = arguments.common.scope.is_none().then(|| shelf.whose.to_string());
        let into = apart.map_or_else(|| folder.clone(), |name| folder.join(name));
        all.push(Outgoing::of(absolute(&into)?, shelf)?);
    }
    // All are looked at before the first one is written.
    all.iter().try_for_each(Outgoing::check)?;
    let mut paths = Vec::new();
    for outgoing in &all {
        paths.extend(outgoing.write()?);
    }
    if arguments.common.json {
        print::json(&paths)?;
    } else {
        for path in &paths {
            print::data_line(path);
        }
    }
    if paths.is_empty() {
        print::note("there are no memories to hand out");
    }
    Ok(Exit::Done)
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| {
        Failure::usage(anyhow::anyhow!("`{}` is no folder: {error}", path.display()))
    })
}

/// A store's files as they are, with their times and the index, and where they go.
struct Outgoing {
    folder: PathBuf,
    memories: Vec<Exported>,
    index: String,
}

impl Outgoing {
    fn of(folder: PathBuf, shelf: &Shelf) -> Result<Self, Failure> {
        Ok(Self { folder, memories: shelf.store.export()?, index: shelf.store.index_text()? })
    }

    /// What is there already is not written over.
    fn check(&self) -> Result<(), Failure> {
        let names = self.memories.iter().map(|memory| memory.file.as_str()).chain([INDEX]);
        let there = |name: &str| self.folder.join(name).symlink_metadata().is_ok();
        let Some(name) = names.into_iter().find(|name| there(name)) else { return Ok(()) };
        let path = self.folder.join(name);
        Err(Failure::failed(anyhow::anyhow!("{} is there already", path.display()))
            .hint("nothing was written; choose another folder"))
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
struct Brought {
    scope: Whose,
    change: Option<u64>,
    added: Vec<String>,
    known: usize,
    skipped: Vec<String>,
}

pub(super) async fn import(arguments: &ImportArguments, world: &World) -> Result<Exit, Failure> {
    // Read before anything is made.
    let (list, skipped) = read(&arguments.path, arguments.format)?;
    let whose = arguments.common.scope.map_or(Whose::Project, Into::into);
    let shelf = shelf_to_fill(world, whose).await?;
    let by = By::new(Author::Import, format!("import of {}", arguments.path.display()));
    let report = heeding_secrets(by, arguments.allow_secret, |by| shelf.store.import(by, &list))?;
    let change = written(report.outcome)?.map(|receipt| receipt.id.0);
    let added: Vec<String> = report.added.iter().map(|file| shelf.path_of(file.as_str())).collect();
    for skipped in &skipped {
        print::note(&format!("left out: {skipped}"));
    }
    if !arguments.common.json {
        for path in &added {
            print::data_line(path);
        }
        let (count, known) = (added.len(), report.known);
        print::note(&format!(
            "{count} brought in, {known} there already, {} left out",
            skipped.len()
        ));
        return Ok(Exit::Done);
    }
    print::json(&Brought { scope: shelf.whose, change, added, known: report.known, skipped })?;
    Ok(Exit::Done)
}

/// The memories at a path, and what was left out.
fn read(
    path: &Path,
    format: Option<ImportFormat>,
) -> Result<(Vec<Imported>, Vec<String>), Failure> {
    let metadata = path.metadata().map_err(|error| unreadable(path, &error))?;
    if format == Some(ImportFormat::Folder) || (format.is_none() && metadata.is_dir()) {
        let (list, scan) = from_folder(&Dir::open(absolute(path)?)?)?;
        let skipped = scan.skipped.iter().map(|file| format!("{}: {}", file.path, file.reason));
        return Ok((list, skipped.collect()));
    }
    let bytes = read_file(path)?;
    let name = path.file_name().and_then(|name| MemoryFile::existing(name.to_str()?).ok());
    if let (None, Some(file)) = (format, name) {
        let modified = metadata.modified().ok().and_then(|time| time.try_into().ok());
        let what = ImportedText::File(file, bytes);
        return Ok((vec![Imported { what, modified }], Vec::new()));
    }
    let text = String::from_utf8(bytes)
        .map_err(|_| Failure::failed(anyhow::anyhow!("{} is not valid UTF-8", path.display())))?;
    let list = match format.or_else(|| guessed(&text)) {
        Some(ImportFormat::Dormouse) => from_export(&text)?,
        Some(ImportFormat::Mem0) => from_mem0(&text).map_err(Failure::failed)?,
        Some(ImportFormat::Mcp) => from_mcp_memory(&text).map_err(Failure::failed)?,
        Some(ImportFormat::Folder) | None => return Err(of_no_format(path, &text)),
    };
    Ok((list, Vec::new()))
}

/// Which program an export is of. A file of JSON lines is no JSON as a whole, but its first line is.
fn guessed(text: &str) -> Option<ImportFormat> {
    let whole: Option<Value> = serde_json::from_str(text).ok();
    let first = || text.lines().find_map(|line| serde_json::from_str::<Value>(line).ok());
    let has = |value: &Value, keys: &[&str]| keys.iter().any(|key| value.get(key).is_some());
    match whole.or_else(first)? {
        Value::Array(list) => Some(match list.first() {
            Some(memory) if !has(memory, &["file"]) => ImportFormat::Mem0,
            // Our own when there are no memories prints an empty list.
            Some(_) | None => ImportFormat::Dormouse,
        }),
        object if has(&object, &["entities", "entityType", "relationType", "observations"]) => {
            Some(ImportFormat::Mcp)
        }
        object if has(&object, &["results", "memories"]) => Some(ImportFormat::Mem0),
        _ => None,
    }
}

fn of_no_format(path: &Path, text: &str) -> Failure {
    let why = match serde_json::from_str::<Value>(text) {
        Ok(_) => "it is JSON, but no export of a program that is known".to_owned(),
        Err(error) => format!("it is no folder, no markdown file and no valid JSON ({error})"),
    };
    Failure::failed(anyhow::anyhow!("can not bring in {}: {why}", path.display()))
        .hint("`dormouse memory import --help` lists what can be; --format says which it is")
}

/// What `export` prints.
#[derive(Deserialize)]
struct OfExport {
    file: MemoryFile,
    text: String,
    modified: Timestamp,
}

fn from_export(text: &str) -> Result<Vec<Imported>, Failure> {
    let list: Vec<OfExport> = serde_json::from_str(text).map_err(|error| {
        Failure::failed(anyhow::anyhow!("the export can not be read ({error}); export it again"))
    })?;
    let imported = |memory: OfExport| Imported {
        what: ImportedText::File(memory.file, memory.text.into_bytes()),
        modified: Some(memory.modified),
    };
    Ok(list.into_iter().map(imported).collect())
}
