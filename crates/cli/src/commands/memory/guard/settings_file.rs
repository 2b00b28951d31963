//! Installs and removes the lines of a guard in a settings file. All other bytes of the file are kept.

use std::path::{Path, PathBuf};

use dormouse_base::{
    Dir, FileAction, FileError, ListAddition, RelPath, Settings, add_to_list, is_empty_object,
    remove_from_list, remove_if_empty,
};
use dormouse_memory::{
    CreatedContainers, EmptySettingsFile, GuardLine, GuardRegistry, GuardRegistryError, LineOrigin,
    MemoryGuard,
};
use jiff::Timestamp;

use super::lines::GuardSettingsLine;
use crate::message_catalog::msg;
use crate::wiring::exit::Failure;

/// A planned change of a settings file.
pub(super) struct SettingsPlan {
    before: Option<String>,
    after: String,
    /// The added pieces of text.
    pub(super) pieces: Vec<String>,
    made: Vec<Vec<String>>,
    lines: Vec<GuardLine>,
}

/// Computes the changed text of a file. Nothing is written.
pub(super) fn plan(file: &Path, lines: &[GuardSettingsLine]) -> Result<SettingsPlan, Failure> {
    let before = read(file)?;
    let mut planned = SettingsPlan {
        after: before.clone().unwrap_or_default(),
        before,
        pieces: Vec::new(),
        made: Vec::new(),
        lines: Vec::new(),
    };
    for GuardSettingsLine { list, value } in lines {
        let added =
            add_to_list(&planned.after, list, value).map_err(|error| invalid_file(file, error))?;
        let origin = if added.is_some() { LineOrigin::Ours } else { LineOrigin::Theirs };
        if let Some(ListAddition { text, inserted: piece, created: made }) = added {
            planned.after = text;
            planned.pieces.push(piece);
            planned.made.extend(made);
        }
        planned.lines.push(GuardLine { list: list.clone(), value: value.clone(), origin });
    }
    check(file, &planned.after)?;
    Ok(planned)
}

/// Installs a guard. It is recorded in the guard book first, so that it can always be removed.
pub(super) fn install(
    state: &Path,
    memory: &Path,
    name: &str,
    file: &Path,
    planned: SettingsPlan,
    now: Timestamp,
) -> Result<(), Failure> {
    let SettingsPlan { before, after, made, lines, .. } = planned;
    let guard = MemoryGuard {
        memory: memory.to_owned(),
        name: name.to_owned(),
        settings: file.to_owned(),
        lines,
        since: now,
    };
    let record = |book: &mut GuardRegistry| -> Result<(), Failure> {
        let known = book.made.entry(file.to_owned()).or_default();
        known.whole = known.whole.take().or_else(|| blank_state(before.as_deref()));
        known.containers.extend(made);
        if *known == CreatedContainers::default() {
            book.made.remove(file);
        }
        book.refused.remove(memory);
        book.guards.push(guard);
        Ok(())
    };
    let unchanged = before.as_ref() == Some(&after);
    GuardRegistry::change(state, record, |()| {
        if read(file)? != before {
            let text = msg!("settings-changed-meanwhile", path = file.display().to_string());
            return Err(Failure::failed(anyhow::anyhow!(text)).hint(msg!("try-again")));
        }
        if unchanged { Ok(()) } else { write(file, Some(&after)) }
    })
}

/// Removes the guard of a memory from its settings file and from the guard book. Returns it, and whether all of its
/// lines were still there.
pub(super) fn remove(state: &Path, memory: &Path) -> Result<Option<(MemoryGuard, bool)>, Failure> {
    let take = |book: &mut GuardRegistry| -> Result<_, Failure> {
        let Some(at) = book.guards.iter().position(|guard| guard.memory == memory) else {
            return Ok(None);
        };
        let guard = book.guards.remove(at);
        let whole = remove_lines(book, &guard)?;
        Ok(Some((guard, whole)))
    };
    GuardRegistry::change(state, take, |_| Ok(()))
}

