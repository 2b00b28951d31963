//! Importing and exporting memories: a folder of markdown (also the memory directory of another agent), exports of mem0
//! and of the MCP memory server. One import is one change.

mod json;
mod other_agents;

use std::collections::BTreeSet;

use dormouse_base::{Dir, FileError};
use dormouse_frontmatter as frontmatter;
use jiff::Timestamp;
use serde::Serialize;

use crate::entry::{MemoryEntry, NewMemory};
use crate::kind::{MemoryType, Scope};
use crate::names;
use crate::names::MemoryFile;
use crate::scan::{Scan, ScanCache, scan};
use crate::store::is_excluded;
use crate::store::{
    ChangeError, ChangeKind, ChangeOrigin, ChangeOutcome, ChangePlan, ChangeRefusal, ContentHash,
    Expected, Store,
};

pub use json::{ImportError, from_mcp_memory, from_mem0};
pub use other_agents::{from_codex, from_cursor_rule};

/// Maximum number of memories in one import.
const MAX_MEMORIES: usize = 20_000;

/// A memory to import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Its content.
    pub what: ImportedText,
    /// Time of its last change.
    pub modified: Option<Timestamp>,
}

/// The content of an imported memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ImportedText {
    /// A markdown file with its path.
    File(MemoryFile, Vec<u8>),
    /// A text with a name.
    Memory(NewMemory),
}

impl Imported {
    /// Its name and its description; a file without a name is called by its path.
    pub fn title(&self) -> (String, String) {
        match &self.what {
            ImportedText::Memory(memory) => (memory.name.clone(), memory.description.clone()),
            ImportedText::File(file, bytes) => {
                let header = MemoryEntry::read(bytes, bytes.len() as u64).header;
                let name = header.name.unwrap_or_else(|| file.stem().to_owned());
                (name, header.description.unwrap_or_default())
            }
        }
    }
}

/// The result of an import.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportReport {
    /// Outcome of the change.
    pub outcome: ChangeOutcome,
    /// The files that were added.
    pub added: Vec<MemoryFile>,
    /// Number of memories that already existed word for word.
    pub known: usize,
}

/// The memories of a folder, and the files that were skipped.
pub fn from_folder(folder: &Dir) -> Result<(Vec<Imported>, Scan), FileError> {
    let scan = scan(folder, &[], &mut ScanCache::default())?;
    let mut list = Vec::new();
    for memory in &scan.memories {
        let bytes = folder.read(memory.file.path())?;
        let modified = memory.header.modified.unwrap_or(memory.modified);
        let what = ImportedText::File(memory.file.clone(), bytes);
        list.push(Imported { what, modified: Some(modified) });
    }
    Ok((list, scan))
}

impl Store {
    /// Imports memories as one change. Memories that exist word for word are skipped, so that a second import adds
    /// nothing; a name that is taken gets a number.
    pub fn import(
        &self,
        by: &ChangeOrigin,
        list: &[Imported],
    ) -> Result<ImportReport, ChangeError> {
        if list.len() > MAX_MEMORIES {
            return Err(
                ChangeRefusal::TooManyImports { count: list.len(), limit: MAX_MEMORIES }.into()
            );
        }
        let mut known = Known::of(self)?;
        let mut again = 0;
        let outcome = self.change(by, |plan| {
            for imported in list {
                let modified = imported.modified.unwrap_or(plan.now());
                let (path, text) = match &imported.what {
                    ImportedText::File(file, bytes) => {
                        (safe_path(file, &known.paths, self.excluded_folders()), bytes.clone())
                    }
                    ImportedText::Memory(memory) => rendered(plan, memory, modified, &known.paths)?,
                };
                if known.has(&text) {
                    again += 1;
                    continue;
                }
                known.add(&path, &text);
                plan.write_as_of(&MemoryFile::new(&path)?, &text, &Expected::Absent, modified)?;
            }
            Ok(())
        })?;
        let added = match &outcome {
            ChangeOutcome::Written(receipt) => {
                let added = receipt.files.iter().filter(|(_, effect)| *effect == ChangeKind::Added);
                added.map(|(file, _)| file.clone()).collect()
            }
            ChangeOutcome::Unchanged | ChangeOutcome::Ask(_) | ChangeOutcome::InInbox(_) => {
                Vec::new()
            }
        };
        Ok(ImportReport { outcome, added, known: again })
    }

