//! Handing memories out and bringing them in: `export` and `import`.

use std::path::Path;

use dormouse_base::{Dir, Durability, RelPath, Replacement};
use dormouse_memory::{
    Author, By, Exported, INDEX, Imported, ImportedText, MemoryFile, from_folder, from_mcp_memory,
    from_mem0,
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::desk::{Desk, Shelf, heeding_secrets, shelf_to_fill, written};
use super::places::Whose;
use super::print_json;
use crate::args::{ExportArguments, ImportArguments, ImportFormat};
use crate::exit::{Exit, Failure};
use crate::show;
use crate::world::World;

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
        return print_json(&lines).map(|()| Exit::Done);
    };
    let mut paths = Vec::new();
    for shelf in &desk.shelves {
        // Two scopes may have one file name.
        let apart = arguments.common.scope.is_none().then(|| shelf.whose.to_string());
        let into = apart.map_or_else(|| folder.clone(), |name| folder.join(name));
        paths.extend(export_into(&Dir::create(absolute(&into)?)?, shelf)?);
    }
    if arguments.common.json {
        print_json(&paths)?;
    } else {
        for path in &paths {
            show::data_line(path);
        }
    }
    Ok(Exit::Done)
}

fn absolute(path: &Path) -> Result<std::path::PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| {
        Failure::usage(anyhow::anyhow!("`{}` is no folder: {error}", path.display()))
    })
}

/// Files as they are, with their times and the index. What is there already is not written over.
fn export_into(folder: &Dir, shelf: &Shelf) -> Result<Vec<String>, Failure> {
    let memories = shelf.store.export()?;
    let index = shelf.store.index_text()?;
    for name in memories.iter().map(|memory| memory.file.as_str()).chain([INDEX]) {
        if folder.entry(&RelPath::new(name).map_err(Failure::failed)?).is_ok() {
            let path = folder.path().join(name);
            return Err(Failure::failed(anyhow::anyhow!("{} is there already", path.display()))
                .hint("nothing was written; choose another folder"));
        }
    }
    let mut paths = Vec::new();
    for memory in &memories {
        paths.push(write(folder, memory.file.as_str(), &memory.text, Some(memory))?);
    }
    if !index.is_empty() {
        paths.push(write(folder, INDEX, &index, None)?);
    }
    Ok(paths)
}

fn write(
    folder: &Dir,
    name: &str,
    text: &str,
    memory: Option<&Exported>,
) -> Result<String, Failure> {
    let path = RelPath::new(name).map_err(Failure::failed)?;
    if let Some((above, _)) = name.rsplit_once('/') {
        folder.create_below(&RelPath::new(above).map_err(Failure::failed)?)?;
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
        show::note(&format!("left out: {skipped}"));
    }
    if !arguments.common.json {
        for path in &added {
            show::data_line(path);
        }
        let (count, known) = (added.len(), report.known);
        show::note(&format!(
            "{count} brought in, {known} there already, {} left out",
            skipped.len()
        ));
        return Ok(Exit::Done);
    }
    print_json(&Brought { scope: shelf.whose, change, added, known: report.known, skipped })?;
    Ok(Exit::Done)
}

/// The memories at a path, and what was left out.
fn read(
    path: &Path,
    format: Option<ImportFormat>,
) -> Result<(Vec<Imported>, Vec<String>), Failure> {
    let unreadable =
        |error| Failure::usage(anyhow::anyhow!("can not read {}: {error}", path.display()));
    let is_folder = path.metadata().map_err(unreadable)?.is_dir();
    if format == Some(ImportFormat::Folder) || (format.is_none() && is_folder) {
        let (list, scan) = from_folder(&Dir::open(absolute(path)?)?)?;
        let skipped = scan.skipped.iter().map(|file| format!("{}: {}", file.path, file.reason));
        return Ok((list, skipped.collect()));
    }
    let text = String::from_utf8(std::fs::read(path).map_err(unreadable)?)
        .map_err(|_| Failure::failed(anyhow::anyhow!("{} is not valid UTF-8", path.display())))?;
    let list = match format {
        Some(ImportFormat::Dormouse) => from_export(&text).map_err(Failure::failed)?,
        Some(ImportFormat::Mem0) => from_mem0(&text).map_err(Failure::failed)?,
        Some(ImportFormat::Mcp) => from_mcp_memory(&text).map_err(Failure::failed)?,
        Some(ImportFormat::Folder) | None => of_any_format(&text)?,
    };
    Ok((list, Vec::new()))
}

/// Our own first: the others are read leniently.
fn of_any_format(text: &str) -> Result<Vec<Imported>, Failure> {
    from_export(text)
        .map_err(drop)
        .or_else(|()| from_mcp_memory(text).map_err(drop))
        .or_else(|()| from_mem0(text).map_err(drop))
        .map_err(|()| {
            Failure::failed(anyhow::anyhow!("there are no memories in it that can be read"))
                .hint("--format says what it is, and why it can not be read")
        })
}

/// What `export` prints.
#[derive(Deserialize)]
struct OfExport {
    file: MemoryFile,
    text: String,
    modified: Timestamp,
}

fn from_export(text: &str) -> Result<Vec<Imported>, serde_json::Error> {
    let list: Vec<OfExport> = serde_json::from_str(text)?;
    let imported = |memory: OfExport| Imported {
        what: ImportedText::File(memory.file, memory.text.into_bytes()),
        modified: Some(memory.modified),
    };
    Ok(list.into_iter().map(imported).collect())
}
