//! Setting other agents up to use this memory: a few lines in their own configuration files.
//!
//! Invariants: what is not ours keeps its bytes, comments and odd formatting too. What was put in is taken
//! out again to the byte; where somebody has changed the file since, only our lines go.

mod agents;
mod jsonc;
mod lines;
mod record;

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, FileAction, FileError, RelPath, RelPathError};
use thiserror::Error;

pub use agents::{Agent, SetupPaths};
use agents::{ConfigEdit, ConfigFile};
use jsonc::EditPosition;
use record::{FileRecord, SetupRecord};

/// Why an agent could not be set up.
#[derive(Debug, Error)]
pub enum SetupError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// A name that is none.
    #[error(transparent)]
    Name(#[from] RelPathError),
    /// Not text.
    #[error("{0} is not UTF-8 text; add the lines manually")]
    NotText(PathBuf),
    /// Not JSON, even with comments.
    #[error("line {line} is not JSON; fix the file, or add the lines manually")]
    Json {
        /// Where.
        line: usize,
    },
    /// Something else stands where the lines would go.
    #[error("`{0}` has a form that lines cannot be added to; add them manually")]
    Shape(String),
    /// In a file.
    #[error("{file}: {error}")]
    In {
        /// Which.
        file: PathBuf,
        /// What.
        error: Box<SetupError>,
    },
    /// The record of what was put in cannot be written.
    #[error("the record of the added lines cannot be written: {0}")]
    Record(serde_json::Error),
}

/// What is to happen to one file.
#[derive(Debug)]
pub struct ConfigFileChange {
    /// Which.
    pub file: PathBuf,
    before: Option<String>,
    /// None: it is removed.
    after: Option<String>,
    /// For each change, what is put in; none where it was there already, and all none where lines go.
    inserted: Vec<Option<String>>,
    /// What comes or goes.
    pieces: Vec<String>,
}

impl ConfigFileChange {
    /// Whether anything happens to it.
    pub fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// The lines that come or go. What else the file says is not shown: it may hold keys.
    pub fn lines(&self) -> Vec<&str> {
        let lines = self.pieces.iter().flat_map(|piece| piece.lines());
        lines.map(str::trim_end).filter(|line| !line.is_empty()).collect()
    }
}

/// What would have to change to set an agent up.
pub fn plan(agent: Agent, place: &SetupPaths) -> Result<Vec<ConfigFileChange>, SetupError> {
    agent.targets(place).iter().map(|target| within(&target.file, added(target))).collect()
}

/// What would have to change to take it back.
pub fn plan_undo(
    agent: Agent,
    place: &SetupPaths,
    home: &Path,
) -> Result<Vec<ConfigFileChange>, SetupError> {
    let record = SetupRecord::of(home, agent)?;
    let targets = agent.targets(place);
    targets.iter().map(|target| within(&target.file, removed(target, &record))).collect()
}

/// Makes the changes, and remembers what was put in; or, after an undo, nothing.
pub fn carry_out(
    changes: &[ConfigFileChange],
    agent: Agent,
    home: &Path,
) -> Result<(), SetupError> {
    let mut record = SetupRecord::of(home, agent)?;
    for change in changes.iter().filter(|change| change.is_change()) {
        record.set(
            &change.file,
            FileRecord { created: change.before.is_none(), inserted: change.inserted.clone() },
        );
    }
    record.keep(home, agent)?;
    changes
        .iter()
        .filter(|change| change.is_change())
        .try_for_each(|change| within(&change.file, write(&change.file, change.after.as_deref())))
}

fn within<T>(file: &Path, result: Result<T, SetupError>) -> Result<T, SetupError> {
    result.map_err(|error| match error {
        SetupError::File(error) => SetupError::File(error),
        error => SetupError::In { file: file.to_owned(), error: Box::new(error) },
    })
}