    /// All memories, for export.
    pub fn export(&self) -> Result<Vec<Exported>, ChangeError> {
        let mut list = Vec::new();
        for memory in self.scan(&mut ScanCache::default())?.memories {
            let (bytes, _) = self.read(&memory.file)?;
            list.push(Exported {
                file: memory.file.clone(),
                name: memory.name().to_owned(),
                description: memory.header.description.clone(),
                kind: memory.header.kind,
                scope: self.scope(),
                modified: self.changed_at(&memory),
                body: MemoryEntry::read(&bytes, bytes.len() as u64).text().to_owned(),
                text: String::from_utf8_lossy(&bytes).into_owned(),
            });
        }
        Ok(list)
    }
}

/// The existing memories, to recognize new ones.
#[derive(Default)]
struct Known {
    paths: BTreeSet<String>,
    texts: BTreeSet<ContentHash>,
}

impl Known {
    fn of(store: &Store) -> Result<Self, ChangeError> {
        let mut known = Self::default();
        for memory in store.scan(&mut ScanCache::default())?.memories {
            // The name of an unreadable file is taken too.
            let bytes = store.read(&memory.file).map(|(bytes, _)| bytes).unwrap_or_default();
            known.add(memory.file.as_str(), &bytes);
        }
        Ok(known)
    }

    fn has(&self, text: &[u8]) -> bool {
        self.texts.contains(&content(text))
    }

    fn add(&mut self, path: &str, text: &[u8]) {
        self.paths.insert(names::fold(path).into_owned());
        self.texts.insert(content(text));
    }
}

/// A text without its times: an export without times gets the time of its import.
fn content(text: &[u8]) -> ContentHash {
    let undated = std::str::from_utf8(text).ok().map(|text| frontmatter::remove(text, "created"));
    match undated {
        Some(Ok(undated)) => ContentHash::of(undated.as_bytes()),
        Some(Err(_)) | None => ContentHash::of(text),
    }
}

/// The file for a memory.
fn rendered(
    plan: &ChangePlan<'_>,
    memory: &NewMemory,
    modified: Timestamp,
    taken: &BTreeSet<String>,
) -> Result<(String, Vec<u8>), ChangeError> {
    let is_taken = |name: &str| taken.contains(name);
    let path = names::unique_file(plan.file_name(&memory.name), is_taken);
    let file = MemoryFile::new(&path)?;
    let text = memory.render(modified);
    let text = text.map_err(|source| ChangeError::Frontmatter { file, source })?;
    Ok((path, text.into_bytes()))
}

/// An exported memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// File of the memory.
    pub file: MemoryFile,
    /// Name.
    pub name: String,
    /// Description.
    pub description: Option<String>,
    /// Type.
    #[serde(rename = "type")]
    pub kind: Option<MemoryType>,
    /// Scope.
    pub scope: Scope,
    /// Time of the last change.
    pub modified: Timestamp,
    /// Text without frontmatter.
    pub body: String,
    /// The whole file.
    pub text: String,
}

/// The same path if it is free and valid, otherwise a new name in the same folder, otherwise one at the top.
fn safe_path(file: &MemoryFile, taken: &BTreeSet<String>, excluded: &[String]) -> String {
    let is_taken = |path: &str| taken.contains(names::fold(path).as_ref());
    let ours = !is_excluded(file, excluded);
    if ours && MemoryFile::new(file.as_str()).is_ok() && !is_taken(file.as_str()) {
        return file.as_str().to_owned();
    }
    let folder = file.folder().filter(|_| ours);
    let folder = folder.filter(|folder| MemoryFile::new(&format!("{folder}/a.md")).is_ok());
    let prefix = folder.map(|folder| format!("{folder}/")).unwrap_or_default();
    let name = names::unique_file(file.stem(), |name| is_taken(&format!("{prefix}{name}")));
    format!("{prefix}{name}")
}