fn remove_lines(book: &mut GuardRegistry, guard: &MemoryGuard) -> Result<bool, Failure> {
    let file = &guard.settings;
    let Some(before) = read(file)? else {
        book.made.remove(file);
        return Ok(false);
    };
    let mut text = before.clone();
    let mut whole = true;
    for line in guard.lines.iter().filter(|line| line.origin == LineOrigin::Ours) {
        if hand_over(book, guard, line) {
            continue;
        }
        let shorter = remove_from_list(&text, &line.list, &line.value);
        match shorter.map_err(|error| invalid_file(file, error))? {
            Some(shorter) => text = shorter,
            None => whole = false,
        }
    }
    let made = book.made.entry(file.clone()).or_default();
    let mut containers: Vec<Vec<String>> = made.containers.iter().cloned().collect();
    containers.sort_by_key(|keys| std::cmp::Reverse(keys.len()));
    for keys in containers {
        if let Some(shorter) =
            remove_if_empty(&text, &keys).map_err(|error| invalid_file(file, error))?
        {
            text = shorter;
            made.containers.remove(&keys);
        }
    }
    let left = if is_empty_object(&text) { made.whole.take() } else { None };
    if left.is_some() || !book.guards.iter().any(|other| other.settings == *file) {
        book.made.remove(file);
    }
    match left {
        // The lines were removed by hand: the file is left as it is.
        _ if text == before => {}
        Some(EmptySettingsFile::Absent) => write(file, None)?,
        Some(EmptySettingsFile::Blank(blank)) => write(file, Some(&blank))?,
        None => write(file, Some(&text))?,
    }
    Ok(whole)
}

/// The state of a missing or blank file; none if the file has content.
fn blank_state(text: Option<&str>) -> Option<EmptySettingsFile> {
    match text {
        None => Some(EmptySettingsFile::Absent),
        Some(text) if text.trim_start_matches('\u{feff}').trim().is_empty() => {
            Some(EmptySettingsFile::Blank(text.to_owned()))
        }
        Some(_) => None,
    }
}

/// If another guard uses the same line, that guard becomes its owner.
fn hand_over(book: &mut GuardRegistry, guard: &MemoryGuard, line: &GuardLine) -> bool {
    let others = book.guards.iter_mut().filter(|other| other.settings == guard.settings);
    let mut lines = others.flat_map(|other| &mut other.lines);
    let same = lines.find(|other| other.list == line.list && other.value == line.value);
    same.map(|other| other.origin = LineOrigin::Ours).is_some()
}

impl From<GuardRegistryError> for Failure {
    fn from(error: GuardRegistryError) -> Self {
        match error {
            GuardRegistryError::File(error) => Self::from(error),
            other => Self::failed(other),
        }
    }
}

fn invalid_file(file: &Path, error: impl std::fmt::Display) -> Failure {
    Failure::usage(anyhow::anyhow!("{}: {error}", file.display())).hint(msg!("settings-fix-first"))
}

/// Fails if the text is not a valid settings file.
fn check(file: &Path, text: &str) -> Result<(), Failure> {
    let parsed = Settings::parse(file, text.as_bytes());
    parsed.map(drop).map_err(|error| Failure::usage(error).hint(msg!("settings-fix-first")))
}

fn split_path(file: &Path) -> Result<(PathBuf, RelPath), Failure> {
    let parts = file.parent().zip(file.file_name());
    let (folder, name) = parts.ok_or_else(|| {
        Failure::failed(anyhow::anyhow!(msg!(
            "settings-invalid-path",
            path = file.display().to_string()
        )))
    })?;
    Ok((folder.to_owned(), RelPath::new(name).map_err(Failure::failed)?))
}

/// The text of a valid settings file; none if it does not exist.
fn read(file: &Path) -> Result<Option<String>, Failure> {
    let (folder, name) = split_path(file)?;
    let bytes = match Dir::open(folder).and_then(|folder| folder.read(&name)) {
        Ok(bytes) => bytes,
        Err(error) if error.is_not_found() => return Ok(None),
        Err(error) => return Err(error.into()),
    };
    let text = String::from_utf8(bytes).map_err(|_| invalid_file(file, "not valid UTF-8"))?;
    check(file, &text)?;
    Ok(Some(text))
}

/// Replaces or removes the file; its permissions are kept.
fn write(file: &Path, text: Option<&str>) -> Result<(), Failure> {
    let (folder, name) = split_path(file)?;
    let dir = Dir::create(folder)?;
    let Some(text) = text else { return Ok(dir.remove_file(&name)?) };
    let permissions = file.metadata().map(|metadata| metadata.permissions());
    dir.replace(&name, text.as_bytes())?;
    if let Ok(permissions) = permissions {
        std::fs::set_permissions(file, permissions)
            .map_err(|error| FileError::new(FileAction::Write, file, error))?;
    }
    Ok(())
}