fn added(target: &ConfigFile) -> Result<ConfigFileChange, SetupError> {
    let before = read(&target.file)?;
    let mut text = before.clone().unwrap_or_default();
    let mut inserted = Vec::new();
    for change in &target.changes {
        let new = match change.place(&text)? {
            EditPosition::There => None,
            EditPosition::Insert { at, text: new } => {
                text.insert_str(at, &new);
                change.check(&text)?;
                Some(new)
            }
        };
        inserted.push(new);
    }
    let pieces: Vec<String> = inserted.iter().flatten().cloned().collect();
    let after = if pieces.is_empty() { before.clone() } else { Some(text) };
    Ok(ConfigFileChange { file: target.file.clone(), before, after, inserted, pieces })
}

/// Only what is in the record was put in by us.
fn removed(target: &ConfigFile, record: &SetupRecord) -> Result<ConfigFileChange, SetupError> {
    let before = read(&target.file)?;
    let known = record.get(&target.file);
    let mut pieces = Vec::new();
    let mut after = before.clone();
    if let (Some(text), Some(known)) = (&before, known) {
        let mut text = text.clone();
        // The last first: one may stand within another.
        for (change, inserted) in target.changes.iter().zip(&known.inserted).rev() {
            let Some(inserted) = inserted else { continue };
            if let Some(shorter) = taken_out(&text, change, inserted)? {
                text = shorter;
                pieces.push(inserted.clone());
            }
        }
        let left = !known.created || !jsonc::is_nothing(&text);
        after = left.then_some(text);
    }
    Ok(ConfigFileChange { file: target.file.clone(), before, after, inserted: Vec::new(), pieces })
}

/// The text without what was put in: as it was put in, or, where somebody has changed that, by what it says.
fn taken_out(
    text: &str,
    change: &ConfigEdit,
    inserted: &str,
) -> Result<Option<String>, SetupError> {
    if text.matches(inserted).count() == 1 {
        let shorter = text.replacen(inserted, "", 1);
        if change.check(&shorter).is_ok() {
            return Ok(Some(shorter));
        }
    }
    change.without(text)
}

impl ConfigEdit {
    fn place(&self, text: &str) -> Result<EditPosition, SetupError> {
        match self {
            Self::Json(item) => jsonc::place(text, item),
            Self::Toml(table) => table.place(text),
            Self::Yaml(entry) => entry.place(text),
        }
    }

    fn without(&self, text: &str) -> Result<Option<String>, SetupError> {
        match self {
            Self::Json(item) => jsonc::without(text, item),
            Self::Toml(table) => Ok(table.without(text)),
            Self::Yaml(entry) => Ok(entry.without(text)),
        }
    }

    /// Whether a text can still be read.
    fn check(&self, text: &str) -> Result<(), SetupError> {
        match self {
            Self::Json(_) => jsonc::check(text),
            Self::Toml(_) | Self::Yaml(_) => Ok(()),
        }
    }
}

fn read(file: &Path) -> Result<Option<String>, SetupError> {
    match std::fs::read(file) {
        Ok(bytes) => {
            String::from_utf8(bytes).map(Some).map_err(|_| SetupError::NotText(file.to_owned()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(FileError::new(FileAction::Read, file, error).into()),
    }
}

/// Replaces or removes a file. A link stays one: what it leads to is changed. Who may read it stays too.
fn write(file: &Path, text: Option<&str>) -> Result<(), SetupError> {
    let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else { return Ok(()) };
    let (folder, name) = (Dir::create(folder)?, RelPath::new(name)?);
    let Some(text) = text else { return Ok(folder.remove_file(&name)?) };
    let permissions = real.metadata().map(|metadata| metadata.permissions());
    folder.replace(&name, text.as_bytes())?;
    if let Ok(permissions) = permissions {
        std::fs::set_permissions(&real, permissions)
            .map_err(|error| FileError::new(FileAction::Write, &real, error))?;
    }
    Ok(())
}
