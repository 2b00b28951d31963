//! The changes to an agent's configuration files: planned, shown, made and undone.

use std::path::{Path, PathBuf};

use dormouse_base::{Dir, FileAction, FileError, RelPath};

use super::agent::{Agent, ConfigFile, SetupPaths};
use super::config_edit::{ConfigEdit, file_with};
use super::error::SetupError;
use super::json_item;
use super::record::{FileRecord, SetupRecord};

/// The change of one configuration file.
#[derive(Debug)]
pub struct ConfigFileChange {
    /// The file.
    pub file: PathBuf,
    before: Option<String>,
    /// `None` to remove the file.
    after: Option<String>,
    /// For each edit the inserted text; `None` if the entry already existed. Empty when entries are removed.
    inserted: Vec<Option<String>>,
    /// The added or removed entries as a file of their own.
    preview: String,
}

impl ConfigFileChange {
    /// Whether the file changes at all.
    pub fn is_change(&self) -> bool {
        self.before != self.after
    }

    /// The added or removed entries as a file of their own, in the format of the file. The rest of the file is not shown:
    /// it may hold keys.
    pub fn preview(&self) -> impl Iterator<Item = &str> {
        self.preview.lines().map(str::trim_end).filter(|line| !line.is_empty())
    }
}

/// The changes that set an agent up.
pub fn plan(agent: Agent, paths: &SetupPaths) -> Result<Vec<ConfigFileChange>, SetupError> {
    agent.config_files(paths).iter().map(|file| in_file(&file.file, addition(file))).collect()
}

/// The changes that undo the setup of an agent.
pub fn plan_undo(
    agent: Agent,
    paths: &SetupPaths,
    home: &Path,
) -> Result<Vec<ConfigFileChange>, SetupError> {
    let record = SetupRecord::of(home, agent)?;
    let files = agent.config_files(paths);
    files.iter().map(|file| in_file(&file.file, removal(file, &record))).collect()
}

/// Makes the changes and updates the record of inserted texts.
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
        .try_for_each(|change| in_file(&change.file, write(&change.file, change.after.as_deref())))
}

fn in_file<T>(file: &Path, result: Result<T, SetupError>) -> Result<T, SetupError> {
    result.map_err(|error| match error {
        SetupError::File(error) => SetupError::File(error),
        error => SetupError::In { file: file.to_owned(), error: Box::new(error) },
    })
}

fn addition(target: &ConfigFile) -> Result<ConfigFileChange, SetupError> {
    let before = read(&target.file)?;
    let mut text = before.clone().unwrap_or_default();
    let mut inserted = Vec::new();
    let mut added = Vec::new();
    for edit in &target.edits {
        let insertion = edit.insertion(&text)?;
        if let Some(insertion) = &insertion {
            text.insert_str(insertion.at, &insertion.text);
            edit.check(&text)?;
            added.push(edit);
        }
        inserted.push(insertion.map(|insertion| insertion.text));
    }
    let after = if added.is_empty() { before.clone() } else { Some(text) };
    let preview = file_with(&added)?;
    Ok(ConfigFileChange { file: target.file.clone(), before, after, inserted, preview })
}

/// Removes only texts in the record: other entries are not ours.
fn removal(target: &ConfigFile, record: &SetupRecord) -> Result<ConfigFileChange, SetupError> {
    let before = read(&target.file)?;
    let known = record.get(&target.file);
    let mut removed = Vec::new();
    let mut after = before.clone();
    if let (Some(text), Some(known)) = (&before, known) {
        let mut text = text.clone();
        // In reverse order: a later text may be inside an earlier one.
        for (edit, inserted) in target.edits.iter().zip(&known.inserted).rev() {
            let Some(inserted) = inserted else { continue };
            if let Some(shorter) = without(&text, edit, inserted)? {
                text = shorter;
                removed.insert(0, edit);
            }
        }
        let is_kept = !known.created || !json_item::is_empty(&text);
        after = is_kept.then_some(text);
    }
    let preview = file_with(&removed)?;
    Ok(ConfigFileChange { file: target.file.clone(), before, after, inserted: Vec::new(), preview })
}

/// The text without an inserted text or, if that was changed since, without the entry.
fn without(text: &str, edit: &ConfigEdit, inserted: &str) -> Result<Option<String>, SetupError> {
    if text.matches(inserted).count() == 1 {
        let shorter = text.replacen(inserted, "", 1);
        if edit.check(&shorter).is_ok() {
            return Ok(Some(shorter));
        }
    }
    edit.without(text)
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

/// Replaces or removes a file. If it is a link, the target is changed and the link stays. Permissions stay.
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
